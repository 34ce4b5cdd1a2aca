import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Bench } from './bench.ts';
import type { Machine } from './machine.ts';
import type { Headers } from './node.ts';
import {
  fetchChecked,
  type Place,
  type Running,
  type Streaming,
  startRecipe,
  writeInput,
} from './running.ts';
import { Worker } from './worker.ts';
import type { BareFrames, BareStreamsCommands } from './workers/bare-streams.ts';

/** The bytes of our own answers, which references send as well: the same bodies, and the same fields in the heads. */
export interface Answers {
  readonly one: string;
  readonly all: string;
  readonly headers: Headers;
}

/** What a subject answers to its reads of one flag and of all, for references that are to send the same. */
export async function answersOf({ requests }: Pick<Running, 'requests'>): Promise<Answers> {
  if (!requests?.one || !requests.all) throw new Error('there are no reads to copy');
  const [one, all] = [await fetchChecked(requests.one), await fetchChecked(requests.all)];
  const headers: Record<string, string> = {};
  for (const [name, value] of one.response.headers) {
    // Every server adds these two by itself.
    if (name !== 'date' && name !== 'content-length') headers[name === 'etag' ? 'ETag' : name] = value;
  }
  return { one: one.text, all: all.text, headers };
}

/** The frame that streams of this map get. */
export function frameOf({ all }: Pick<Answers, 'all'>): string {
  return `data: ${all.slice(all.indexOf('"flags":') + 8, -1)}\n\n`;
}

/** nginx with constant bytes: `one` by `return 200`, `all` from a file. `program` is its path. */
export function startNginx(machine: Machine, program: string, answers: Answers) {
  return startRecipe(machine, (place) => nginxRecipe(place, program, answers));
}

/** How to start that nginx, and what it answers. */
export async function nginxRecipe({ folder, port, url }: Place, program: string, answers: Answers) {
  const { 'content-type': type = 'application/json', ...fields } = answers.headers;
  const quoted = (text: string) => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
  const added = Object.entries(fields).map(([name, value]) => `add_header ${name} ${quoted(value)};`);
  mkdirSync(folder.file('root'));
  await writeInput(folder, 'root/file', answers.all);

  const config = nginxConfig(folder.path, {
    events: 1024,
    http: `open_file_cache max=10; types {} default_type ${type}; etag off; ${added.join(' ')}`,
    server: `listen 127.0.0.1:${port};
    root ${folder.path}/root;
    location = /constant { return 200 ${quoted(answers.one)}; }`,
  });
  const path = await writeInput(folder, 'nginx.conf', config);
  const one = { url: `${url}/constant`, headers: {} };
  const all = { url: `${url}/file`, headers: {} };
  const command = [program, '-p', folder.path, '-c', path, '-e', 'stderr'];
  return { program: { command, ready: one }, requests: { one, all } };
}

/** One process that keeps connections open; without `tcp_nopush`, which delays the last bytes of an answer. */
export function nginxConfig(
  folder: string,
  parts: {
    readonly main?: string;
    readonly events: number;
    readonly http: string;
    readonly server: string;
  },
): string {
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
  return `${parts.main ?? ''}
daemon off;
master_process off;
${process.getuid?.() === 0 ? 'user root;' : ''}
pid ${folder}/nginx.pid;
error_log stderr crit;
events { worker_connections ${parts.events}; }
http {
  access_log off;
  ${temporary.map((name) => `${name}_temp_path ${folder}/${name};`).join('\n  ')}
  sendfile on;
  keepalive_requests 1000000000;
  ${parts.http}
  server {
    ${parts.server}
  }
}
`;
}

/** A bare loop in C with the same bytes; undefined, and left out, without a compiler. */
export async function startLoop(bench: Bench, answers: Answers): Promise<Streaming | undefined> {
  const { cc } = bench.machine;
  if (cc !== undefined) return await startRecipe(bench.machine, (place) => loopRecipe(place, cc, answers));
  bench.leaveOut('the bare loop in C: there is no compiler (cc)');
  return undefined;
}

async function loopRecipe({ folder, port, url }: Place, cc: string, answers: Answers) {
  const program = folder.file('loop');
  await Bun.$`${cc} -O2 -o ${program} ${join(import.meta.dir, 'loop.c')}`.quiet();
  const fields = Object.entries(answers.headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const answer = (body: string) =>
    `HTTP/1.1 200 OK\r\n${fields.join('')}Date: ${new Date(0).toUTCString()}\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
  const frame = frameOf(answers);
  await writeInput(folder, 'one', answer(answers.one));
  await writeInput(folder, 'all', answer(answers.all));
  await writeInput(folder, 'stream', `HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n${frame}`);
  await writeInput(folder, 'frame', frame);

  const one = { url: `${url}/one`, headers: {} };
  const all = { url: `${url}/all`, headers: {} };
  const stream = { url: `${url}/stream`, headers: {}, change: () => postTo(`${url}/change`) };
  const command = [program, folder.path, String(port)];
  return { program: { command, ready: one }, requests: { one, all }, stream };
}

/** The runtime's own streams: a loop over those of `Bun.serve`, or over plain sockets. `one` is a read beside them. */
export async function startBareStreams(machine: Machine, frames: BareFrames): Promise<Streaming> {
  const worker = new Worker<BareStreamsCommands>(machine, 'bare-streams.ts', 'server');
  const { url } = await worker.ask('serve', frames);
  return {
    pids: [worker.pid],
    requests: { one: { url: `${url}/v1/flags/x`, headers: {} } },
    stream: { url: `${url}/v1/stream`, headers: {}, change: () => postTo(`${url}/change`) },
    [Symbol.asyncDispose]: () => worker[Symbol.asyncDispose](),
  };
}

function postTo(url: string) {
  return { url, method: 'POST', headers: {}, body: '' } as const;
}
