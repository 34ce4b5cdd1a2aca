import { expect, test } from 'bun:test';
import { findOutcome, type ReferenceRecord, STILL_POSSIBLE_MS } from './lost-answer.ts';

const NOTHING: ReferenceRecord = { changes: [], running: false };

/** Finds out with these answers, the last one for ever, in a time that passes in pauses only. */
async function outcome(answers: readonly (ReferenceRecord | 'unknown' | undefined)[], mostMs?: number) {
  let [at, asked] = [0, 0];
  const found = await findOutcome({
    ask: async () => answers[Math.min(asked++, answers.length - 1)],
    pause: async (ms) => {
      at += ms;
    },
    now: () => at,
    ...(mostMs === undefined ? {} : { mostMs }),
  });
  return { found, at, asked };
}

test('finds the changes of a request that was made, however long the server is away', async () => {
  const made = { changes: [{ seq: 41 }, { seq: 42 }], running: false };
  expect(await outcome([made])).toEqual({ found: [41, 42], at: 0, asked: 1 });
  const { found, at } = await outcome([...Array.from({ length: 50 }, () => undefined), made]);
  expect(found).toEqual([41, 42]);
  expect(at).toBeGreaterThan(60_000);
});

test('a request of which nothing is found counts as not made once it can no longer be on its way', async () => {
  const { found, at } = await outcome([NOTHING]);
  expect(found).toBe('none');
  expect(at).toBeGreaterThanOrEqual(STILL_POSSIBLE_MS);
});

test('waits while the server is still answering the request, and for all of its changes', async () => {
  const running = { changes: [{ seq: 1 }], running: true };
  const most = Array.from({ length: 30 }, () => ({ ...NOTHING, running: true }));
  const done = { changes: [{ seq: 1 }, { seq: 2 }], running: false };
  expect((await outcome([...most, running, done])).found).toEqual([1, 2]);
});

test('is unknown where the server cannot say, and when it gives up', async () => {
  expect((await outcome([undefined, 'unknown'])).found).toBe('unknown');
  expect((await outcome([undefined], 60_000)).found).toBe('unknown');
});
