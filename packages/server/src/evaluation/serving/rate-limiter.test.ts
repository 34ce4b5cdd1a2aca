import { expect, test } from 'bun:test';
import { RateLimiter } from './rate-limiter.ts';

/** One of the keys that come and go. */
const makeKey = (index: number) => ({ id: `key-${index}` });

test('a key has a burst and then waits, whatever other keys do', () => {
  let now = 0;
  const limiter = new RateLimiter(2, () => now);
  const [a, b] = [makeKey(1), makeKey(2)];
  expect([1, 2, 3].map(() => limiter.take(a))).toEqual([0, 0, 1]);
  expect(limiter.take(b)).toBe(0);
  now = 500;
  expect([1, 2].map(() => limiter.take(a))).toEqual([0, 1]);
});

test('processes that pay for each other keep to one limit together, but for the first burst', () => {
  let now = 0;
  const limiters = [1, 2].map(() => new RateLimiter(100, () => now));
  const key = makeKey(1);
  for (const limiter of limiters) limiter.takePassed();
  let passed = 0;
  for (; now < 10_000; now += 100) {
    for (const limiter of limiters) for (let n = 0; n < 100; n++) if (limiter.take(key) === 0) passed++;
    const counts = limiters.map((limiter) => limiter.takePassed().get(key.id) ?? 0);
    limiters[0]?.pay(key.id, counts[1] ?? 0);
    limiters[1]?.pay(key.id, counts[0] ?? 0);
  }
  // Ten seconds of the limit, and at most a burst of each.
  expect(passed).toBeGreaterThan(990);
  expect(passed).toBeLessThanOrEqual(1200);
});

test('removes the buckets of keys that are not in use', () => {
  let now = 0;
  const limiter = new RateLimiter(2, () => now);
  const busy = makeKey(0);
  for (let index = 1; index <= 10_000; index++) {
    now += 2000;
    limiter.take(makeKey(index));
    // Its bucket is never full, so it stays.
    for (let n = 0; n < 5; n++) limiter.take(busy);
  }
  expect(limiter.size).toBeLessThanOrEqual(1000);
  expect(limiter.take(busy)).toBeGreaterThan(0);
});
