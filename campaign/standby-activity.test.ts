import { expect, test } from 'bun:test';
import { Management, openSse, startNode, startPostgres } from '@halyard/testing';

test('a node on a standby reports who is connected, and logs nothing about writes that it cannot make', async () => {
  await using primary = await startPostgres();
  const databaseUrl = await primary.createDatabase();
  const writing = await startNode({ databaseUrl });
  const management = new Management(writing);
  await management.createProject('demo');
  const { key } = await management.createKey('demo', ['production']);
  const made = await management.request('POST', '/api/tokens', { body: { name: 'reader', role: 'viewer' } });
  // `token`: the operation answers with it, this once.
  const { token } = made as { readonly token: string };
  await using standby = await primary.startStandby();
  const standbyUrl = standby.url(new URL(databaseUrl).pathname.slice(1));
  const reading = await startNode({ databaseUrl: standbyUrl });
  const stream = await openSse(`${reading.url}/v1/stream?env=production`, {
    headers: { 'X-Service-Key': key },
  });
  try {
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
}, 120_000);
