import { expect, setDefaultTimeout, test } from 'bun:test';
import { existsSync } from 'node:fs';
import {
  Management,
  openSse,
  sharedPostgres,
  startNode,
  startTcpProxy,
  temporaryFolder,
  until,
} from '@halyard/testing';

setDefaultTimeout(60_000);

test.each(['1', '2'])(
  'a node with %s workers that starts without PostgreSQL serves its last known flags until it is back',
  async (workers) => {
    const address = new URL(await (await sharedPostgres()).createDatabase());
    const proxy = await startTcpProxy({ port: Number(address.port) });
    address.port = String(proxy.port);
    using folder = temporaryFolder();
    const env = { HALYARD_DRAIN_SECONDS: '0', HALYARD_WORKERS: workers };
    const options = { databaseUrl: address.href, dataFolder: folder.path, env };
    const first = await startNode(options);
    const management = new Management(first);
    await management.createProject('shop');
    await management.putState('shop', 'production', 'a', { enabled: true });
    const { key } = await management.createKey('shop', ['production']);
    const expiresAt = new Date(Date.now() + 3000).toISOString();
    const expiring = await management.createKey('shop', ['production'], { expiresAt });
    await first.stop();

    proxy.refuse();
    const second = await startNode({ ...options, until: 'listening', adminToken: first.adminToken });
    const read = (with_: string) =>
      fetch(`${second.url}/v1/flags?env=production`, { headers: { 'X-Service-Key': with_ } });
    const answer = await until('the node answers', async () => {
      const response = await read(key).catch(() => undefined);
      return response?.status === 200 ? response : undefined;
    });
    expect(await answer.json()).toEqual({ environment: 'production', flags: { a: { enabled: true } } });
    expect(Number(answer.headers.get('X-Flags-Stale'))).toBeGreaterThan(0);
    await until('the other key has expired', async () => (await read(expiring.key)).status === 401);
    await second.readiness(503);
    const write = management.putState('shop', 'production', 'a', { enabled: false });
    await expect(write).rejects.toThrow();

    proxy.restore();
    await second.readiness(200);
    await until('the answer is current', async () => !(await read(key)).headers.has('X-Flags-Stale'));
    const stream = await openSse(`${second.url}/v1/stream?env=production`, {
      headers: { 'X-Service-Key': key },
    });
    expect((await stream.nextFrame()).data).toBe('{"a":{"enabled":true}}');
    await second.stop();
    await proxy.close();
  },
);

test('a node on SQLite keeps no second copy of its flags', async () => {
  using folder = temporaryFolder();
  const node = await startNode({ dataFolder: folder.path, env: { HALYARD_DRAIN_SECONDS: '0' } });
  await new Management(node).createProject('shop');
  await node.stop();
  expect(existsSync(folder.file('last-known-flags'))).toBe(false);
});
