import { expect, test } from 'bun:test';
import { passwordProblem } from './password.ts';

test.each([
  ...[
    '            ',
    'aaaaaaaaaaaa',
    '121212121212',
    'aabbccddaabb',
    '123456789012',
    '098765432109',
    'abcdefghijkl',
  ],
  ...[
    'password1234',
    'Password1234',
    'PASSWORD1234!',
    'password12345',
    'passwordpassword',
    'letmeinletmein',
    'qwertyqwerty',
  ],
  ...[
    'Welcome2024!',
    'iloveyou1234',
    'administrator',
    'Administrator',
    '1qaz2wsx3edc',
    'qwertyuiop12',
    'abc123abc123',
  ],
  ...['monkeydragon', 'changeme12345', 'xyz123xyz123xyz123'],
])('%j is too easy to guess', (password) => {
  expect(passwordProblem(password)).toContain('attacker');
});

test.each(['short', 'eleven char', 'x'.repeat(201)])('%j has the wrong length', (password) => {
  expect(passwordProblem(password)).toContain('12 to 200 characters');
});

test.each([
  ...[
    'twelve chars',
    'correct horse battery',
    'a password of some length',
    'bench-Admin-4711-secret',
    '7392#81!dragon',
  ],
  ...['ünïcödé 密码 слово', 'Tr0ub4dor&3xyz', 'kvmqtzplwrxn', '749201538264'],
])('%j is accepted', (password) => {
  expect(passwordProblem(password)).toBeUndefined();
});

test('a long password is judged at once', () => {
  // Every word of the list that is part of another one is a way to read it.
  expect(passwordProblem('password'.repeat(25))).toContain('attacker');
  expect(passwordProblem(`${'test'.repeat(49)}zzzq`)).toBeUndefined();
});
