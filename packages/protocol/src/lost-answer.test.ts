import { expect, test } from 'bun:test';
import { type ClosedReference, findOutcome, PATIENCE_MS, type ReferenceRecord } from './lost-answer.ts';

const NOTHING: ReferenceRecord = { changes: [], running: false };
const RUNNING: ReferenceRecord = { changes: [], running: true };
const CLOSED: ClosedReference = { changes: [], closed: true };

type Answer<T> = T | 'unknown' | undefined;

/** Finds out with these answers, the last one of each for ever, in a time that passes in pauses only. */
async function outcome(
  answers: readonly Answer<ReferenceRecord>[],
  { closings = [CLOSED], mostMs }: { closings?: readonly Answer<ClosedReference>[]; mostMs?: number } = {},
) {
  let at = 0;
  const closedAt: number[] = [];
  let asked = 0;
  const found = await findOutcome({
    ask: async () => answers[Math.min(asked++, answers.length - 1)],
    close: async () => closings[Math.min(closedAt.push(at), closings.length) - 1],
    pause: async (ms) => {
      at += ms;
    },
    now: () => at,
    ...(mostMs === undefined ? {} : { mostMs }),
  });
  return { found, at, asked, closedAt };
}

test('finds the changes of a request that was made, however long the server is away', async () => {
  const made = { changes: [{ seq: 41 }, { seq: 42 }], running: false };
  expect(await outcome([made])).toEqual({ found: [41, 42], at: 0, asked: 1, closedAt: [] });
  const { found, at } = await outcome([...Array.from({ length: 50 }, () => undefined), made]);
  expect(found).toEqual([41, 42]);
  expect(at).toBeGreaterThan(60_000);
});

test('a request of which nothing is found counts as not made only once its reference is closed', async () => {
  const { found, closedAt } = await outcome([NOTHING], { closings: [undefined, undefined, CLOSED] });
  expect([found, closedAt.length]).toEqual(['none', 3]);
  expect(closedAt[0]).toBeGreaterThanOrEqual(PATIENCE_MS);
});

test('finds the changes that were made before the reference could be closed', async () => {
  const made = { changes: [{ seq: 7 }], closed: false };
  expect((await outcome([NOTHING], { closings: [made] })).found).toEqual([7]);
});

test('waits while the server is still answering the request, and for all of its changes', async () => {
  const most = Array.from({ length: 30 }, () => RUNNING);
  const running = { changes: [{ seq: 1 }], running: true };
  const done = { changes: [{ seq: 1 }, { seq: 2 }], running: false };
  expect(await outcome([...most, running, done])).toMatchObject({ found: [1, 2], closedAt: [] });
});

test('is unknown where the server cannot say, and when it gives up', async () => {
  expect((await outcome([undefined, 'unknown'])).found).toBe('unknown');
  expect((await outcome([undefined], { mostMs: 60_000 })).found).toBe('unknown');
  expect((await outcome([NOTHING], { closings: ['unknown'] })).found).toBe('unknown');
  expect((await outcome([NOTHING], { closings: [{ changes: [], closed: false }] })).found).toBe('unknown');
  expect((await outcome([NOTHING], { closings: [undefined], mostMs: 60_000 })).found).toBe('unknown');
});
