import { expect, test } from 'bun:test';
import { checkPassword, PasswordHashes } from './passwords.ts';

test('a password is known again by its hash, whichever way its letters were composed', async () => {
  const passwords = new PasswordHashes();
  const hash = await passwords.hash('Gr\u00fc\u00dfe aus Z\u00fcrich');
  expect(hash).toStartWith('$argon2id$v=19$m=19456,t=2,p=1$');
  expect(await passwords.verify('Gru\u0308\u00dfe aus Zu\u0308rich', hash)).toBe(true);
  expect(await passwords.verify('Gru\u00dfe aus Zurich', hash)).toBe(false);
  expect(await passwords.verify('', undefined)).toBe(false);
});

test('an unknown account costs as much as a known one', async () => {
  const passwords = new PasswordHashes();
  const real = Bun.password.verify;
  const verified: unknown[] = [];
  Bun.password.verify = async (_, hash) => {
    verified.push(hash);
    return true;
  };
  try {
    expect(await passwords.verify('whatever it is', undefined)).toBe(false);
  } finally {
    Bun.password.verify = real;
  }
  expect(verified).toEqual([expect.stringMatching(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$.{43}\$.{43}$/)]);
});

test('only two hashes run at once, some wait, and the rest is turned away', async () => {
  const passwords = new PasswordHashes();
  const real = Bun.password.hash;
  const released = Promise.withResolvers<void>();
  let running = 0;
  let most = 0;
  Bun.password.hash = async () => {
    most = Math.max(most, ++running);
    await released.promise;
    running--;
    return 'hash';
  };
  try {
    const all = Array.from({ length: 40 }, () => passwords.hash('a password').catch((error) => error.code));
    released.resolve();
    const results = await Promise.all(all);
    expect(most).toBe(2);
    expect(results.filter((result) => result === 'hash')).toHaveLength(32);
    expect(results.filter((result) => result === 'rate_limited')).toHaveLength(8);
    expect(await passwords.hash('once more')).toBe('hash');
  } finally {
    Bun.password.hash = real;
  }
});

test.each([
  ['eleven char', '12 to 200'],
  ['x'.repeat(201), '12 to 200'],
  [' Ada@Example.com ', 'another than the e-mail'],
])('the password %j is refused without being repeated', (password, sentence) => {
  const check = () => checkPassword(password, 'ada@example.com');
  expect(check).toThrow(sentence);
  expect(check).not.toThrow(password);
});

test.each(['twelve chars', 'x'.repeat(200)])('the password %j is taken', (password) => {
  expect(() => checkPassword(password, 'ada@example.com')).not.toThrow();
});
