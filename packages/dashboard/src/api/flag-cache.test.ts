import { expect, test } from 'bun:test';
import { mergeChange } from './flag-cache.ts';
import { testFlag } from './test-flag.ts';
import type { FlagRecord } from './types.ts';

const at = '2026-01-01T00:00:00.000Z';

function flag(key: string, revision: number): FlagRecord {
  const development = { state: { enabled: false }, revision, updatedAt: at };
  return testFlag(key, { environments: { development } });
}

function change(revision: number, ...keys: readonly string[]) {
  const changes = keys.map((key) => ({ key, state: { enabled: true } }));
  return {
    seq: 9,
    kind: 'flags.changed',
    environment: 'development',
    revision,
    at,
    actor: 'token:ci',
    changes,
  };
}

test('a change replaces the states it names and leaves other records alone', () => {
  const flags = [flag('a', 1), flag('b', 2)];
  const merged = mergeChange(flags, change(3, 'b'));
  expect(merged.flags[0]).toBe(flags[0] as FlagRecord);
  expect(merged.flags[1]?.environments.development).toEqual({
    state: { enabled: true },
    revision: 3,
    updatedAt: at,
    updatedBy: 'token:ci',
  });
  expect(merged.unknown).toEqual([]);
});

test('the same or a newer state is kept', () => {
  const flags = [flag('a', 5)];
  expect(mergeChange(flags, change(5, 'a')).flags[0]).toBe(flags[0] as FlagRecord);
  expect(mergeChange(flags, change(4, 'a')).flags[0]).toBe(flags[0] as FlagRecord);
});

test('a removed state disappears only in its environment', () => {
  const removal = { ...change(6), changes: [{ key: 'a', state: null }] };
  const [merged] = mergeChange([flag('a', 5)], removal).flags;
  expect(merged?.environments).toEqual({});
});

test('flags that are missing from the list are reported', () => {
  expect(mergeChange([flag('a', 1)], change(2, 'a', 'new')).unknown).toEqual(['new']);
});

test('a key that is also a property of every object works', () => {
  const merged = mergeChange(
    [flag('__proto__', 1), flag('constructor', 1)],
    change(2, '__proto__', 'constructor'),
  );
  expect(merged.flags.map(({ environments }) => environments.development?.state.enabled)).toEqual([
    true,
    true,
  ]);
});
