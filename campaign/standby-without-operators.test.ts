import { expect, test } from 'bun:test';
import { Management, startNode, startPostgres, until } from '@halyard/testing';

test('a node on a standby serves flags before the first operator exists, although nothing can be written there', async () => {
  await using primary = await startPostgres();
  const databaseUrl = await primary.createDatabase();
  const writing = await startNode({ databaseUrl });
  const management = new Management(writing);
  await management.createProject('demo');
  const { key } = await management.createKey('demo', ['production']);
  await using standby = await primary.startStandby();
  const standbyUrl = standby.url(new URL(databaseUrl).pathname.slice(1));
  const reading = await startNode({ databaseUrl: standbyUrl, env: { HALYARD_LOG_FORMAT: 'pretty' } });
  try {
    await until('the node says that it is running', () => reading.logs().includes('is running at http'));
    const read = await fetch(`${reading.url}/v1/flags?env=production`, { headers: { 'X-Service-Key': key } });
    expect(await read.json()).toEqual({ environment: 'production', flags: {} });
    expect(reading.logs()).toMatch(/ warn +the first administrator could not be set up/);
  } finally {
    await reading.stop();
    await writing.stop();
  }
}, 120_000);
