import { join } from 'node:path';
import { lastingPort, within } from '@halyard/testing';
import type { Bench } from './bench.ts';
import { percent } from './format.ts';
import { openFilled, requestsOf } from './node.ts';
import { idleShare } from './process-figures.ts';
import type { RepeatedRequest } from './raw-request.ts';
import { openRawStream, type RawStream } from './raw-stream.ts';
import { type Row, rowOf } from './row.ts';
import { startProgram } from './running.ts';

/** Files that the servers may have open here. */
const LIMIT = 512;
/** How long an answer may take at the limit, in milliseconds. */
const PATIENCE_MS = 5_000;
const IDLE_SECONDS = 3;

/** What a server does once streams have taken the files it may open. */
interface Behavior {
  readonly streams: number;
  /** The answer to the stream that was refused; absent when there was none. */
  readonly refusal: Response | undefined;
  /** What was asked at the limit, and whether it was answered. */
  readonly answered: Readonly<Record<string, boolean>>;
  /** Share of a core it uses with nothing to do. */
  readonly idleCpu: number;
}

/** At the limit of open files: refused streams, and everything else still answered. Beside it, the bare runtime. */
export async function measureOpenFiles(bench: Bench): Promise<readonly Row[]> {
  if (process.platform !== 'linux') {
    bench.leaveOut('the limit of open files: only Linux tells how many are open');
    return [];
  }
  bench.say(`open-files: a node that may open ${LIMIT} files`);
  const own = await measureNode(bench);
  bench.say('open-files: the bare runtime');
  const bare = await measureBare(bench);

  const { refusal } = own;
  const isRefused = refusal !== undefined && refusal.status >= 429 && refusal.headers.has('retry-after');
  const beside = ['bare Bun.serve', bare] as const;
  return [
    rowOf(`the stream that is too many, of ${LIMIT} open files`, refusalText, own, {
      beside,
      goal: { '429 or 500 with Retry-After': isRefused },
    }),
    rowOf('at that limit, on new connections', answersText, own, {
      beside,
      goal: { 'all answered': Object.values(own.answered).every(Boolean) },
    }),
    rowOf('processor time at that limit, nothing to do', ({ idleCpu }) => percent(idleCpu), own, {
      beside,
      goal: { '<= 10 %': own.idleCpu },
    }),
  ];
}

async function measureNode(bench: Bench): Promise<Behavior> {
  await using node = await openFilled(bench, 3, { shellPrefix: `ulimit -n ${LIMIT}` });
  const { stream, requests } = requestsOf(node, node.headers);
  const { url, file: _file, ...change } = stream.change(1);
  return await behaviorOf(node.pids, stream, {
    '/readyz': [`${node.url}/readyz`],
    'a read': [requests.one.url, { headers: node.headers }],
    'a change': [url, change],
  });
}

async function measureBare({ machine }: Bench): Promise<Behavior> {
  const port = lastingPort();
  const url = `http://127.0.0.1:${port}`;
  const worker = join(import.meta.dir, 'workers/bare-streams.ts');
  const script = `await (await import(${JSON.stringify(worker)})).serve({ frame: 'data: {}\\n\\n', port: ${port} })`;
  await using bare = await startProgram(machine, {
    command: [process.execPath, '-e', script],
    shellPrefix: `ulimit -n ${LIMIT}`,
    ready: { url: `${url}/v1/flags/x` },
  });
  return await behaviorOf(
    bare.pids,
    { url: `${url}/v1/stream`, headers: {} },
    { 'a read': [`${url}/v1/flags/x`] },
  );
}

async function behaviorOf(
  pids: readonly number[],
  stream: RepeatedRequest,
  asked: Readonly<Record<string, readonly [url: string, init?: RequestInit]>>,
): Promise<Behavior> {
  const streams = await openUntilRefused(stream);
  const refusal = await answerOf(stream.url, { headers: stream.headers });
  const idleCpu = await idleShare(pids, IDLE_SECONDS);
  const answers = Object.entries(asked).map(
    async ([name, [url, init]]) => [name, (await answerOf(url, init))?.ok === true] as const,
  );
  const answered = Object.fromEntries(await Promise.all(answers));
  for (const open of streams) open.close();
  return { streams: streams.length, refusal, answered, idleCpu };
}

/** Opens streams until one does not get its first frame, one by one, since the last ones may only hang. */
async function openUntilRefused({ url, headers }: RepeatedRequest): Promise<readonly RawStream[]> {
  const streams: RawStream[] = [];
  while (streams.length < LIMIT) {
    const first = Promise.withResolvers<void>();
    const stream = await openRawStream(url, headers, {
      onFrame: () => first.resolve(),
      onEnd: (problem) => first.reject(new Error(problem)),
    });
    const isOpen = await within('the first frame', first.promise, 1_000).then(
      () => true,
      () => false,
    );
    if (!isOpen) {
      stream.close();
      break;
    }
    streams.push(stream);
  }
  return streams;
}

async function answerOf(url: string, init: RequestInit = {}): Promise<Response | undefined> {
  try {
    // No connection is kept: each request is one that the server has to accept.
    const signal = AbortSignal.timeout(PATIENCE_MS);
    const response = await fetch(url, { ...init, keepalive: false, signal });
    await response.arrayBuffer();
    return response;
  } catch {
    // Not answered.
    return undefined;
  }
}

function refusalText({ streams, refusal }: Behavior): string {
  const after = refusal?.headers.has('retry-after') ? ', Retry-After' : '';
  return `${refusal === undefined ? 'no answer' : `${refusal.status}${after}`} (${streams} open)`;
}

function answersText({ answered }: Behavior): string {
  return Object.entries(answered)
    .map(([name, isAnswered]) => `${name} ${isAnswered ? 'yes' : 'no'}`)
    .join(', ');
}
