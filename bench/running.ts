import {
  childrenOf,
  guardProcess,
  lastingPort,
  type TemporaryFolder,
  temporaryFolder,
} from '@halyard/testing';
import { PATIENCE_MS } from './bench.ts';
import { type Machine, pinned } from './machine.ts';
import { residentBytes } from './process-figures.ts';
import type { ChangeRequest, RepeatedRequest } from './raw-request.ts';

/** What can be asked of a subject. */
export type RequestName = 'one' | 'all' | 'ofrepOne' | 'ofrepAll';

/** A request that is measured. */
export interface CheckedRequest extends RepeatedRequest {
  /** How many flags a right answer shows. Throws when the answer is wrong. */
  readonly check?: (body: string) => number;
}

/** A stream, and a change that sends a frame on all of its kind. */
export interface SubjectStream {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Whether the first frame comes with the connection (default), or only with the next change. */
  readonly opensWith?: 'frame' | 'head';
  /** The request that makes the frame, different each time. */
  readonly change: (serial: number) => ChangeRequest;
}

/** A running subject: this repository's node, another service, or a server to compare with. */
export interface Running extends AsyncDisposable {
  /** The processes whose memory and processor time are the subject's. */
  readonly pids: readonly number[];
  readonly requests?: Partial<Readonly<Record<RequestName, CheckedRequest>>>;
  readonly stream?: SubjectStream;
}

/** A running subject with streams. */
export type Streaming = Running & { readonly stream: SubjectStream };

/** How to start a program. */
export interface Program {
  readonly command: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** A request that it answers with success once it runs. */
  readonly ready: Pick<RepeatedRequest, 'url'> & Partial<RepeatedRequest>;
  /** Runs before it in the same shell, as in `ulimit -n 512`. */
  readonly shellPrefix?: string;
  readonly timeoutMs?: number;
}

/** A program that answers; it ends with this process at the latest. */
export interface StartedProgram extends AsyncDisposable {
  readonly pids: readonly number[];
  /** From the start of the process to its first right answer. */
  readonly startMs: number;
}

/** Where a subject is started: a folder and a port of its own. */
export interface Place {
  readonly folder: TemporaryFolder;
  readonly port: number;
  readonly url: string;
}

/** How to start a subject, and what it then answers. */
export interface Recipe extends Pick<Running, 'requests' | 'stream'> {
  /** Its first answer is that of a read where the flags are there from the start. */
  readonly program: Program;
  /** Puts the flags into the running service. */
  readonly fill?: () => Promise<void>;
  /** Ends what the recipe itself has started. */
  readonly end?: () => Promise<unknown>;
}

/** Starts a subject. Rejects when it does not come up. */
export async function startRecipe<Kind extends Recipe>(
  machine: Machine,
  recipeFor: (place: Place) => Promise<Kind>,
): Promise<Kind & StartedProgram> {
  await using stack = new AsyncDisposableStack();
  const port = lastingPort();
  const place = { folder: stack.use(temporaryFolder()), port, url: `http://127.0.0.1:${port}` };
  const recipe = await recipeFor(place);
  stack.defer(async () => void (await recipe.end?.()));
  const { pids, startMs } = stack.use(await startProgram(machine, recipe.program));
  await recipe.fill?.();

  const owned = stack.move();
  return { ...recipe, pids, startMs, [Symbol.asyncDispose]: () => owned[Symbol.asyncDispose]() };
}

/** Nothing that the bench starts may take more memory than this on a shared machine. */
export const MOST_BYTES = 6 * 2 ** 30;

/** Starts a program on the core of servers. Rejects, with the end of what it wrote, when it does not answer in time. */
export async function startProgram(machine: Machine, program: Program): Promise<StartedProgram> {
  const { env, shellPrefix, timeoutMs = PATIENCE_MS } = program;
  const folder = temporaryFolder();
  const log = Bun.file(folder.file('log'));
  const shell = ['/bin/sh', '-c', `${shellPrefix}; exec "$@"`, 'sh'];
  const command = shellPrefix === undefined ? program.command : [...shell, ...program.command];

  const begun = performance.now();
  const child = Bun.spawn(pinned(machine, 'server', command), {
    cwd: folder.path,
    env: { PATH: process.env.PATH ?? '', HOME: folder.path, ...env },
    stdin: 'ignore',
    stdout: log,
    stderr: log,
  });
  const guard = guardProcess(child.pid);
  const memory = setInterval(() => {
    if (residentBytes(child.pid) > MOST_BYTES) child.kill('SIGKILL');
  }, 500);

  const stop = async () => {
    clearInterval(memory);
    child.kill('SIGTERM');
    const late = setTimeout(() => child.kill('SIGKILL'), 5_000);
    await child.exited;
    clearTimeout(late);
    guard.release();
    folder.remove();
  };

  while (!(await answers(program.ready))) {
    if (performance.now() - begun < timeoutMs && child.exitCode === null) {
      await Bun.sleep(1);
      continue;
    }
    const said = (await log.text()).slice(-600);
    await stop();
    throw new Error(`it did not start: ${said.replaceAll('\n', ' ')}`);
  }
  const startMs = performance.now() - begun;
  return { pids: [child.pid, ...childrenOf(child.pid)], startMs, [Symbol.asyncDispose]: stop };
}

async function answers({ url, headers = {}, body }: Program['ready']): Promise<boolean> {
  try {
    // No connection is kept: the next start is a new process on that port.
    const response = await fetch(url, {
      headers,
      ...(body !== undefined && { method: 'POST', body }),
      keepalive: false,
      signal: AbortSignal.timeout(5_000),
    });
    await response.arrayBuffer();
    return response.ok;
  } catch {
    // Not yet.
    return false;
  }
}

/** Throws with what is wrong about an answer. */
export function expectRight(isRight: boolean, what: string): void {
  if (!isRight) throw new Error(`it answered wrongly: ${what}`);
}

/** An answer and its size, without compression. Throws unless it is a right one: a wrong one may be as fast as it likes. */
export async function fetchChecked({ url, headers, body, check }: CheckedRequest) {
  const response = await fetch(url, {
    headers: { ...headers, 'Accept-Encoding': 'identity' },
    ...(body !== undefined && { method: 'POST', body }),
    signal: AbortSignal.timeout(PATIENCE_MS),
  });
  const text = await response.text();
  const isRight = response.ok || response.status === 304;
  if (!isRight) throw new Error(`${url} answered ${response.status}: ${text.slice(0, 100)}`);
  return { response, text, size: Buffer.byteLength(text), flags: check?.(text) ?? 0 };
}

/** Writes a file for a program into a folder that is removed with it; returns its path. */
export async function writeInput(folder: TemporaryFolder, name: string, text: string): Promise<string> {
  await Bun.write(folder.file(name), text);
  return folder.file(name);
}
