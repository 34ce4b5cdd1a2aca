import { describe, expect, test } from 'bun:test';
import { MAX_BATCH_KEYS, parseBatchRequest, parseEnvQuery } from './requests.ts';

describe('parseEnvQuery', () => {
  test.each([
    ['env=production', 'production'],
    ['env=pro%64uction', 'production'],
    ['other=1&env=production', 'production'],
    ['env=%E2%9C%93', '✓'],
    ['env=a+b', 'a b'],
    ['env=production&x=%zz', 'production'],
    ['?env=%zz&env=production', 'production'],
  ])('%j names %j', (query, env) => {
    expect(parseEnvQuery(query)).toEqual({ ok: true, value: env });
  });

  test.each(['', 'env', 'env=', 'ENV=production', 'env=a&env=a', 'env=&env=a', 'environment=a', '?env=a'])(
    '%j is refused',
    (query) => {
      expect(parseEnvQuery(query).ok).toBe(false);
    },
  );

  test.each(['env=%zz', 'x=1&env=%', 'env=a%2', '%65nv=%ff'])('%j is refused, for its escape', (query) => {
    expect(parseEnvQuery(query)).toEqual({ ok: false, problem: expect.stringContaining('percent-escape') });
  });
});

describe('parseBatchRequest', () => {
  test('reads the environment and the keys, and ignores other members', () => {
    expect(parseBatchRequest('{"env":"e","keys":["a","a","__proto__"],"more":1}')).toEqual({
      ok: true,
      value: { env: 'e', keys: ['a', 'a', '__proto__'] },
    });
  });

  test('accepts an empty list and the longest one', () => {
    expect(parseBatchRequest('{"env":"e","keys":[]}').ok).toBe(true);
    const keys = Array.from({ length: MAX_BATCH_KEYS }, String);
    expect(parseBatchRequest(JSON.stringify({ env: 'e', keys })).ok).toBe(true);
    expect(parseBatchRequest(JSON.stringify({ env: 'e', keys: [...keys, 'x'] })).ok).toBe(false);
  });

  test.each([
    '',
    '{',
    'null',
    '[]',
    '7',
    '"e"',
    '{}',
    '{"env":"e"}',
    '{"keys":[]}',
    '{"env":"","keys":[]}',
    '{"env":1,"keys":[]}',
    '{"env":"e","keys":"a"}',
    '{"env":"e","keys":{"0":"a"}}',
    '{"env":"e","keys":[1]}',
    '{"env":"e","keys":["a",null]}',
    '{"env":null,"keys":[]}',
    '['.repeat(100_000),
  ])('refuses a body of another shape', (text) => {
    expect(parseBatchRequest(text).ok).toBe(false);
  });
});
