import { expect, test } from 'bun:test';
import { actionText, targetText } from './action-text.ts';

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
