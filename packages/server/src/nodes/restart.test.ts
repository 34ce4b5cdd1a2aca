import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import {
  lastingPort,
  Management,
  type NodeProcess,
  type StartNodeOptions,
  sharedPostgres,
  startNode,
  startTcpProxy,
  type TcpProxy,
  temporaryFolder,
  until,
} from '@halyard/testing';
import { CURRENT_WITHIN_MS } from './start-from-last-known.ts';

setDefaultTimeout(60_000);

/** A node that stays, on the database of those that are restarted. */
let staying: NodeProcess;
let management: Management;
let databaseUrl: string;
let key: string;

beforeAll(async () => {
  databaseUrl = await (await sharedPostgres()).createDatabase();
  staying = await startNode({ databaseUrl });
  management = new Management(staying);
  await management.createProject('shop');
  ({ key } = await management.createKey('shop', ['production']));
});

afterAll(() => staying.stop());

/** A way to run a node. */
interface Kind {
  readonly name: string;
  /** The port of its source. */
  readonly source: () => number;
  /** How to start it with a proxy to its source at this port. */
  readonly optionsOf: (port: number) => Promise<StartNodeOptions>;
}

const KINDS: readonly Kind[] = [
  ...['1', '2'].map((workers) => ({
    name: `node with ${workers} worker processes`,
    source: () => Number(new URL(databaseUrl).port),
    optionsOf: async (port: number) => {
      const address = new URL(databaseUrl);
      address.port = String(port);
      return { databaseUrl: address.href, env: { HALYARD_WORKERS: workers } };
    },
  })),
  {
    name: 'relay',
    source: () => Number(new URL(staying.url).port),
    optionsOf: async (port) => {
      const { token } = await management.createRelayToken('restarted');
      return { relay: { upstream: `http://127.0.0.1:${port}`, token } };
    },
  },
];

/** Runs a node until it has saved what it serves. */
async function leaveLastKnown(options: StartNodeOptions & { readonly dataFolder: string }): Promise<void> {
  const node = await startNode(options);
  await until('its flags are saved', () => existsSync(join(options.dataFolder, 'last-known-flags')));
  await node.stop();
}

function read(port: number): Promise<Response> {
  const headers = { 'X-Service-Key': key };
  return fetch(`http://127.0.0.1:${port}/v1/flags?env=production`, { headers, keepalive: false });
}

/**
 * What each answer says of itself, from now on until `end` resolves. Refused connections are no answers. On a busy machine the
 * first attempt may take longer than a node waits for it; what it answers after that time does not count.
 */
async function answersUntil(port: number, end: Promise<unknown>): Promise<unknown[]> {
  const begunAt = performance.now();
  let isLate: boolean | undefined;
  let isOver = false;
  void end.finally(() => {
    isOver = true;
  });
  const answers: unknown[] = [];
  while (!isOver) {
    const answer = await read(port).catch(() => undefined);
    if (answer === undefined) {
      await Bun.sleep(1);
      continue;
    }
    isLate ??= performance.now() - begunAt > CURRENT_WITHIN_MS;
    if (!isLate) answers.push(factsOf(answer));
  }
  return answers;
}

function factsOf({ status, headers }: Response) {
  return { status, revision: headers.get('X-Flags-Revision'), stale: headers.get('X-Flags-Stale') };
}

describe.each(KINDS)('a $name that restarts', ({ source, optionsOf }) => {
  test('answers nothing older than the others do, while its source answers', async () => {
    await using proxy = await openProxy(source());
    using folder = temporaryFolder();
    const port = lastingPort();
    const options = {
      ...(await optionsOf(proxy.port)),
      dataFolder: folder.path,
      arguments: ['--port', String(port)],
      adminToken: staying.adminToken,
    };
    await leaveLastKnown(options);
    const { environmentRevision } = await management.putState('shop', 'production', 'a', { enabled: true });

    proxy.delay(10);
    const starting = startNode(options);
    const answers = await answersUntil(port, starting);
    const second = await starting;
    const last = await read(port);
    await second.stop();

    answers.push(factsOf(last));
    const current = { status: 200, revision: String(environmentRevision), stale: null };
    expect(answers).toEqual(answers.map(() => current));
  });
});

test('a node whose database accepts connections and says nothing answers its last known flags after all', async () => {
  await using proxy = await openProxy(Number(new URL(databaseUrl).port));
  using folder = temporaryFolder();
  const address = new URL(databaseUrl);
  address.port = String(proxy.port);
  const port = lastingPort();
  const options = {
    databaseUrl: address.href,
    dataFolder: folder.path,
    arguments: ['--port', String(port)],
    adminToken: staying.adminToken,
  };
  await leaveLastKnown(options);
  proxy.blackhole();
  const second = startNode({ ...options, until: 'listening' });
  const answer = await until('it answers', () => read(port).catch(() => undefined));
  expect([answer.status, Number(answer.headers.get('X-Flags-Stale'))]).toEqual([200, expect.any(Number)]);
  await (await second).kill();
});

async function openProxy(port: number): Promise<TcpProxy & AsyncDisposable> {
  const proxy = await startTcpProxy({ port });
  return Object.assign(proxy, { [Symbol.asyncDispose]: () => proxy.close() });
}
