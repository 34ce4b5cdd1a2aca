import { describe, expect, test } from 'bun:test';
import { diffFields } from './diff-fields.ts';

describe('diffFields', () => {
  test('lists changed, new and removed fields by their paths', () => {
    const before = { enabled: true, value: { color: 'red', sizes: [1, 2], gone: 1 }, rolloutPct: 5 };
    const after = { enabled: false, value: { color: 'blue', sizes: [1, 3], 'a b': null }, rolloutPct: 5 };
    expect(diffFields(before, after)).toEqual([
      { path: 'enabled', before: true, after: false },
      { path: 'value.color', before: 'red', after: 'blue' },
      { path: 'value.sizes[1]', before: 2, after: 3 },
      { path: 'value["a b"]', after: null },
      { path: 'value.gone', before: 1 },
    ]);
  });

  test('a new or removed state is listed field by field, a new or removed value as a whole', () => {
    expect(diffFields(undefined, { enabled: true, value: { a: 1 } })).toEqual([
      { path: 'enabled', after: true },
      { path: 'value', after: { a: 1 } },
    ]);
    expect(diffFields({ enabled: true }, undefined)).toEqual([{ path: 'enabled', before: true }]);
  });

  test('empty texts of a new flag are left out, emptied texts are listed', () => {
    expect(
      diffFields(undefined, { description: '', tags: [], owner: 'me', permanent: false, valueKind: 'any' }),
    ).toEqual([{ path: 'owner', after: 'me' }]);
    expect(diffFields({ description: 'x' }, { description: '' })).toEqual([
      { path: 'description', before: 'x', after: '' },
    ]);
    expect(diffFields(undefined, { value: '' })).toEqual([{ path: 'value', after: '' }]);
  });

  test('values of different types and lists of different lengths are compared as a whole', () => {
    expect(diffFields({ value: [1] }, { value: [1, 2] })).toEqual([
      { path: 'value', before: [1], after: [1, 2] },
    ]);
    expect(diffFields({ value: 'x' }, { value: { x: 1 } })).toEqual([
      { path: 'value', before: 'x', after: { x: 1 } },
    ]);
    expect(diffFields({ value: null }, {})).toEqual([{ path: 'value', before: null }]);
  });

  test('equal versions have no differences, even nested or with dangerous names', () => {
    expect(diffFields({ a: { b: [{ c: 1 }] } }, { a: { b: [{ c: 1 }] } })).toEqual([]);
    const odd = JSON.parse('{"__proto__":{"x":1}}');
    expect(diffFields({}, odd)).toEqual([{ path: '__proto__', after: { x: 1 } }]);
  });
});
