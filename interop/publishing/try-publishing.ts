import { join } from 'node:path';
import type { FlagsClient } from '@halyard/client';
import { createClientWithFallback, createPublishedClient } from '@halyard/client/published';
import {
  Management,
  type NodeProcess,
  randomAdminToken,
  sharedPostgres,
  startNode,
  temporaryFolder,
  until,
} from '@halyard/testing';
import { startCdn } from './cdn.ts';
import { startStorage } from './storage.ts';

/** How soon a reader that asks twice a second has a change, in milliseconds. */
const SOON_MS = 3_000;

/** Changes whose way to a reader is measured. */
const CHANGES = 10;

/** What was seen. */
export interface PublishingOutcome {
  readonly storage: string;
  /** What happened, a line for each step. */
  readonly steps: readonly string[];
}

/**
 * Publishes an environment from real nodes to a real S3 server, and reads it through nginx as an ordinary cache. Gives what was
 * seen, or what is not on this machine. Rejects with what is wrong.
 */
export async function tryPublishing(): Promise<PublishingOutcome | string> {
  using folder = temporaryFolder();
  const storage = await startStorage(join(folder.path, 's3'));
  if (typeof storage === 'string') return storage;
  await using _storage = storage;
  const cdn = await startCdn(join(folder.path, 'nginx'), storage.publicUrl);
  if (typeof cdn === 'string') return cdn;
  await using _cdn = cdn;

  const postgres = await sharedPostgres();
  const adminToken = randomAdminToken();
  const options = { databaseUrl: await postgres.createDatabase(), adminToken, env: storage.settings };
  const nodes = new Set([await startNode(options), await startNode(options)]);
  const folderUrl = `${cdn.url}/halyard/shop/production`;
  const steps: string[] = [];
  await using clients = new AsyncDisposableStack();
  try {
    const management = managementOf(nodes);
    await management.createProject('shop');
    await management.putState('shop', 'production', 'step', { enabled: true, value: 0 });
    const key = (await management.createKey('shop', ['production'])).key;
    await management.request('PUT', '/api/projects/shop/environments/production/publication', {
      body: { withoutKey: true },
    });
    await until('the first publication is there', async () => (await fetch(`${folderUrl}/pointer.json`)).ok);

    const reader = createPublishedClient({
      baseUrl: folderUrl,
      pollIntervalMs: 500,
      staleAfterMs: 0,
      onError: () => {},
    });
    clients.use(reader);
    const [{ url: baseUrl } = { url: '' }] = nodes;
    const follower = createClientWithFallback({
      apiKey: key,
      environment: 'production',
      baseUrl,
      published: folderUrl,
      onError: () => {},
    });
    clients.use(follower);
    await Promise.all([reader.ready(), follower.ready()]);

    steps.push(await measureChanges(management, reader));
    steps.push(await replacePublisher(nodes, reader));
    steps.push(await readWithoutNodes(nodes, { reader, follower, folderUrl, key }));
    nodes.add(await startNode(options));
    steps.push(await comeBack(nodes, reader));
    steps.push(await withdraw(nodes, reader, { storageUrl: storage.publicUrl, cdnUrl: cdn.url }));
    return { storage: `versitygw ${storage.version}, nginx`, steps };
  } finally {
    await Promise.all([...nodes].map((node) => node.stop()));
  }
}

function managementOf(nodes: ReadonlySet<NodeProcess>): Management {
  const [node] = nodes;
  if (node === undefined) throw new Error('no node is running');
  return new Management(node);
}

function stepOf(client: FlagsClient): number {
  return client.getValue('step', -1);
}

/** Makes a change and waits until the reader has it. Gives how long that took, in milliseconds. */
async function change(
  management: Management,
  reader: FlagsClient,
  value: number,
  timeoutMs?: number,
): Promise<number> {
  const before = performance.now();
  await management.putState('shop', 'production', 'step', { enabled: true, value });
  await until(`the reader has step ${value}`, () => stepOf(reader) === value, timeoutMs);
  return performance.now() - before;
}

