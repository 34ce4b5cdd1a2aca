import { describe, expect, test } from 'bun:test';
import { formatProjectKey } from '@halyard/protocol';
import type { StoredKey } from '../../domain/change-log.ts';
import { type KeyEntry, KeyIndex, type ServedKeys } from './key-index.ts';

const NOW = 1_800_000_000_000;
const KEY = formatProjectKey(new Uint8Array(32).fill(7));
const RECORD: StoredKey = {
  id: 'key-1',
  projectId: 'project-1',
  digest: Bun.SHA256.hash(KEY, 'hex'),
  environments: '["production"]',
  expiresAt: null,
};

function indexOf(record: StoredKey): KeyIndex {
  const index = new KeyIndex(() => NOW);
  index.add(record);
  return index;
}

describe('KeyIndex', () => {
  test('a stored key opens its project and environments', () => {
    const entry = indexOf(RECORD).authenticate(KEY);
    expect(entry).toMatchObject({ id: 'key-1', projectId: 'project-1' });
    expect([...(entry?.environments ?? [])]).toEqual(['production']);
  });

  test.each([
    ['missing', null],
    ['empty', ''],
    ['unknown', formatProjectKey(new Uint8Array(32).fill(8))],
    ['doubled', `${KEY}, ${KEY}`],
    ['oversized', KEY + 'x'.repeat(100_000)],
    ['its digest instead of it', String(RECORD.digest)],
  ])('a header that is %s grants no access', (_, header) => {
    expect(indexOf(RECORD).authenticate(header)).toBeUndefined();
  });

  test('a key does not open a deleted environment, and is the same after its record was read again', () => {
    const index = indexOf({ ...RECORD, environments: '["production","staging"]' });
    index.removeEnvironment('project-1', 'production');
    const [record] = index.served()[0] ?? [];
    expect(record?.environments).toEqual(['staging', 'production (deleted)']);
    const [before, after] = [index, indexOf(record as StoredKey)].map((each) => each.authenticate(KEY));
    // The only one that is left is the one that a request without a name means.
    expect([...(before?.environments ?? [])]).toEqual(['staging']);
    expect(after).toEqual(before as KeyEntry);
  });

  test('records are of the moment in which they were asked for, however late they are read', () => {
    const index = indexOf({ ...RECORD, environments: '["production","staging"]' });
    const [keys = []] = index.served();
    expect(index.served()[0]).toBe(keys as ServedKeys);
    index.removeEnvironment('project-1', 'production');
    expect(index.served()[0]).not.toBe(keys as ServedKeys);
    expect([...keys].map(({ environments }) => environments)).toEqual([['production', 'staging']]);
    index.remove(String(RECORD.digest));
    expect(index.served()).toEqual([]);
  });

  test('a live key is found by its id, until it is removed or has expired', () => {
    const index = indexOf(RECORD);
    expect(index.withId('key-1')).toBe(index.authenticate(KEY));
    expect(index.withId('key-2')).toBeUndefined();
    index.remove(String(RECORD.digest));
    expect(index.withId('key-1')).toBeUndefined();
    expect(indexOf({ ...RECORD, expiresAt: NOW }).withId('key-1')).toBeUndefined();
    index.add(RECORD);
    expect(index.removeProject('project-1')).toEqual(['key-1']);
    expect(index.withId('key-1')).toBeUndefined();
    index.add(RECORD);
    index.takeAll(new KeyIndex(() => NOW));
    expect(index.withId('key-1')).toBeUndefined();
  });

  test('a key grants no access from its expiry on', () => {
    expect(indexOf({ ...RECORD, expiresAt: NOW + 1 }).authenticate(KEY)).toBeDefined();
    expect(indexOf({ ...RECORD, expiresAt: NOW }).authenticate(KEY)).toBeUndefined();
  });

  const damaged: [string, Partial<Record<keyof StoredKey, unknown>>][] = [
    ...[
      '',
      'null',
      '{}',
      '[]',
      '[""]',
      '[1]',
      '["a",null]',
      '["production"',
      '"production"',
      'production',
      '0',
      'true',
      '\u0000',
    ].map((environments): [string, Partial<StoredKey>] => [
      `environments ${JSON.stringify(environments)}`,
      { environments },
    ]),
    ...[42, null, undefined, {}, new Uint8Array([91, 93]), 'x'.repeat(1_000_000)].map(
      (environments, i): [string, Partial<StoredKey>] => [
        `environments of a wrong type (${i})`,
        { environments },
      ],
    ),
    ...[
      '',
      'never',
      '0',
      0,
      -1,
      1.5,
      Number.NaN,
      Number.POSITIVE_INFINITY,
      2 ** 60,
      {},
      new Uint8Array(8),
    ].map((expiresAt, i): [string, Partial<StoredKey>] => [
      `expiry ${String(expiresAt)} (${i})`,
      { expiresAt },
    ]),
    ['id null', { id: null }],
    ['id of a number', { id: 7 }],
    ['id empty', { id: '' }],
    ['project null', { projectId: null }],
    ['project empty', { projectId: '' }],
    ['digest null', { digest: null }],
    ['digest truncated', { digest: String(RECORD.digest).slice(1) }],
    ['digest upper case', { digest: String(RECORD.digest).toUpperCase() }],
  ];

  test.each(damaged)('a record with %s is malformed and opens nothing', (_, damage) => {
    const index = new KeyIndex(() => NOW);
    // A damaged row can hold anything; that is what is tested.
    expect(index.add({ ...RECORD, ...damage } as StoredKey)).toBe(false);
    expect(index.authenticate(KEY)).toBeUndefined();
  });

  test('tries at least thirty kinds of damage', () => {
    expect(damaged.length).toBeGreaterThanOrEqual(30);
  });

  test('a use is reported once, by id', () => {
    const index = indexOf(RECORD);
    expect(index.takeUsed()).toEqual([]);
    index.authenticate(KEY);
    index.authenticate(KEY);
    expect(index.takeUsed()).toEqual(['key-1']);
    expect(index.takeUsed()).toEqual([]);
  });

  test('a removed key stops working at once', () => {
    const index = indexOf(RECORD);
    index.remove(String(RECORD.digest));
    expect(index.authenticate(KEY)).toBeUndefined();
  });

  test('a removed key stays known, until ten thousand others have been removed', () => {
    const index = indexOf(RECORD);
    const other = formatProjectKey(new Uint8Array(32).fill(8));
    expect([index.knows(KEY), index.knows(other)]).toEqual([true, false]);
    // It cannot be a key, also not a new one.
    expect(index.knows('x'.repeat(257))).toBe(true);
    index.remove(String(RECORD.digest));
    expect(index.knows(KEY)).toBe(true);
    for (let n = 0; n < 10_000; n++) {
      const digest = Bun.SHA256.hash(String(n), 'hex');
      index.add({ ...RECORD, id: `other-${n}`, digest });
      index.remove(digest);
    }
    expect(index.knows(KEY)).toBe(false);
  });

  test('counts live keys, and reports each expiry once, again after the clock was set back', () => {
    let now = NOW;
    const index = new KeyIndex(() => now);
    const other = {
      ...RECORD,
      id: 'key-2',
      digest: Bun.SHA256.hash('another', 'hex'),
      expiresAt: NOW + 1_000,
    };
    index.add(RECORD);
    index.add(other);
    index.add(other);
    expect([index.size, index.nextExpiry()]).toEqual([2, NOW + 1_000]);
    expect(index.takeExpired()).toEqual([]);
    now += 1_000;
    expect(index.takeExpired()).toEqual(['key-2']);
    expect(index.takeExpired()).toEqual([]);
    expect(index.size).toBe(1);
    now = NOW;
    expect(index.takeExpired()).toEqual([]);
    expect([index.size, index.nextExpiry()]).toEqual([2, NOW + 1_000]);
    now += 1_000;
    expect(index.takeExpired()).toEqual(['key-2']);
    now += 86_400_000;
    expect(index.takeExpired()).toEqual([]);
    expect([index.size, index.nextExpiry()]).toEqual([1, Number.POSITIVE_INFINITY]);
  });
});
