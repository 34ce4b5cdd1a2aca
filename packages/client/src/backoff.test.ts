import { describe, expect, test } from 'bun:test';
import { type Backoff, createBackoff } from './backoff.ts';
import { FlagsError } from './errors.ts';
import { parseRetryAfter } from './refusal.ts';

function delays(backoff: Backoff, count: number, isRefusal = false): number[] {
  return Array.from({ length: count }, () =>
    backoff.delayAfter(new FlagsError(isRefusal ? 'environment_not_found' : 'network_error', '')),
  );
}

describe('createBackoff', () => {
  test('doubles from 1 s to 30 s, with the full range below as jitter', () => {
    const greatest = createBackoff(() => 1);
    expect(delays(greatest, 8)).toEqual([1000, 2000, 4000, 8000, 16000, 30000, 30000, 30000]);
    expect(
      delays(
        createBackoff(() => 0),
        4,
      ),
    ).toEqual([0, 0, 0, 0]);
    expect(
      delays(
        createBackoff(() => 0.5),
        3,
      ),
    ).toEqual([500, 1000, 2000]);
  });

  test('goes from 60 s to 5 min after refusals, never less than half of that', () => {
    expect(
      delays(
        createBackoff(() => 1),
        5,
        true,
      ),
    ).toEqual([60000, 120000, 240000, 300000, 300000]);
    expect(
      delays(
        createBackoff(() => 0),
        3,
        true,
      ),
    ).toEqual([30000, 60000, 120000]);
  });

  test('starts again after a reset, and stays finite for ever', () => {
    const backoff = createBackoff(() => 1);
    expect(delays(backoff, 5000).at(-1)).toBe(30000);
    backoff.startAgain();
    expect(delays(backoff, 1)).toEqual([1000]);
  });

  test('waits at least as long as the server asked for, with jitter on top', () => {
    const backoff = createBackoff(() => 0.5);
    expect(backoff.delayAfter(new FlagsError('rate_limited', '', { retryInMs: 7000 }))).toBe(7500);
    expect(
      backoff.delayAfter(new FlagsError('invalid_api_key', '', { status: 401, retryInMs: 90_000 })),
    ).toBe(90_000 + 90_000);
  });

  test('takes the first delay a server sets', () => {
    const backoff = createBackoff(() => 1);
    backoff.firstMs = 5000;
    expect(delays(backoff, 4)).toEqual([5000, 10000, 20000, 30000]);
  });
});

describe('parseRetryAfter', () => {
  const now = Date.UTC(2026, 0, 1);
  test.each([
    ['5', 5000],
    [' 0 ', 0],
    ['1000000000', 3_600_000],
    [new Date(now + 9000).toUTCString(), 9000],
    [new Date(now - 9000).toUTCString(), undefined],
    ['soon', undefined],
    ['-3', undefined],
    ['', undefined],
    [null, undefined],
  ])('%j is %p ms', (text, expected) => {
    expect(parseRetryAfter(text, now)).toBe(expected);
  });
});
