import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import {
  Management,
  type NodeProcess,
  openSse,
  type PostgresServer,
  type SseReader,
  startNode,
  startPostgres,
  startTcpProxy,
  type TcpProxy,
  until,
} from '@halyard/testing';

setDefaultTimeout(120_000);

let primary: PostgresServer;
let standby: PostgresServer;

beforeAll(async () => {
  primary = await startPostgres();
  standby = await primary.startStandby();
});

afterAll(async () => {
  await standby.close();
  await primary.close();
});

/** A new database of the primary, and its copy in the standby. */
async function createDatabase(): Promise<{ databaseUrl: string; standbyUrl: string }> {
  const databaseUrl = await primary.createDatabase();
  await standby.untilCaughtUpWith(primary);
  return { databaseUrl, standbyUrl: standby.url(new URL(databaseUrl).pathname.slice(1)) };
}

/** A link between the two servers that can fail; when it is closed, the standby follows the primary directly again. */
async function openLink(): Promise<TcpProxy & AsyncDisposable> {
  const link = await startTcpProxy({ port: primary.port });
  const direct = (await standby.setting('primary_conninfo')).replaceAll("'", "''");
  await standby.set('primary_conninfo', direct.replace(/port=\d+/, `port=${link.port}`));
  await until('the standby streams through the link', () => link.connections > 0);
  return Object.assign(link, {
    [Symbol.asyncDispose]: async () => {
      await standby.set('primary_conninfo', direct);
      await link.close();
    },
  });
}

/** A project in the node's database, with a key. */
async function createDemo(node: NodeProcess): Promise<{ management: Management; key: string }> {
  const management = new Management(node);
  await management.createProject('demo');
  const { key } = await management.createKey('demo', ['production']);
  return { management, key };
}

async function openStream(node: NodeProcess, key: string): Promise<SseReader> {
  return await until('the node takes streams', async () => {
    const stream = await openSse(`${node.url}/v1/stream?env=production`, {
      headers: { 'X-Service-Key': key },
    });
    if (stream.status === 200) return stream;
    stream.close();
    return undefined;
  });
}

async function untilLog(node: NodeProcess, line: RegExp): Promise<void> {
  await until(`the node logs ${line}`, () => line.test(node.logs()));
}

async function nextValues(stream: SseReader, count: number): Promise<unknown[]> {
  const values: unknown[] = [];
  while (values.length < count) values.push(JSON.parse((await stream.nextFrame()).data).a?.value);
  return values;
}

const stateOf = (value: number) => ({ enabled: true, value });

test('a node on a standby serves every change once and in order, and refuses writes, with no operator yet', async () => {
  const { databaseUrl, standbyUrl } = await createDatabase();
  const writing = await startNode({ databaseUrl });
  const { management, key } = await createDemo(writing);
  const made = await management.request('POST', '/api/tokens', { body: { name: 'reader', role: 'viewer' } });
  // `token`: the operation answers with it, this once.
  const { token } = made as { readonly token: string };
  await standby.untilCaughtUpWith(primary);
  const { adminToken } = writing;
  const env = { HALYARD_LOG_FORMAT: 'pretty' };
  const reading = await startNode({ databaseUrl: standbyUrl, env, adminToken });
  const stream = await openStream(reading, key);
  try {
    await untilLog(reading, /is running at http/);
    await untilLog(reading, / warn +the first start could not be completed/);
    expect(JSON.parse((await stream.nextFrame()).data)).toEqual({});
    for (const value of [1, 2, 3]) await management.putState('demo', 'production', 'a', stateOf(value));
    expect(await nextValues(stream, 3)).toEqual([1, 2, 3]);
    const write = new Management(reading).putState('demo', 'production', 'a', stateOf(4));
    await expect(write).rejects.toThrow('takes no changes, because it is a standby');
    const answer = await fetch(`${reading.url}/api/projects/demo/clients`, {
      headers: { Authorization: `Bearer ${token}` },
    });
    expect([answer.status, await answer.json()]).toMatchObject([200, { environments: expect.any(Array) }]);
  } finally {
    stream.close();
    await reading.stop();
    await writing.stop();
  }
  expect(reading.logs()).toContain('stopped');
  expect(reading.logs()).not.toContain('the last use of');
});

test('a node on a standby that is behind an upgrade waits until a node has migrated the primary', async () => {
  const { databaseUrl, standbyUrl } = await createDatabase();
  const waiting = await startNode({ databaseUrl: standbyUrl, until: 'listening' });
  try {
    await waiting.readiness(503);
    await untilLog(waiting, /"level":"warn".*start a node of this version on the primary, which migrates it/);
    const migrating = await startNode({ databaseUrl });
    await waiting.readiness(200);
    await migrating.stop();
    await waiting.readiness(503);
    await untilLog(waiting, /shown nothing new of its primary .* or no node writes to the primary/);
  } finally {
    await waiting.kill();
  }
});

