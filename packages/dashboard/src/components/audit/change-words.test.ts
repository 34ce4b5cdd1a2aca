import { expect, test } from 'bun:test';
import { defined } from '@halyard/protocol';
import type { Json } from '../../api/types.ts';
import { changeWords, netDetails } from './change-words.ts';

const on = { enabled: true };
const ADA = 'operator:ada@example.com';

/** The words as they are read: "turned on · rollout 25 % → 50 %". */
function read(action: string, before?: Json | undefined, after?: Json | undefined): string {
  const { verb, details } = changeWords({ action, actor: ADA, ...defined({ before, after }) }, (actor) => ({
    name: actor === 'operator:grace@example.com' ? 'Grace Hopper' : actor,
  }));
  return [verb, ...details.map(textOf)].join(' · ');
}

function textOf({ label, before, after }: { label: string; before?: string; after?: string }): string {
  return [label, before, before === undefined ? undefined : '→', after]
    .filter((part) => part !== undefined)
    .join(' ');
}

test.each<[expected: string, action: string, before?: Json | undefined, after?: Json | undefined]>([
  ['turned on', 'flag.changed', { enabled: false }, on],
  ['turned off', 'flag.changed', on, { enabled: false }],
  ['changed · rollout 25 % → 50 %', 'flag.changed', { ...on, rolloutPct: 25 }, { ...on, rolloutPct: 50 }],
  ['changed · rollout 25 % → everyone', 'flag.changed', { ...on, rolloutPct: 25 }, on],
  [
    'turned off · rollout 5 % → everyone when on',
    'flag.changed',
    { ...on, rolloutPct: 5 },
    { enabled: false },
  ],
  ['turned on · rollout everyone → 5 %', 'flag.changed', { enabled: false }, { ...on, rolloutPct: 5 }],
  ['changed · value 10 → "ten"', 'flag.changed', { ...on, value: 10 }, { ...on, value: 'ten' }],
  ['changed · value 1', 'flag.changed', on, { ...on, value: 1 }],
  ['changed · value removed', 'flag.changed', { ...on, value: 1 }, on],
  ['added · on · rollout 25 % · value 1', 'flag.changed', undefined, { ...on, rolloutPct: 25, value: 1 }],
  ['added · off', 'flag.changed', undefined, { enabled: false }],
  ['removed', 'flag.changed', on, undefined],
  ['changed · formatting only', 'flag.changed', on, on],
  [
    'rolled out · rollout 5 % → 25 % · step 2 of 3 of the plan by Grace Hopper',
    'rollout.advanced',
    undefined,
    { step: 2, of: 3, from: 5, to: 25, startedBy: 'operator:grace@example.com' },
  ],
  [
    'rolled out · rollout 5 % → 25 % · step 2 of 3',
    'rollout.advanced',
    undefined,
    { step: 2, of: 3, from: 5, to: 25, startedBy: ADA },
  ],
  [
    'rolled out · rollout 5 % → 25 % · step 2 of 3 of the plan by token:ci',
    'rollout.advanced',
    undefined,
    { step: 2, of: 3, from: 5, to: 25, startedBy: 'token:ci' },
  ],
  [
    'started a rollout plan for · 5, 100 %',
    'rollout.started',
    undefined,
    { steps: [{ rolloutPct: 5 }, { rolloutPct: 100, waitMinutes: 60 }] },
  ],
  ['paused the rollout plan of · errors rise', 'rollout.paused', undefined, { reason: 'errors rise' }],
  ['resumed the rollout plan of · step 2 of 3', 'rollout.resumed', undefined, { step: 2, of: 3 }],
  ['edited the description of', 'flag.updated', { description: 'a' }, { description: 'b' }],
  ['changed the tags of · +new −old', 'flag.updated', { tags: ['old', 'x'] }, { tags: ['x', 'new'] }],
  [
    'changed the owner of · owner none → Grace Hopper',
    'flag.updated',
    { owner: '' },
    { owner: 'grace@example.com' },
  ],
  ['edited the environment · color red → blue', 'environment.updated', { color: 'red' }, { color: 'blue' }],
  [
    'edited the environment · protected no → yes',
    'environment.updated',
    { protected: false },
    { protected: true },
  ],
  [
    'edited the environment · every change needs a reason no → yes',
    'environment.updated',
    {},
    { reasonRequired: true },
  ],
  ['changed the person · role editor → admin', 'operator.changed', { role: 'editor' }, { role: 'admin' }],
  ['created the flag', 'flag.created', undefined, { description: 'a' }],
])('%s', (expected, action, before, after) => {
  expect(read(action, before, after)).toBe(expected);
});

test('a long value is described by its only changed field, or by their number', () => {
  const hosts = { first: 'eu-1.harbour.example', second: 'eu-2.harbour.example', limit: 1 };
  const value = (changes: object) => ({ ...on, value: { ...hosts, ...changes } });
  expect(read('flag.changed', value({}), value({ limit: 2 }))).toBe('changed · value.limit 1 → 2');
  expect(read('flag.changed', value({}), value({ limit: 2, first: 'x' }))).toBe(
    'changed · value: 2 fields changed',
  );
  expect(read('flag.changed', value({}), { ...on, value: 1 })).toBe('changed · value replaced');
  expect(read('flag.changed', value({}), value({}))).toBe('changed · formatting only');
});

test('several changes of a state add up', () => {
  const details = netDetails({ enabled: false, rolloutPct: 5 }, { ...on, rolloutPct: 50 });
  expect(details.map(textOf)).toEqual(['switch off → on', 'rollout 5 % → 50 %']);
  expect(netDetails(undefined, { ...on, rolloutPct: 5 }).map(textOf)).toEqual(['on', 'rollout 5 %']);
  expect(netDetails(on, on)).toEqual([]);
});

test('a time is shown as people write it, not as the server does', () => {
  const expiresAt = '2026-12-06T09:43:45.467Z';
  const words = read('key.replaced', { name: 'ops' }, { name: 'ops', expiresAt });
  expect(words).toMatch(/^replaced the project key · expires none → Dec [5-7], 2026, \d+:\d\d\s[AP]M$/);
});
