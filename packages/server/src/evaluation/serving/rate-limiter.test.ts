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

test('nothing is kept of keys that are gone', async () => {
  const limiter = new RateLimiter(2);
  const keys = Array.from({ length: 1000 }, (_, index) => {
    const key = makeKey(index);
    limiter.take(key);
    return new WeakRef(key);
  });
  // Weak references last until the turn of the event loop that made them is over.
  await Bun.sleep(0);
  Bun.gc(true);
  // A few may still be on the stack, which the collector reads with caution.
  expect(keys.filter((key) => key.deref() !== undefined).length).toBeLessThan(100);
});
