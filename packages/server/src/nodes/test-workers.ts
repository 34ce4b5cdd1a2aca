import {
  childrenOf,
  Management,
  type NodeProcess,
  openSse,
  type SseReader,
  type StartNodeOptions,
  sharedPostgres,
  startNode,
  until,
} from '@halyard/testing';

/** A node with several workers, its management API, and a key that reads the environment `production` of `demo`. */
export interface WorkersNode extends AsyncDisposable {
  readonly node: NodeProcess;
  readonly management: Management;
  readonly key: string;
  readonly keyId: string;
  /** The process ids of the workers that run now. */
  workers(): readonly number[];
  /** Opens a stream on a new connection: which worker gets it is the kernel's choice. */
  openStream(key?: string): Promise<SseReader>;
  /** Opens streams until each of so many workers has one. */
  openStreamOnEach(count: number): Promise<SseReader[]>;
  /** Reads a flag on a new connection. */
  read(flag: string, key?: string): Promise<Response>;
}

/** The engines that a node with workers runs on. */
export const ENGINES = [
  { name: 'sqlite', databaseUrl: async () => undefined },
  { name: 'postgres', databaseUrl: async () => await (await sharedPostgres()).createDatabase() },
] as const;

/** Starts a node with two workers, or as `options.env` says, on an engine. */
export async function startWorkers(
  engine: (typeof ENGINES)[number] = ENGINES[0],
  options: StartNodeOptions = {},
): Promise<WorkersNode> {
  const databaseUrl = options.databaseUrl ?? (await engine.databaseUrl());
  const node = await startNode({
    ...options,
    env: { HALYARD_WORKERS: '2', ...options.env },
    ...(databaseUrl === undefined ? {} : { databaseUrl }),
  });
  const management = new Management(node);
  await management.createProject('demo');
  const { key, id } = await management.createKey('demo', ['production']);
  await management.putState('demo', 'production', 'a', { enabled: true, value: 0 });
  const openStream = (header = key) =>
    openSse(`${node.url}/v1/stream?env=production`, { headers: { 'X-Service-Key': header } });
  return {
    node,
    management,
    key,
    keyId: id,
    workers: () => childrenOf(node.pid),
    openStream: (header) => openStream(header),
    openStreamOnEach: async (count) => {
      const streams: SseReader[] = [];
      await until(`streams are open on ${count} workers`, async () => {
        streams.push(await openStream());
        return new Set(streams.map(({ headers }) => processOf(headers))).size === count || undefined;
      });
      return streams;
    },
    read: (flag, header = key) =>
      fetch(`${node.url}/v1/flags/${flag}?env=production`, {
        headers: { 'X-Service-Key': header, Connection: 'close' },
        keepalive: false,
      }),
    [Symbol.asyncDispose]: async () => {
      node.resume();
      await node.stop();
    },
  };
}

/** Names the process that answered: every process makes request ids of its own. */
export function processOf(headers: Headers): string {
  return headers.get('X-Request-Id')?.split('-')[0] ?? '';
}