async function measureChanges(management: Management, reader: FlagsClient): Promise<string> {
  const times: number[] = [];
  for (let step = 1; step <= CHANGES; step++) times.push(await change(management, reader, step));
  const slowest = Math.max(...times);
  if (slowest > SOON_MS) throw new Error(`a change took ${seconds(slowest)} to reach the reader`);
  return `${CHANGES} changes reached the reader, the slowest after ${seconds(slowest)}`;
}

/** Kills the node that publishes. */
async function replacePublisher(nodes: Set<NodeProcess>, reader: FlagsClient): Promise<string> {
  const publisher = await until('a node says that it publishes', async () => {
    for (const node of nodes) if ((await publishedBy(node)) > 0) return node;
    return undefined;
  });
  nodes.delete(publisher);
  await publisher.kill();
  const took = await change(managementOf(nodes), reader, 100);
  return `the node that published was killed; the next change, by another, took ${seconds(took)}`;
}

async function publishedBy({ url }: NodeProcess): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  return Number(/^halyard_published_total (\d+)$/m.exec(text)?.[1] ?? 0);
}

/** Kills every node, and reads on. */
async function readWithoutNodes(
  nodes: Set<NodeProcess>,
  where: {
    readonly reader: ReturnType<typeof createPublishedClient>;
    readonly follower: FlagsClient;
    readonly folderUrl: string;
    readonly key: string;
  },
): Promise<string> {
  const { reader, follower, folderUrl, key } = where;
  await until('the follower has the change', () => stepOf(follower) === 100);
  await Promise.all([...nodes].map((node) => node.kill()));
  nodes.clear();

  const started = createClientWithFallback({
    apiKey: key,
    environment: 'production',
    baseUrl: 'http://127.0.0.1:1',
    published: folderUrl,
    onError: () => {},
  });
  const { status } = await started.ready();
  if (status !== 'ready' || stepOf(started) !== 100) throw new Error(`a client that starts now is ${status}`);
  await started.close();

  await until('the reader calls itself stale', () => reader.status === 'stale', 90_000);
  const answer = await fetch(`${folderUrl}/pointer.json`);
  const { checkedAt } = (await answer.json()) as { readonly checkedAt: string }; // as nodes write it
  const trueAge = Date.now() - Date.parse(checkedAt);
  const error = Math.abs((reader.ageMs ?? 0) - trueAge);
  // The header `Date` has whole seconds.
  if (error > 2_000)
    throw new Error(
      `the flags are ${seconds(trueAge)} old, and the reader says ${seconds(reader.ageMs ?? 0)}`,
    );
  if (stepOf(reader) !== 100 || stepOf(follower) !== 100) throw new Error('flags were lost with the nodes');
  return `no node was left: reads went on, a new client started, and the reader was stale after ${seconds(trueAge)}`;
}

async function comeBack(nodes: ReadonlySet<NodeProcess>, reader: FlagsClient): Promise<string> {
  const took = await change(managementOf(nodes), reader, 200);
  await until('the reader is ready', () => reader.status === 'ready');
  return `a node came back: its first change took ${seconds(took)}`;
}

async function withdraw(
  nodes: ReadonlySet<NodeProcess>,
  reader: FlagsClient,
  { storageUrl, cdnUrl }: { readonly storageUrl: string; readonly cdnUrl: string },
): Promise<string> {
  const pointer = '/halyard/shop/production/pointer.json';
  await managementOf(nodes).request('DELETE', '/api/projects/shop/environments/production/publication');
  await until('the files are removed', async () => !(await fetch(storageUrl + pointer)).ok);
  await until('the cache has no pointer', async () => !(await fetch(cdnUrl + pointer)).ok);
  if (stepOf(reader) !== 200) throw new Error('the reader lost its flags');
  return 'withdrawn: the pointer is gone from the storage and the cache, and the reader keeps its flags';
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`;
}
