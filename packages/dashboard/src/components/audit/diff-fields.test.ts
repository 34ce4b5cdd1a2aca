import { describe, expect, test } from 'bun:test';
import { diffFields } from './diff-fields.ts';

describe('diffFields', () => {
  test('tells members that changed, came and went by their paths', () => {
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

  test('a state that comes or goes is told by its members, a value that does as a whole', () => {
    expect(diffFields(undefined, { enabled: true, value: { a: 1 } })).toEqual([
      { path: 'enabled', after: true },
      { path: 'value', after: { a: 1 } },
    ]);
    expect(diffFields({ enabled: true }, undefined)).toEqual([{ path: 'enabled', before: true }]);
  });

  test('texts that were never written are not told, those that are emptied are', () => {
    expect(diffFields(undefined, { description: '', tags: [], owner: 'me' })).toEqual([
      { path: 'owner', after: 'me' },
    ]);
    expect(diffFields({ description: 'x' }, { description: '' })).toEqual([
      { path: 'description', before: 'x', after: '' },
    ]);
    expect(diffFields(undefined, { value: '' })).toEqual([{ path: 'value', after: '' }]);
  });

  test('values of other kinds and lists of other lengths are told as a whole', () => {
    expect(diffFields({ value: [1] }, { value: [1, 2] })).toEqual([
      { path: 'value', before: [1], after: [1, 2] },
    ]);
    expect(diffFields({ value: 'x' }, { value: { x: 1 } })).toEqual([
      { path: 'value', before: 'x', after: { x: 1 } },
    ]);
    expect(diffFields({ value: null }, {})).toEqual([{ path: 'value', before: null }]);
  });

  test('what is the same is nothing, also deep down and under dangerous names', () => {
    expect(diffFields({ a: { b: [{ c: 1 }] } }, { a: { b: [{ c: 1 }] } })).toEqual([]);
    const odd = JSON.parse('{"__proto__":{"x":1}}');
    expect(diffFields({}, odd)).toEqual([{ path: '__proto__', after: { x: 1 } }]);
  });
});
