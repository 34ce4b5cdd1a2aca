import { describe, expect, test } from 'bun:test';
import { formatProjectKey, hasValidChecksum, PROJECT_KEY_PATTERN } from './project-key.ts';

const KEY = formatProjectKey(crypto.getRandomValues(new Uint8Array(32)));

describe('project key', () => {
  test('is the prefix and 49 base62 characters, whatever the bytes', () => {
    for (const fill of [0, 1, 127, 255]) {
      const key = formatProjectKey(new Uint8Array(32).fill(fill));
      expect(key).toMatch(new RegExp(`^${PROJECT_KEY_PATTERN.source}$`));
    }
  });

  test('different bytes give different keys, the same bytes the same', () => {
    const keys = new Set(
      Array.from({ length: 10_000 }, () => formatProjectKey(crypto.getRandomValues(new Uint8Array(32)))),
    );
    expect(keys.size).toBe(10_000);
    expect(formatProjectKey(new Uint8Array(32))).toBe(formatProjectKey(new Uint8Array(32)));
  });

  test('requires the full number of random bytes', () => {
    expect(() => formatProjectKey(new Uint8Array(31))).toThrow('32 random bytes');
  });

  test('a mistyped character breaks the checksum', () => {
    expect(hasValidChecksum(KEY)).toBe(true);
    const wrong = KEY[20] === 'a' ? 'b' : 'a';
    expect(hasValidChecksum(KEY.slice(0, 20) + wrong + KEY.slice(21))).toBe(false);
    expect(hasValidChecksum(KEY.slice(0, -1))).toBe(false);
  });
});
