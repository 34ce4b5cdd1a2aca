import { expect, test } from 'bun:test';
import { testFlag } from '../../api/test-flag.ts';
import type { FlagRecord, FlagState } from '../../api/types.ts';
import { candidates } from './candidates.ts';

const NOW = Date.parse('2026-11-23T00:00:00Z');
const at = (days: number) => new Date(NOW - days * 86_400_000).toISOString();

function flag(key: string, states: readonly FlagState[], more: Partial<FlagRecord> = {}): FlagRecord {
  const names = ['staging', 'production'];
  const updatedAt = more.createdAt ?? at(60);
  const environments = Object.fromEntries(
    states.map((state, index) => [names[index], { state, revision: 1, updatedAt }]),
  );
  return testFlag(key, { createdAt: at(60), environments, ...more });
}

test('a flag may be removed for each reason that holds, and a permanent one is listed apart', () => {
  const [on, off] = [{ enabled: true }, { enabled: false }];
  const flags = [
    flag('done', [on, on]),
    flag('done-and-read', [on, on], { createdAt: at(40) }),
    flag('full-rollout', [
      { ...on, rolloutPct: 100 },
      { ...on, rolloutPct: 100 },
    ]),
    flag('half', [
      { ...on, rolloutPct: 50 },
      { ...on, rolloutPct: 50 },
    ]),
    flag('off', [off, off]),
    flag('missing-somewhere', [on]),
    flag('constructor', []),
    flag('different', [on, off]),
    flag('new', [on, on], { createdAt: at(3) }),
    flag('limit', [on, on], { permanent: true }),
  ];
  const archived = [
    flag('gone', [on], { archivedAt: at(91) }),
    flag('just-archived', [on, on], { archivedAt: at(5) }),
  ];
  const read = ['done-and-read', 'full-rollout', 'half', 'off', 'missing-somewhere'];
  const lastReads = Object.fromEntries(read.map((key) => [key, at(1)]));
  const keysOf = (counted: boolean) =>
    Object.entries(
      candidates(flags, archived, {
        environments: 2,
        lastReads: counted ? { lastReads, environments: {} } : undefined,
        now: NOW,
      }),
    ).map(([reason, list]) => [reason, list.map(({ key }) => key)]);

  expect(keysOf(true)).toEqual([
    ['done', ['done', 'full-rollout', 'done-and-read']],
    ['unread', ['done', 'constructor', 'different']],
    ['same', ['half', 'off', 'constructor']],
    ['permanent', ['limit']],
    ['archived', ['gone']],
  ]);
  expect(keysOf(false)[1]).toEqual(['unread', []]);
});
