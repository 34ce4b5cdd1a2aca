import { onTestFinished } from 'bun:test';
import { temporaryFolder } from '@halyard/testing';
import type { BunRequest, Server } from 'bun';
import type { LogRow, LogSource } from '../../domain/change-log.ts';
import type { RouteAnswer } from '../../http/listener.ts';
import { createLogger } from '../../observability/logger.ts';
import { logSourceOf } from '../../storage/change-log.ts';
import { ENGINES, openTestStore, type TestStore } from '../../storage/test-engines.ts';
import { ReadPlane, type ReadPlaneObserver } from '../read-plane.ts';
import { LogServer, type LogServerOptions } from './log-server.ts';
import { RemoteLog, type RemoteLogOptions } from './remote-log.ts';
import { WHOLE_LOG } from './scope.ts';

const LOG = createLogger({ level: 'silent', format: 'json' });
const [SQLITE] = ENGINES;

/** A read plane that offers its log, as a node does. */
export interface TestUpstream extends Disposable {
  readonly plane: ReadPlane;
  readonly logServer: LogServer;
  readonly url: string;
  /** The log as a follower gets it. */
  remote(options?: Partial<RemoteLogOptions>): RemoteLog;
}

/** Options of {@link startUpstream}. */
export interface UpstreamOptions extends Omit<Partial<LogServerOptions>, 'authorize'> {
  /** Default: every follower gets everything; `undefined`: relay tokens decide. */
  readonly authorize?: LogServerOptions['authorize'] | undefined;
  /** Whether to listen on a Unix socket. */
  readonly isLocal?: boolean;
}

/** Follows a source and offers its log over TCP, or over a Unix socket. Resolves once it is live. */
export async function startUpstream(source: LogSource, options: UpstreamOptions = {}): Promise<TestUpstream> {
  const everything = () => ({ id: 'follower', scope: WHOLE_LOG });
  const { isLocal = false, authorize = 'authorize' in options ? undefined : everything, ...rest } = options;
  const plane = new ReadPlane({ source, log: LOG, maxQueuedBytes: 1024 * 1024 });
  const logServer = new LogServer({
    plane,
    ...(authorize === undefined ? {} : { authorize }),
    docsUrl: 'https://docs.example',
    log: LOG,
    ...rest,
  });
  plane.observe(logServer);
  const folder = isLocal ? temporaryFolder() : undefined;
  const unix = folder?.file('log.sock');
  const fetch = (request: Request, own: Server<undefined>) => {
    const answer: RouteAnswer | undefined = logServer.routes[new URL(request.url).pathname];
    return answer?.(request as BunRequest, own) ?? new Response(null, { status: 404 });
  };
  const server =
    unix === undefined
      ? Bun.serve({ port: 0, hostname: '127.0.0.1', idleTimeout: 10, fetch })
      : Bun.serve({ unix, fetch });
  plane.start();
  await plane.firstLive;
  const url = unix === undefined ? `http://127.0.0.1:${server.port}` : 'http://localhost';
  return {
    plane,
    logServer,
    url,
    remote: (more) => new RemoteLog({ url, ...(unix === undefined ? {} : { unix }), ...more }),
    [Symbol.dispose]: () => {
      logServer.close();
      plane.close();
      void server.stop(true);
      folder?.remove();
    },
  };
}

const open: (() => unknown)[] = [];

/** Closes something when the test ends, the newest first. */
export function closeAtEnd(close: () => unknown): void {
  if (open.length === 0) {
    onTestFinished(async () => {
      for (const end of open.splice(0).reverse()) await end();
    });
  }
  open.push(close);
}

/** An empty store on SQLite; closed when the test ends. */
export async function openStore(): Promise<TestStore> {
  if (SQLITE === undefined) throw new Error('no engine');
  const home = await openTestStore(SQLITE);
  closeAtEnd(() => home[Symbol.asyncDispose]());
  return home;
}

/** A node over a store, which offers its log; closed when the test ends. */
export async function openUpstream(
  home: TestStore,
  options: UpstreamOptions = {},
  source?: LogSource,
): Promise<TestUpstream> {
  const upstream = await startUpstream(source ?? logSourceOf(await home.connect()), options);
  closeAtEnd(() => upstream[Symbol.dispose]());
  return upstream;
}

/** A plane that follows `source`, and what it reports; closed when the test ends. */
export function follow(source: LogSource) {
  const heard: string[] = [];
  const rows: LogRow[] = [];
  const plane = new ReadPlane({ source, log: LOG, maxQueuedBytes: 1 << 20 });
  const observer: ReadPlaneObserver = {
    loaded: ({ seq }) => heard.push(`loaded ${seq}`),
    live: (seq) => heard.push(`live ${seq}`),
    lost: () => heard.push('lost'),
    applied: (row) => rows.push(row),
  };
  plane.observe(observer);
  plane.start();
  closeAtEnd(() => plane.close());
  return { plane, heard, rows };
}
