import { expect, test } from 'bun:test';
import { sourceFiles } from '@halyard/testing';
import { ACTION_TEXTS, actionText, targetText, verbAlone } from './action-text.ts';

const SERVER = `${import.meta.dir}/../../../../server/src`;

test('every action of the audit log has words', async () => {
  const actions = new Set<string>();
  for await (const [, text] of sourceFiles(SERVER)) {
    // A noun and a past participle. With a plural it is a kind of log row that has other entries.
    for (const [, name = ''] of text.matchAll(/'((?!flags|records)[a-z]+\.[a-z_]*ed)'/g)) actions.add(name);
  }
  expect(actions.size).toBeGreaterThan(40);
  expect([...actions].filter((action) => !(action in ACTION_TEXTS))).toEqual([]);
});

test('keys, access tokens and relay tokens are shown by their names', () => {
  for (const noun of ['key', 'token', 'relay']) {
    const target = 'f3c0ffee';
    expect(targetText({ action: `${noun}.created`, target, after: { name: 'pipeline' } })).toBe('pipeline');
    expect(targetText({ action: `${noun}.revoked`, target, before: { name: 'pipeline' } })).toBe('pipeline');
    expect(targetText({ action: `${noun}.revoked`, target })).toBe(target);
  }
});

test('a password reset link has words of its own', () => {
  expect(actionText('operator.reset_offered', {})).toBe('created a password reset link for');
});

test('a verb without its target is still a sentence', () => {
  expect(verbAlone('flag.changed', 'turned on')).toBe('turned it on');
  expect(verbAlone('flag.changed', 'changed')).toBe('changed it');
  expect(verbAlone('rollout.advanced', 'rolled out')).toBe('rolled it out');
  expect(verbAlone('rollout.started', 'started a rollout plan for')).toBe('started a rollout plan');
  expect(verbAlone('flag.updated', 'edited the description of')).toBe('edited the description');
});
