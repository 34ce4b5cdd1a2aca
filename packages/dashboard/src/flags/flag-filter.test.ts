import { expect, test } from 'bun:test';
import { testFlag } from '../api/test-flag.ts';
import type { FlagRecord, FlagState } from '../api/types.ts';
import { filterFlags, isFiltering, lastChange, readFilter, staleDays } from './flag-filter.ts';

const NOW = Date.parse('2026-03-01T12:00:00Z');

function flag(
  key: string,
  more: Partial<FlagRecord> = {},
  production?: FlagState,
  updatedAt = '2026-01-01T00:00:00Z',
) {
  const environments =
    production === undefined ? {} : { production: { state: production, revision: 1, updatedAt } };
  return testFlag(key, { createdAt: '2025-12-01T00:00:00Z', environments, ...more });
}

const FLAGS: readonly FlagRecord[] = [
  flag(
    'banner',
    { description: 'Text on the front page', tags: ['content'], owner: 'Team Web' },
    { enabled: true, value: 'Hi' },
  ),
  flag('checkout', { tags: ['release'] }, { enabled: false, rolloutPct: 5 }, '2026-03-01T11:30:00Z'),
  flag('dark-mode', { createdAt: '2026-02-27T00:00:00Z' }),
];

function find(search: string): string[] {
  return filterFlags(FLAGS, readFilter(new URLSearchParams(search)), NOW).map(({ key }) => key);
}

test.each([
  ['', ['banner', 'checkout', 'dark-mode']],
  ['q=FRONT+text', ['banner']],
  ['q=release', ['checkout']],
  ['q=web', ['banner']],
  ['q=zebra', []],
  ['state=production:on', ['banner']],
  ['state=production:off', ['checkout']],
  ['state=production:rollout', ['checkout']],
  ['state=production:unset', ['dark-mode']],
  ['state=nonsense', ['banner', 'checkout', 'dark-mode']],
  ['tag=content', ['banner']],
  ['owner=Team+Web', ['banner']],
  ['changed=1h', ['checkout']],
  ['changed=7d', ['checkout', 'dark-mode']],
  ['changed=forever', ['banner', 'checkout', 'dark-mode']],
  ['sort=-key', ['dark-mode', 'checkout', 'banner']],
  ['sort=changed', ['checkout', 'dark-mode', 'banner']],
  ['sort=-changed', ['banner', 'dark-mode', 'checkout']],
  ['sort=created', ['dark-mode', 'banner', 'checkout']],
  ['q=o&tag=release&sort=-key', ['checkout']],
])('the address "?%s" finds %j', (search, keys) => {
  expect(find(search)).toEqual(keys);
});

test('only the order is not a filter', () => {
  expect(isFiltering(readFilter(new URLSearchParams('sort=changed&archived=1')))).toBe(false);
  expect(isFiltering(readFilter(new URLSearchParams('changed=1h')))).toBe(true);
});

test('a flag without states last changed when it was created', () => {
  expect(lastChange(flag('a'))).toEqual({ at: '2025-12-01T00:00:00Z' });
});

test('the last change is that of the newest state, with its author', () => {
  const state = (updatedAt: string, updatedBy?: string) => ({
    state: { enabled: true },
    revision: 1,
    updatedAt,
    ...(updatedBy === undefined ? {} : { updatedBy }),
  });
  const production = state('2026-01-02T00:00:00Z', 'token:ci');
  const staging = state('2026-01-01T00:00:00Z', 'operator:ada@example.com');
  expect(lastChange(flag('a', { environments: { staging, production } }))).toEqual({
    at: '2026-01-02T00:00:00Z',
    by: 'token:ci',
  });
  const older = state('2026-01-03T00:00:00Z');
  expect(lastChange(flag('a', { environments: { production, older } }))).toEqual({
    at: '2026-01-03T00:00:00Z',
  });
  const first = state('2025-12-01T00:00:00Z', 'token:ci');
  expect(lastChange(flag('a', { environments: { first } })).by).toBe('token:ci');
});

test('a flag is unchanged for as long as it is the same in every environment, unless it is permanent', () => {
  const on = { enabled: true };
  const states = (staging: FlagState) => ({
    production: { state: on, revision: 1, updatedAt: '2026-01-01T00:00:00Z' },
    staging: { state: staging, revision: 1, updatedAt: '2026-01-30T12:00:00Z' },
  });
  const alike = { ...flag('alike'), environments: states(on) };
  expect(staleDays(alike, 2, NOW)).toBe(30);
  expect(staleDays(alike, 3, NOW)).toBe(0);
  expect(staleDays({ ...alike, permanent: true }, 2, NOW)).toBe(0);
  expect(staleDays({ ...alike, archivedAt: '2026-02-01T00:00:00Z' }, 2, NOW)).toBe(0);
  expect(staleDays({ ...alike, environments: states({ enabled: false }) }, 2, NOW)).toBe(0);
  expect(staleDays(flag('nowhere'), 2, NOW)).toBe(90);
  // Long values are cut in a list: they may begin alike, and the order of a state's members says nothing.
  const long = (digest: string) => ({ enabled: true, valuePreview: { start: '"aa', bytes: 300, digest } });
  const withLong = (staging: FlagState) => {
    const { production, ...rest } = states(staging);
    return { ...alike, environments: { ...rest, production: { ...production, state: long('1') } } };
  };
  expect(staleDays(withLong({ valuePreview: long('1').valuePreview, enabled: true }), 2, NOW)).toBe(30);
  expect(staleDays(withLong(long('2')), 2, NOW)).toBe(0);
  const person = { favorites: new Set<string>(), owners: [], environments: 2 };
  const found = (changed: string) =>
    filterFlags([alike, flag('nowhere')], readFilter(new URLSearchParams({ changed })), NOW, person).map(
      ({ key }) => key,
    );
  expect([found('stale30'), found('stale90')]).toEqual([['alike', 'nowhere'], ['nowhere']]);
});

test('flags are sorted by their last read, those never read last, and keep their order while reads are not known', () => {
  const readTimes = new Map([
    ['banner', '2026-02-01T00:00:00Z'],
    ['dark-mode', '2026-02-02T00:00:00Z'],
  ]);
  const sorted = (sort: string, known: typeof readTimes | undefined) => {
    const person = { favorites: new Set<string>(), owners: [], environments: 1, readTimes: known };
    return filterFlags(FLAGS, readFilter(new URLSearchParams({ sort })), NOW, person).map(({ key }) => key);
  };
  expect(sorted('read', readTimes)).toEqual(['dark-mode', 'banner', 'checkout']);
  expect(sorted('-read', readTimes)).toEqual(['checkout', 'banner', 'dark-mode']);
  expect(sorted('read', undefined)).toEqual(['banner', 'checkout', 'dark-mode']);
});
