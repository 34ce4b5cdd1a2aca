import { expect, test } from 'bun:test';
import { actionText, targetText } from './action-text.ts';

test('keys and access tokens are called by their names, made and revoked', () => {
  for (const noun of ['key', 'token']) {
    const target = 'f3c0ffee';
    expect(targetText({ action: `${noun}.created`, target, after: { name: 'pipeline' } })).toBe('pipeline');
    expect(targetText({ action: `${noun}.revoked`, target, before: { name: 'pipeline' } })).toBe('pipeline');
    expect(targetText({ action: `${noun}.revoked`, target })).toBe(target);
  }
});

test('a link for a new password is told in words', () => {
  expect(actionText('operator.reset_offered', {})).toBe('made a link for a new password of');
});
