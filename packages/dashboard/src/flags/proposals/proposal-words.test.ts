import { expect, test } from 'bun:test';
import type { ProposalRecord } from '../../api/types.ts';
import { titleOf } from './proposal-words.ts';

/** A proposal that changes one state. */
function changing(before: object | undefined, after: object | undefined): ProposalRecord {
  const effects = [{ action: 'flag.changed', target: 'banner', before, after }];
  // All that its title is made of.
  return {
    operation: 'updateFlagState',
    project: 'shop',
    environments: ['production'],
    effects,
  } as unknown as ProposalRecord;
}

test.each([
  ['Turn on banner', undefined, { enabled: true, value: 1 }],
  ['Set banner to off', undefined, { enabled: false }],
  ['Turn on banner', { enabled: false }, { enabled: true }],
  ['Turn off banner', { enabled: true }, { enabled: false }],
  ['Change banner', { enabled: true }, { enabled: true, value: 1 }],
  ['Remove the state of banner', { enabled: true }, undefined],
])('a proposal says what becomes of the flag: %s', (title, before, after) => {
  expect(titleOf(changing(before, after))).toBe(title);
});
