import { join } from 'node:path';
import { guardProcess } from './process-guard.ts';
import { ProcessLog } from './process-log.ts';
import { temporaryFolder } from './temporary-folder.ts';

/** How to start a node. */
export interface StartNodeOptions {
  /** PostgreSQL to run on, or a proxy before it. Without it the node runs on SQLite in its data folder. */
  readonly databaseUrl?: string;
  /** Starts a relay of this upstream instead, which has no database. */
  readonly relay?: { readonly upstream: string; readonly token: string };
  /** Where the node keeps its data. Default: a temporary folder that goes when the node has ended. */
  readonly dataFolder?: string;
  /** Settings beyond the defaults of the tests. */
  readonly env?: Readonly<Record<string, string>>;
  /** Arguments after those of the tests; a later one wins, as in `['--port', '4000']`. */
  readonly arguments?: readonly string[];
  /** The access token. Default: a random one. */
  readonly adminToken?: string;
  /** `ready` (default) waits for `GET /readyz` to say 200, `listening` only for the open port. */
  readonly until?: 'ready' | 'listening';
  /** How long to wait for that. Default 60,000 ms. */
  readonly timeoutMs?: number;
  /** Runs before the node in the same shell, as in `ulimit -f 512`. */
  readonly shellPrefix?: string;
}

/** A running node in a process of its own. */
export interface NodeProcess {
  /** Base address, as `http://127.0.0.1:4000`. */
  readonly url: string;
  /** Access token of the management API. */
  readonly adminToken: string;
  readonly pid: number;
  readonly dataFolder: string;
  /** The exit code once the process has ended; a signal counts as 128 + its number. */
  readonly exited: Promise<number>;
  /** Ends it with SIGTERM and waits. Returns the exit code. */
  stop(): Promise<number>;
  /** Ends it with SIGKILL and waits: nothing is flushed or announced. */
  kill(): Promise<void>;
  /** Freezes the process (SIGSTOP): its sockets stay open and silent. */
  pause(): void;
  /** Lets a frozen process go on (SIGCONT). */
  resume(): void;
  /** Everything it wrote to standard output and error so far. */
  logs(): string;
  /** Waits until `GET /readyz` answers with `status`. Rejects after `timeoutMs`, default 30,000. */
  readiness(status: number, timeoutMs?: number): Promise<void>;
}

const ENTRY = join(import.meta.dir, '../../server/src/main.ts');

/**
 * Starts a real node on a free loopback port and waits until it is ready. The process cannot outlive this one.
 * Rejects, with what the node wrote, when it exits or is not ready in time.
 */
export async function startNode(options: StartNodeOptions = {}): Promise<NodeProcess> {
  const adminToken = options.adminToken ?? randomAdminToken();
  const temporary = options.dataFolder === undefined ? temporaryFolder() : undefined;
  const dataFolder = options.dataFolder ?? temporary?.path ?? '';

  const child = Bun.spawn(commandOf(options, dataFolder), {
    env: environmentOf(options, adminToken),
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  });

  const guard = guardProcess(child.pid);
  const log = new ProcessLog();
  const drained = Promise.all([log.read(child.stdout), log.read(child.stderr)]);
  const exited = child.exited.then(async (code) => {
    guard.release();
    await drained;
    temporary?.remove();
    return code;
  });

  const deadline = Date.now() + (options.timeoutMs ?? 60_000);
  try {
    const url = await log.listeningUrl(exited, deadline - Date.now());
    const node = nodeOf({ child, url, adminToken, dataFolder, exited, log });
    if (options.until !== 'listening') await node.readiness(200, deadline - Date.now());
    return node;
  } catch (cause) {
    child.kill('SIGKILL');
    await exited;
    throw new Error(`the node did not start; it wrote:\n${log.text}`, { cause });
  }
}

/** An access token of the right shape for tests: `hat_` and 43 base62 characters. */
export function randomAdminToken(): string {
  const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
  const bytes = crypto.getRandomValues(new Uint8Array(43));
  return `hat_${Array.from(bytes, (byte) => alphabet[byte % 62]).join('')}`;
}

function commandOf(options: StartNodeOptions, dataFolder: string): string[] {
  const command = [
    process.execPath,
    ENTRY,
    ...(options.relay === undefined ? ['serve', '--bare'] : ['relay', '--upstream', options.relay.upstream]),
    ...['--port', '0', '--data', dataFolder],
    ...(options.arguments ?? []),
  ];
  if (options.shellPrefix === undefined) return command;
  return ['/bin/sh', '-c', `${options.shellPrefix}; exec "$@"`, 'sh', ...command];
}

/** A clean environment: nothing the developer has set leaks into a test. */
function environmentOf(options: StartNodeOptions, adminToken: string): Record<string, string> {
  return {
    ...(process.env.PATH === undefined ? {} : { PATH: process.env.PATH }),
    ...(process.env.HOME === undefined ? {} : { HOME: process.env.HOME }),
    HALYARD_ADMIN_TOKEN: adminToken,
    HALYARD_LOG_FORMAT: 'json',
    HALYARD_DRAIN_SECONDS: '1',
    ...(options.databaseUrl === undefined ? {} : { HALYARD_DATABASE_URL: options.databaseUrl }),
    ...(options.relay === undefined ? {} : { HALYARD_RELAY_TOKEN: options.relay.token }),
    ...options.env,
  };
}

interface NodeParts {
  readonly child: Bun.Subprocess<'ignore', 'pipe', 'pipe'>;
  readonly url: string;
  readonly adminToken: string;
  readonly dataFolder: string;
  readonly exited: Promise<number>;
  readonly log: ProcessLog;
}

function nodeOf(parts: NodeParts): NodeProcess {
  const { child, url, adminToken, dataFolder, exited, log } = parts;
  return {
    url,
    adminToken,
    pid: child.pid,
    dataFolder,
    exited,
    stop: async () => {
      child.kill('SIGTERM');
      return await exited;
    },
    kill: async () => {
      child.kill('SIGKILL');
      await exited;
    },
    pause: () => child.kill('SIGSTOP'),
    resume: () => child.kill('SIGCONT'),
    logs: () => log.text,
    readiness: async (status, timeoutMs = 30_000) => await readiness(url, status, Date.now() + timeoutMs),
  };
}

/** Polls, because readiness is a fact of another process that nothing announces. */
async function readiness(url: string, status: number, deadline: number): Promise<void> {
  let last = 'nothing';
  while (Date.now() < deadline) {
    try {
      const answer = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(2_000) });
      await answer.body?.cancel();
      if (answer.status === status) return;
      last = String(answer.status);
    } catch (error) {
      last = String(error);
    }
    await Bun.sleep(25);
  }
  throw new Error(`GET /readyz should have become ${status}; the last answer was ${last}`);
}
