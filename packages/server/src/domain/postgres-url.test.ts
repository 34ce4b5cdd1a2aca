import { expect, test } from 'bun:test';
import { parsePostgresUrl } from './postgres-url.ts';

test('an address of one server is kept as it is', () => {
  for (const url of ['postgres://u:p%40@db:5432/x?sslmode=require', 'postgresql:///x?host=/run/postgresql'])
    expect(parsePostgresUrl(url)).toEqual({ urls: [url], target: 'any' });
});

test('an address of several servers becomes one address for each', () => {
  const text = 'postgres://u:p@a,b:5433,[::1]:5434/x?sslmode=require&target_session_attrs=read-write';
  expect(parsePostgresUrl(text)).toEqual({
    urls: [
      'postgres://u:p@a/x?sslmode=require',
      'postgres://u:p@b:5433/x?sslmode=require',
      'postgres://u:p@[::1]:5434/x?sslmode=require',
    ],
    target: 'primary',
  });
});

test.each([
  ['read-write', 'primary'],
  ['primary', 'primary'],
  ['read-only', 'standby'],
  ['standby', 'standby'],
  ['any', 'any'],
] as const)('target_session_attrs=%s asks for %s', (word, target) => {
  expect(parsePostgresUrl(`postgres://a,b/x?target_session_attrs=${word}`)?.target).toBe(target);
});

test.each([
  'mysql://a/x',
  'localhost:5432',
  'postgres://a:x/y',
  'postgres://a,,b/x',
  'postgres://a,b:y/x',
  'postgres://a/x?target_session_attrs=prefer-standby',
])('%s is not an address', (text) => {
  expect(parsePostgresUrl(text)).toBeUndefined();
});
