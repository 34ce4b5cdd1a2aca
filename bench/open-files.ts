import { join } from 'node:path';
import { guardProcess, type NodeProcess, startNode } from '@halyard/testing';
import type { Bench } from './bench.ts';
import { changeRequest } from './changes.ts';
import { ENVIRONMENT, type Fixture, fillNode, flagKey } from './fixture.ts';
import { percent, verdict } from './format.ts';
import { freePort } from './free-port.ts';
import { cpuTimeMs } from './process-figures.ts';
import { openRawStream, type RawStream } from './raw-stream.ts';
import type { Row } from './row.ts';
import { within } from './within.ts';

/** Files that the servers may have open here. */
const LIMIT = 512;
/** How long an answer may take at the limit, in milliseconds. */
const PATIENCE_MS = 5_000;
const IDLE_SECONDS = 3;

/** What a server does once streams have taken the files it may open. */
interface Behavior {
  readonly streams: number;
  /** Status of the stream that was refused; absent when it was not answered at all. */
  readonly refusedWith?: number;
  readonly retryAfter?: string;
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
  const own = await measureNode();
  bench.say('open-files: the bare runtime');
  const bare = await measureBare();

  const isRefused = own.refusedWith !== undefined && own.refusedWith >= 429 && own.retryAfter !== undefined;
  const areAllAnswered = Object.values(own.answered).every(Boolean);
  const reference = (text: string) => `bare Bun.serve: ${text}`;

  return [
    {
      what: `the stream that is too many, of ${LIMIT} open files`,
      measured: refusal(own),
      reference: reference(refusal(bare)),
      ratio: '',
      goal: '429 or 500 with Retry-After',
      verdict: verdict(isRefused),
    },
    {
      what: 'at that limit, on new connections',
      measured: answers(own),
      reference: reference(answers(bare)),
      ratio: '',
      goal: 'all answered',
      verdict: verdict(areAllAnswered),
    },
    {
      what: 'processor time at that limit, nothing to do',
      measured: percent(own.idleCpu),
      reference: reference(percent(bare.idleCpu)),
      ratio: '',
      goal: '<= 10 %',
      verdict: verdict(own.idleCpu <= 0.1),
    },
  ];
}

async function measureNode(): Promise<Behavior> {
  const node = await startNode({ shellPrefix: `ulimit -n ${LIMIT}` });
  try {
    const fixture = await fillNode(node, 3);
    const url = `${node.url}/v1/stream?env=${ENVIRONMENT}`;
    const streams = await openUntilRefused(url, fixture.headers);
    const refused = await answerOf(url, { headers: fixture.headers });
    const retryAfter = refused?.headers.get('retry-after');
    const idleCpu = await idleShare(node.pid);
    const answered = await askAll(node, fixture);
    for (const stream of streams) stream.close();
    return {
      streams: streams.length,
      ...(refused && { refusedWith: refused.status }),
      ...(retryAfter && { retryAfter }),
      answered,
      idleCpu,
    };
  } finally {
    await node.stop();
  }
}

async function askAll(node: NodeProcess, { headers }: Fixture): Promise<Record<string, boolean>> {
  const { url: changeUrl, ...change } = changeRequest(node, 1);
  const asked = {
    '/readyz': answerOf(`${node.url}/readyz`),
    'a read': answerOf(`${node.url}/v1/flags/${flagKey(1)}?env=${ENVIRONMENT}`, { headers }),
    'a change': answerOf(changeUrl, change),
  };
  const answers = Object.entries(asked).map(
    async ([name, answer]) => [name, (await answer)?.ok === true] as const,
  );
  return Object.fromEntries(await Promise.all(answers));
}

/** The bare runtime: constant bytes at `/readyz`, streams at `/v1/stream`. */
async function measureBare(): Promise<Behavior> {
  const port = freePort();
  const worker = join(import.meta.dir, 'workers/bare-streams.ts');
  const script = `await (await import(${JSON.stringify(worker)})).serve({ frame: 'data: {}\\n\\n', port: ${port} })`;
  const child = Bun.spawn(
    ['/bin/sh', '-c', `ulimit -n ${LIMIT}; exec "$@"`, 'sh', process.execPath, '-e', script],
    { stdin: 'ignore', stdout: 'ignore', stderr: 'ignore' },
  );
  const guard = guardProcess(child.pid);
  try {
    const url = `http://127.0.0.1:${port}`;
    while ((await answerOf(`${url}/v1/flags/x`)) === undefined) await Bun.sleep(10);
    const streams = await openUntilRefused(`${url}/v1/stream`, {});
    const idleCpu = await idleShare(child.pid);
    const answered = { 'a read': (await answerOf(`${url}/v1/flags/x`))?.ok === true };
    for (const stream of streams) stream.close();
    return { streams: streams.length, answered, idleCpu };
  } finally {
    child.kill('SIGKILL');
    await child.exited;
    guard.release();
  }
}

/** Opens streams until one does not get its first frame, in groups, since the last ones may only hang. */
async function openUntilRefused(
  url: string,
  headers: Readonly<Record<string, string>>,
): Promise<readonly RawStream[]> {
  const streams: RawStream[] = [];
  while (streams.length < LIMIT) {
    const first = Promise.withResolvers<void>();
    const stream = await openRawStream(url, headers, {
      onFrame: () => first.resolve(),
      onEnd: (problem) => first.reject(new Error(problem)),
    });
    const isOpen = await within(first.promise, 'the first frame', 1_000).then(
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
    const response = await fetch(url, {
      ...init,
      keepalive: false,
      signal: AbortSignal.timeout(PATIENCE_MS),
    });
    await response.arrayBuffer();
    return response;
  } catch {
    // Not answered.
    return undefined;
  }
}

async function idleShare(pid: number): Promise<number> {
  const before = cpuTimeMs(pid);
  await Bun.sleep(IDLE_SECONDS * 1000);
  return (cpuTimeMs(pid) - before) / (IDLE_SECONDS * 1000);
}

function refusal({ streams, refusedWith, retryAfter }: Behavior): string {
  const end = refusedWith === undefined ? 'no answer' : `${refusedWith}${retryAfter ? ', Retry-After' : ''}`;
  return `${end} (${streams} open)`;
}

function answers({ answered }: Behavior): string {
  return Object.entries(answered)
    .map(([name, isAnswered]) => `${name} ${isAnswered ? 'yes' : 'no'}`)
    .join(', ');
}
