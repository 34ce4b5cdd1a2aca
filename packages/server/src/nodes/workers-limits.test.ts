import { expect, setDefaultTimeout, test } from 'bun:test';
import { Management, sharedPostgres, startNode, temporaryFolder, until } from '@halyard/testing';
import { processOf, startWorkers, type WorkersNode } from './test-workers.ts';

setDefaultTimeout(120_000);

test('a rate limit holds for all workers together, but for one burst of each', async () => {
  await using machine = await startWorkers(undefined, { env: { HALYARD_RATE_LIMIT: '20' } });
  const begun = performance.now();
  let passed = 0;
  const processes = new Set<string>();
  while (performance.now() - begun < 3000) {
    const answers = await Promise.all(Array.from({ length: 8 }, () => machine.read('a')));
    for (const { status, headers } of answers) {
      if (status === 200) passed++;
      else expect(status).toBe(429);
      processes.add(processOf(headers));
    }
  }
  const seconds = (performance.now() - begun) / 1000;
  expect(processes.size).toBe(2);
  expect(passed).toBeLessThanOrEqual(20 * (seconds + 2) + 2);
});

test('a limit of streams holds for all workers together', async () => {
  await using machine = await startWorkers(undefined, { env: { HALYARD_MAX_STREAMS_PER_KEY: '4' } });
  const open = [];
  for (let n = 0; n < 4; n++) open.push(await machine.openStream());
  expect(open.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  await until('all streams are counted', async () => (await streamsSeen(machine)) === 4);
  // The workers were sent the counts; this question comes after them on the same channel.
  await fetch(`${machine.node.url}/metrics`);
  const refused = new Set<string>();
  await until('both workers have refused a stream', async () => {
    const stream = await machine.openStream();
    expect(stream.status).toBe(429);
    return refused.add(processOf(stream.headers)).size === 2;
  });
  open[0]?.close();
  await until('a stream may be opened again', async () => {
    const stream = await machine.openStream();
    if (stream.status === 200) open.push(stream);
    return stream.status === 200;
  });
  for (const stream of open) stream.close();
});

test('the last use of a key and reads of flags are stored, whichever worker heard of them', async () => {
  using folder = temporaryFolder();
  const machine = await startWorkers(undefined, { dataFolder: folder.path });
  await machine.management.request('PATCH', '/api/projects/demo', { body: { usage: true } });
  const used: string[] = [];
  let reads = 0;
  const processes = new Set<string>();
  while (processes.size < 2) {
    const { key, id } = await machine.management.createKey('demo', ['production']);
    const answer = await machine.read('a', key);
    processes.add(processOf(answer.headers));
    used.push(id);
    const report = await fetch(`${machine.node.url}/usage/v1`, {
      method: 'POST',
      headers: { 'X-Service-Key': key, Connection: 'close' },
      body: '{"env":"production","flags":{"a":{"on":1}}}',
    });
    reads += Number(report.status === 204);
  }
  await machine.node.stop();
  const later = await startNode({ dataFolder: folder.path, adminToken: machine.node.adminToken });
  const management = new Management(later);
  const { keys } = (await management.request('GET', '/api/projects/demo/keys')) as {
    keys: { id: string; lastUsedAt?: string }[];
  };
  const usage = await management.request('GET', '/api/projects/demo/flags/a/usage');
  await later.stop();
  expect(keys.filter(({ lastUsedAt }) => lastUsedAt).map(({ id }) => id)).toEqual(
    expect.arrayContaining(used),
  );
  expect(reads).toBeGreaterThan(1);
  expect(JSON.stringify(usage)).toContain(`"on":${reads},"off":0`);
});

test('a machine has one connection to the log, however many workers it has', async () => {
  const server = await sharedPostgres();
  const databaseUrl = await server.createDatabase();
  const env = { HALYARD_WORKERS: '3', HALYARD_DATABASE_POOL_SIZE: '1' };
  await using machine = await startWorkers(undefined, { databaseUrl, env });
  expect(machine.workers().length).toBe(3);
  const [count] = await server.query(
    `SELECT count(*)::int AS connections FROM pg_stat_activity
      WHERE datname = current_database() AND application_name = 'halyard'`,
    databaseUrl,
  );
  // One listens, and the pool has one.
  expect(count).toEqual({ connections: 2 });
});

test('the address of a client is its own, whatever it says', async () => {
  await using machine = await startWorkers();
  const headers = { 'X-Halyard-Inner-Caller': '9.9.9.9', 'X-Forwarded-For': '9.9.9.9' };
  await machine.management.request('POST', '/api/projects', { body: { name: 'mine' }, headers });
  const audit = (await machine.management.request('GET', '/api/audit?limit=1')) as { entries: object[] };
  expect(audit.entries).toMatchObject([{ project: 'mine', ip: '127.0.0.1' }]);
});

/** How many streams the machine knows of. */
async function streamsSeen({ management }: WorkersNode): Promise<number> {
  const clients = (await management.request('GET', '/api/projects/demo/clients')) as {
    environments: { streams: number }[];
  };
  return clients.environments.reduce((sum, { streams }) => sum + streams, 0);
}