test('a node can follow a standby and write to the primary, and closes its streams when the standby is cut off', async () => {
  const { databaseUrl, standbyUrl } = await createDatabase();
  const node = await startNode({ databaseUrl, env: { HALYARD_DATABASE_FOLLOW_URL: standbyUrl } });
  try {
    const { management, key } = await createDemo(node);
    const stream = await openStream(node, key);
    await stream.nextFrame();
    for (const value of [1, 2, 3]) await management.putState('demo', 'production', 'a', stateOf(value));
    expect(await nextValues(stream, 3)).toEqual([1, 2, 3]);
    const upstream = await standby.setting('primary_conninfo');
    await standby.set('primary_conninfo', 'host=127.0.0.1 port=1');
    await stream.untilEnded();
    await untilLog(node, /the standby is not connected to its primary/);
    const read = await fetch(`${node.url}/v1/flags?env=production`, { headers: { 'X-Service-Key': key } });
    expect([read.status, Number(read.headers.get('X-Flags-Stale'))]).toEqual([200, expect.any(Number)]);
    await standby.set('primary_conninfo', upstream);
    const again = await openStream(node, key);
    expect(await nextValues(again, 1)).toEqual([3]);
    again.close();
  } finally {
    await node.kill();
  }
});

test('nodes on a standby that is cut off without a sign are not current, and know how old they are', async () => {
  const { databaseUrl, standbyUrl } = await createDatabase();
  await using link = await openLink();
  // One can ask the primary, the other has only the standby.
  const nodes = [
    await startNode({ databaseUrl, env: { HALYARD_DATABASE_FOLLOW_URL: standbyUrl } }),
    await startNode({ databaseUrl: standbyUrl, until: 'listening' }),
  ] as const;
  try {
    const { management, key } = await createDemo(nodes[0]);
    await management.putState('demo', 'production', 'a', stateOf(1));
    const streams = await Promise.all(nodes.map((node) => openStream(node, key)));
    link.blackhole();
    const write = await fetch(`${nodes[0].url}/api/projects/demo/environments/production/flags/a`, {
      method: 'PUT',
      headers: { Authorization: `Bearer ${nodes[0].adminToken}`, 'Content-Type': 'application/json' },
      body: JSON.stringify(stateOf(2)),
    });
    const acknowledgedAt = performance.now();
    expect([write.status, write.headers.get('X-Change-Pending')]).toEqual([200, 'true']);
    const { environmentRevision } = (await write.json()) as { readonly environmentRevision: number };
    await Promise.all(streams.map((stream) => stream.untilEnded()));
    for (const node of nodes) {
      await untilLog(node, /shown nothing new of its primary for \d+ seconds/);
      const askedAt = performance.now();
      const read = await fetch(`${node.url}/v1/flags?env=production`, { headers: { 'X-Service-Key': key } });
      const staleMs = Number(read.headers.get('X-Flags-Stale')) * 1000;
      expect([read.status, read.headers.get('X-Flags-Revision')]).toEqual([
        200,
        `${environmentRevision - 1}`,
      ]);
      expect(staleMs).toBeGreaterThanOrEqual(askedAt - acknowledgedAt);
    }
    link.restore();
    link.reset();
    const again = await Promise.all(nodes.map((node) => openStream(node, key)));
    for (const stream of again) expect(await nextValues(stream, 1)).toEqual([2]);
  } finally {
    for (const node of nodes) await node.kill();
  }
});

test('a node on a standby that shows nothing new is not ready until it does', async () => {
  const { databaseUrl, standbyUrl } = await createDatabase();
  const writing = await startNode({ databaseUrl });
  await standby.untilCaughtUpWith(primary);
  await standby.query('SELECT pg_wal_replay_pause()');
  await createDemo(writing);
  const reading = await startNode({ databaseUrl: standbyUrl, until: 'listening' });
  try {
    await untilLog(reading, /shown nothing new of its primary/);
    expect(reading.logs()).not.toContain('following the change log');
    await standby.query('SELECT pg_wal_replay_resume()');
    await reading.readiness(200);
  } finally {
    await reading.kill();
    await writing.kill();
  }
});

test('a failover that loses acknowledged changes begins a new epoch, and revisions still grow', async () => {
  const { databaseUrl } = await createDatabase();
  const address = new URL(databaseUrl);
  const hosts = [primary, standby].map(({ port }) => `127.0.0.1:${port}`).join(',');
  const both = `${databaseUrl.replace(address.host, hosts)}?target_session_attrs=read-write`;
  const node = await startNode({ databaseUrl: both });
  try {
    const { management, key } = await createDemo(node);
    await management.putState('demo', 'production', 'a', stateOf(1));
    await standby.untilCaughtUpWith(primary);
    await standby.set('primary_conninfo', 'host=127.0.0.1 port=1');
    await until('nothing is replicated', async () => {
      const [row] = await standby.query<{ count: number }>(
        'SELECT count(*)::int AS count FROM pg_stat_wal_receiver',
      );
      return row?.count === 0;
    });
    const lost = await management.putState('demo', 'production', 'a', stateOf(2));
    const stream = await openStream(node, key);
    expect(await nextValues(stream, 1)).toEqual([2]);

    await primary.stop('immediate');
    await stream.untilEnded();
    await standby.promote();
    const again = await openStream(node, key);
    expect(await nextValues(again, 1)).toEqual([1]);
    await untilLog(node, /"level":"error".*has lost changes that were served/);
    expect(Number(again.headers.get('X-Flags-Revision'))).toBeGreaterThan(lost.environmentRevision);
    await management.putState('demo', 'production', 'a', stateOf(3));
    expect(await nextValues(again, 1)).toEqual([3]);
    again.close();
  } finally {
    await node.kill();
  }
});
