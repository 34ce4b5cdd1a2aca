import { expect, test } from 'bun:test';
import { expectNoViolations } from './test-campaign.ts';

test('two relays in a row keep every promise through faults on their links', async () => {
  const frames = await expectNoViolations({
    engine: 'relay',
    seconds: 25,
    faults: [
      'link cut in the middle of a message',
      'key revoked',
      'link half-closed',
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
