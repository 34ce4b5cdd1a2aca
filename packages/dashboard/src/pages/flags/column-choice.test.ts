import { expect, test } from 'bun:test';
import type { EnvironmentRecord } from '../../api/types.ts';
import { columnsOf, parseChoice } from './column-choice.ts';

const ENVIRONMENTS = ['development', 'staging', 'production'].map(
  (name, position): EnvironmentRecord => ({
    name,
    position,
    color: 'gray',
    protected: false,
    approvals: 0,
    emergencyOff: true,
    reasonRequired: false,
    revision: 1,
    createdAt: '2026-01-01T00:00:00Z',
  }),
);

function shown(text: string | undefined, only?: string): string {
  const one = ENVIRONMENTS.find(({ name }) => name === only);
  const { environments, pinned, extra } = columnsOf({ environments: ENVIRONMENTS }, parseChoice(text), one);
  return [...environments, pinned, ...extra]
    .map((each) => (typeof each === 'number' ? each : each.name))
    .join(' ');
}

test.each([
  [undefined, 'development staging production 0 :changed'],
  ['nonsense', 'development staging production 0 :changed'],
  ['{"hidden":7}', 'development staging production 0 :changed'],
  [JSON.stringify({ hidden: ['staging', 'gone'] }), 'development production 0 :changed'],
  [JSON.stringify({ pinned: ['production'] }), 'production development staging 1 :changed'],
  [JSON.stringify({ hidden: [':changed'], added: [':owner'] }), 'development staging production 0 :owner'],
])('the stored choice %j shows %s', (text, columns) => {
  expect(shown(text)).toBe(columns);
});

test('when flags were last read has a column where the project counts reads', () => {
  const hasRead = (usageSince: string | undefined, text?: string) =>
    columnsOf(
      { environments: ENVIRONMENTS, ...(usageSince && { usageSince }) },
      parseChoice(text),
      undefined,
    ).extra.some(({ name }) => name === ':read');
  expect(hasRead(undefined)).toBe(false);
  expect(hasRead('2026-01-01T00:00:00Z')).toBe(true);
  expect(hasRead('2026-01-01T00:00:00Z', JSON.stringify({ hidden: [':read'] }))).toBe(false);
});

test('an environment that all screens are limited to is shown even if its column is hidden', () => {
  expect(shown(JSON.stringify({ hidden: ['staging'] }), 'staging')).toBe('staging 0 :changed');
});
