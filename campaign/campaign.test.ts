import { expect, test } from 'bun:test';
import { javascriptClient } from './client-reader.ts';
import { expectNoViolations } from './test-campaign.ts';

test('three nodes on PostgreSQL keep every promise through faults', async () => {
  const frames = await expectNoViolations({
    engine: 'postgres',
    seconds: 40,
    faults: [
      'database restarted (fast)',
      'black hole',
      'node killed and started again',
      'key revoked',
      'database killed',
      'connections reset',
      'node frozen',
      'key expired',
      'all sessions terminated',
    ],
  });
  expect(frames).toBeGreaterThan(200);
}, 240_000);

test('one node on SQLite keeps every promise through faults', async () => {
  const frames = await expectNoViolations({
    engine: 'sqlite',
    seconds: 12,
    faults: ['node killed and started again', 'node frozen', 'key revoked', 'rolling restart'],
  });
  // A machine that is busy with other tests writes few.
  expect(frames).toBeGreaterThan(10);
}, 120_000);

test('three nodes on one SQLite file, and a client library, keep every promise through faults', async () => {
  const frames = await expectNoViolations({
    engine: 'sqlite-shared',
    seconds: 12,
    // `bun run campaign --clients` has one of each language.
    clients: [javascriptClient()],
    faults: ['node killed and started again', 'node frozen', 'key revoked', 'rolling restart'],
  });
  // A machine that is busy with other tests writes few.
  expect(frames).toBeGreaterThan(10);
}, 120_000);
