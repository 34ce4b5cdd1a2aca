import { describe, expect, test } from 'bun:test';
import type { FlagRecord } from '../../api/types.ts';
import { isNamed, matchCommands, matchFlags, shareIn } from './match.ts';

const ENVIRONMENTS = ['development', 'staging', 'production'];

describe('flags that match a text', () => {
  const flags = ['checkout', 'new-checkout', 'precheckout', 'on-call', 'banner'].map((key) => flag(key));

  test('are ordered by match: beginning of the key, beginning of a word, anywhere', () => {
    expect(keysOf(matchFlags(flags, 'check', options(10)))).toEqual([
      'checkout',
      'new-checkout',
      'precheckout',
    ]);
  });

  test('are found by their description last', () => {
    const described = [flag('a', 'The banner above'), flag('banner')];
    expect(keysOf(matchFlags(described, 'banner', options(10)))).toEqual(['banner', 'a']);
  });

  test('are found when the text also names an action and an environment', () => {
    expect(keysOf(matchFlags(flags, 'turn off new prod', options(10)))).toEqual(['new-checkout']);
  });

  test('can have a verb as their key', () => {
    expect(keysOf(matchFlags(flags, 'on', options(10)))).toEqual(['on-call']);
  });

  test('are limited in number, among ten thousand', () => {
    const many = Array.from({ length: 10_000 }, (_, index) => flag(`flag-${index}`));
    expect(keysOf(matchFlags(many, 'flag-9999', options(8)))).toEqual(['flag-9999']);
    expect(matchFlags(many, 'flag', options(8))).toHaveLength(8);
  });
});

test('a command matches by every word, in its title, heading or keywords', () => {
  const run = (): void => {};
  const commands = [
    { id: '1', title: 'Use the dark theme', group: 'Settings', keywords: ['appearance'], run },
  ];
  expect(matchCommands(commands, 'THEME appear')).toHaveLength(1);
  expect(matchCommands(commands, 'theme light')).toHaveLength(0);
});

test('a text names a screen when it begins one of its words', () => {
  const screen = { id: '1', title: 'Relay tokens', group: 'Go to', run: () => {} };
  expect([' rel', 'TOK', 'relay tok'].map((text) => isNamed(screen, text))).toEqual([true, true, true]);
  expect(['', 'lay', 'relay-tokens'].map((text) => isNamed(screen, text))).toEqual([false, false, false]);
});

test.each([
  ['checkout 25 %', { share: 25, rest: 'checkout', isPercent: true }],
  ['12.5% checkout', { share: 12.5, rest: 'checkout', isPercent: true }],
  ['rollout checkout 0,1', { share: 0.1, rest: 'rollout checkout', isPercent: true }],
  ['checkout 25', { share: 25, rest: 'checkout', isPercent: false }],
  ['checkout-25', undefined],
  ['checkout 101 %', undefined],
])('the share in "%s"', (text, expected) => {
  if (expected === undefined) expect(shareIn(text)).toBeUndefined();
  else expect(shareIn(text)).toMatchObject(expected);
});

function flag(key: string, description = ''): FlagRecord {
  return {
    key,
    description,
    tags: [],
    owner: '',
    permanent: false,
    valueKind: 'any',
    createdAt: '2027-01-01T00:00:00Z',
    environments: {},
  };
}

function options(most: number) {
  return { environments: ENVIRONMENTS, most };
}

function keysOf(flags: readonly FlagRecord[]): readonly string[] {
  return flags.map(({ key }) => key);
}
