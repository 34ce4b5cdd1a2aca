import { expect, test } from 'bun:test';
import { Management, openSse, type PostgresServer, startNode, startPostgres } from '@halyard/testing';

test('a node that starts without its database waits for it and never says that a key is wrong', async () => {
  const postgres = await startPostgres();
  try {
    const databaseUrl = await postgres.createDatabase();
    const { adminToken, key } = await prepare(databaseUrl);
    await postgres.stop('fast');
    await judge(postgres, databaseUrl, adminToken, key);
  } finally {
    await postgres.close();
  }
}, 180_000);

/** A first node fills the database and goes. */
async function prepare(databaseUrl: string): Promise<{ adminToken: string; key: string }> {
  const node = await startNode({ databaseUrl });
  const management = new Management(node);
  await management.createProject('demo');
  const { key } = await management.createKey('demo', ['production']);
  await management.putState('demo', 'production', 'a', { enabled: true });
  await node.stop();
  return { adminToken: node.adminToken, key };
}

async function judge(
  postgres: PostgresServer,
  databaseUrl: string,
  adminToken: string,
  key: string,
): Promise<void> {
  const node = await startNode({ databaseUrl, adminToken, until: 'listening' });
  try {
    await node.readiness(503);
    for (const headers of [{ 'X-Service-Key': key }, { 'X-Service-Key': 'proj_live_wrong' }]) {
      const read = await fetch(`${node.url}/v1/flags?env=production`, { headers });
      expect(read.status).toBe(500);
      expect(Number(read.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
      expect(await read.json()).toMatchObject({ error: 'internal_error' });
      const stream = await openSse(`${node.url}/v1/stream?env=production`, { headers });
      expect(stream.status).toBe(500);
      stream.close();
    }
    expect((await fetch(`${node.url}/healthz`)).status).toBe(200);
    await postgres.start();
    await node.readiness(200);
    const read = await fetch(`${node.url}/v1/flags?env=production`, { headers: { 'X-Service-Key': key } });
    expect(await read.json()).toEqual({ environment: 'production', flags: { a: { enabled: true } } });
    await new Management({ url: node.url, adminToken }).putState('demo', 'production', 'a', {
      enabled: false,
    });
  } finally {
    await node.kill();
  }
}
