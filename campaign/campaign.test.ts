import { expect, test } from 'bun:test';
import { type CampaignOptions, runCampaign } from './campaign.ts';
import { checkHistory } from './checker/check-history.ts';
import { summarise } from './summary.ts';

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

test('three nodes on one SQLite file keep every promise through faults', async () => {
  const frames = await expectNoViolations({
    engine: 'sqlite-shared',
    seconds: 12,
    faults: ['node killed and started again', 'node frozen', 'key revoked', 'rolling restart'],
  });
  // A machine that is busy with other tests writes few.
  expect(frames).toBeGreaterThan(10);
}, 120_000);

test('two relays in a row keep every promise through faults on their links', async () => {
  const frames = await expectNoViolations({
    engine: 'relay',
    seconds: 25,
    faults: [
      'link cut in the middle of a message',
      'key revoked',
      'link silent',
      'started while its source is away',
      'node killed and started again',
      'link slow',
    ],
  });
  // A machine that is busy with other tests writes few.
  expect(frames).toBeGreaterThan(10);
}, 180_000);

test('nodes that start without PostgreSQL keep every promise', async () => {
  const frames = await expectNoViolations({
    engine: 'cold-start',
    seconds: 20,
    faults: ['started while its source is away', 'database killed', 'key revoked'],
  });
  // A machine that is busy with other tests writes few.
  expect(frames).toBeGreaterThan(10);
}, 180_000);

test('a node with three workers keeps every promise through faults', async () => {
  const frames = await expectNoViolations({
    engine: 'workers',
    seconds: 30,
    faults: [
      'worker killed',
      'worker frozen',
      'key revoked',
      'two workers killed',
      'node frozen',
      'database restarted (fast)',
      'node killed and started again',
      'key expired',
    ],
  });
  // A machine that is busy with other tests writes few.
  expect(frames).toBeGreaterThan(50);
}, 240_000);

/** Returns how many frames were received. The test fails with the stories of the first violations. */
async function expectNoViolations(
  options: Pick<CampaignOptions, 'engine' | 'seconds' | 'faults'>,
): Promise<number> {
  const common = { seed: 1, rate: 40, streams: 4, betweenFaultsMs: 1_500 };
  const { history, faults } = await runCampaign({ ...common, ...options });
  const violations = checkHistory(history);
  if (violations.length > 0) throw new Error(summarise(history, faults, violations));
  expect(history.writes.some((write) => write.outcome === 'acknowledged')).toBe(true);
  return history.streams.reduce((sum, stream) => sum + stream.frames.length, 0);
}
