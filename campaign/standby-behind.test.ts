import { expect, test } from 'bun:test';
import { startNode, startPostgres } from '@halyard/testing';

test('a node on a standby that is behind an upgrade waits until a node has migrated the primary', async () => {
  await using primary = await startPostgres();
  const databaseUrl = await primary.createDatabase();
  await using standby = await primary.startStandby();
  const standbyUrl = standby.url(new URL(databaseUrl).pathname.slice(1));
  const waiting = await startNode({ databaseUrl: standbyUrl, until: 'listening' });
  try {
    await waiting.readiness(503);
    expect(waiting.logs()).toMatch(
      /"level":"warn".*start a node of this version on the primary, which migrates it/,
    );
    const migrating = await startNode({ databaseUrl });
    await migrating.stop();
    await waiting.readiness(200);
  } finally {
    await waiting.kill();
  }
}, 120_000);
