import { describe, expect, test } from 'bun:test';
import { MAX_BATCH_KEYS, parseBatchRequest, parseChangesQuery, parseEnvQuery } from './requests.ts';

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

test('changes are asked for by one 1; anything else in that place is refused', () => {
  const asked = (query: string) => {
    const parsed = parseChangesQuery(query);
    return parsed.ok ? parsed.value : 'refused';
  };
  for (const query of ['env=a&changes=1', 'changes=1', '%63hanges=1&env=a']) expect(asked(query)).toBe(true);
  for (const query of ['', 'env=a', 'env=changes', 'CHANGES=1']) expect(asked(query)).toBe(false);
  for (const query of ['changes', 'changes=', 'changes=0', 'changes=true', 'changes=1&changes=1'])
    expect(asked(query)).toBe('refused');
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
