import { childrenOf, guardProcess, type TemporaryFolder, temporaryFolder } from '@halyard/testing';
import { type Machine, pin } from '../machine.ts';
import { residentBytes } from '../process-figures.ts';
import type { RepeatedRequest } from '../raw-request.ts';
import { PATIENCE_MS } from '../within.ts';
import type { PeerFlag } from './flags.ts';

/** What can be measured. */
export const PEER_TABLES = ['rest', 'streams'] as const;

/** One of {@link PEER_TABLES}. */
export type PeerTable = (typeof PEER_TABLES)[number];

/** A program beside which Halyard is measured, or Halyard itself. */
export interface Peer {
  readonly name: string;
  /** How it is set up, for the table: what it checks, evaluates and stores. */
  readonly remark: string;
  /** The tables it is in. */
  readonly serves: readonly PeerTable[];
  /** The version that runs, as it says itself. */
  version(): Promise<string>;
  /** Starts it with these flags, and rejects when it does not come up. */
  start(machine: Machine, flags: readonly PeerFlag[]): Promise<RunningPeer>;
}

/** A filled peer. */
export interface RunningPeer extends AsyncDisposable {
  /** The processes whose memory and processor time are the peer's. */
  readonly pids: readonly number[];
  readonly one?: PeerRequest;
  readonly all?: PeerRequest;
  readonly stream?: PeerStream;
}

/** A request that is measured. */
export interface PeerRequest extends RepeatedRequest {
  /** How many flags a right answer shows. Throws when the answer is wrong. */
  check(body: string): number;
}

/** A stream, and a change that sends a frame on all of its kind. */
export interface PeerStream {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Whether the first frame comes with the connection, or only with the next change. */
  readonly opensWith: 'frame' | 'head';
  /** The request that makes the frame; another one each time. */
  change(serial: number): StreamChange;
}

/** A change that a process of the bench can send by itself. */
export interface StreamChange {
  readonly url: string;
  readonly method: 'PUT' | 'POST';
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** How to start a program that is not ours. */
export interface Program {
  readonly command: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** An address that answers with success once the program is ready. */
  readonly readyUrl: string;
  readonly readyHeaders?: Readonly<Record<string, string>>;
  readonly timeoutMs?: number;
}

/** A started program; ends with this process at the latest. */
export interface StartedProgram extends AsyncDisposable {
  readonly pids: readonly number[];
}

/** No peer may take more memory than this on a shared machine. */
const MOST_BYTES = 4 * 2 ** 30;

/** Starts a program on the core of servers. Rejects, with the end of what it wrote, when it is not ready in time. */
export async function startProgram(machine: Machine, program: Program): Promise<StartedProgram> {
  const { command, env, readyUrl, readyHeaders = {}, timeoutMs = PATIENCE_MS } = program;
  const folder = temporaryFolder();
  const log = Bun.file(folder.file('log'));
  const child = Bun.spawn([...command], {
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

  const deadline = performance.now() + timeoutMs;
  while (!(await isReady(readyUrl, readyHeaders))) {
    if (performance.now() < deadline && child.exitCode === null) {
      await Bun.sleep(50);
      continue;
    }
    const written = (await log.text()).slice(-600);
    await stop();
    throw new Error(`it did not start: ${written.replaceAll('\n', ' ')}`);
  }

  const pids = [child.pid, ...childrenOf(child.pid)];
  for (const pid of pids) await pin(machine, pid, 'server');
  return { pids, [Symbol.asyncDispose]: stop };
}

async function isReady(url: string, headers: Readonly<Record<string, string>>): Promise<boolean> {
  try {
    const response = await fetch(url, { headers, keepalive: false, signal: AbortSignal.timeout(5_000) });
    await response.arrayBuffer();
    return response.ok;
  } catch {
    // Not yet.
    return false;
  }
}

/** Writes a file for a program into a folder that is removed with it. */
export async function writeInput(folder: TemporaryFolder, name: string, text: string): Promise<string> {
  await Bun.write(folder.file(name), text);
  return folder.file(name);
}

/** What a program answers to `--version` or the like, shortened to its version number where there is one. */
export async function versionOf(command: readonly string[]): Promise<string> {
  const child = Bun.spawn([...command], { stdin: 'ignore', stdout: 'pipe', stderr: 'pipe', timeout: 10_000 });
  const text = `${await new Response(child.stdout).text()}${await new Response(child.stderr).text()}`;
  return /\d+\.\d+[\w.-]*/.exec(text)?.[0] ?? 'unknown version';
}

/** Throws with what is wrong about an answer. */
export function expectRight(isRight: boolean, what: string): void {
  if (!isRight) throw new Error(`it answered wrongly: ${what}`);
}
