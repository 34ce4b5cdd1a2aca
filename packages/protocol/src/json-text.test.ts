import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { compactJson, elementsOf, membersOf, memberText, nestingOf } from './json-text.ts';

/** JSON with everything a careless rewrite would lose, and white space sprinkled between its tokens. */
const spaced = fc
  .tuple(fc.json({ noUnicodeString: false }), fc.integer({ min: 0, max: 4 }))
  .map(([json, indent]) => {
    const pretty = JSON.stringify(JSON.parse(json), undefined, indent);
    return `\r\n\t ${pretty} \n`;
  });

test('a compacted text has the same meaning and no white space', () => {
  fc.assert(
    fc.property(spaced, (text) => {
      const compact = compactJson(text);
      expect(JSON.parse(compact)).toEqual(JSON.parse(text));
      expect(compact).toBe(JSON.stringify(JSON.parse(text)));
    }),
  );
});

test.each([
  '{"10":1,"9":2,"a":3}',
  '{"a":1,"a":2}',
  '12345678901234567890.10',
  '1.0',
  '-0',
  '1E+2',
  '"\\u0000"',
  '"\\ud800"',
  '"\\/ \\" { [ , "',
  '{"__proto__":{"a":[ ]}}'.replace(' ', ''),
  '"\u2028"',
])('keeps %s as it was written', (text) => {
  expect(compactJson(` ${text}\n`)).toBe(text);
  expect(memberText(`{"x": [0, ${text} ]}`, ['x', 1])).toBe(text);
});

test.each(['', '{', '[1,]', '01', "'a'", '{"a":1}x', '\u00a01', 'NaN'])('%p is refused', (text) => {
  expect(() => compactJson(text)).toThrow(SyntaxError);
});

test('finds the same members and elements as JSON.parse, in the order of the text', () => {
  fc.assert(
    fc.property(spaced, (text) => {
      const data: unknown = JSON.parse(text);
      const elements = elementsOf(text);
      const members = membersOf(text);
      expect(elements?.map((element) => JSON.parse(element))).toEqual(Array.isArray(data) ? data : undefined);
      const isObject = typeof data === 'object' && data !== null && !Array.isArray(data);
      if (!isObject) return expect(members).toBeUndefined();
      // The objects of the generator have no duplicates.
      expect(new Map(members?.map(([name, member]) => [name, JSON.parse(member)]))).toEqual(
        new Map(Object.entries(data)),
      );
    }),
  );
});

test('a path leads to the same value in the text as in the data', () => {
  const text = '{ "changes" : [ {}, { "state" : { "v\\u0061lue" : [ 1.0 , "]" ] , "enabled":true } } ] }';
  expect(memberText(text, ['changes', 1, 'state', 'value'])).toBe('[ 1.0 , "]" ]');
  expect(memberText(text, ['changes', 1, 'state', 'enabled'])).toBe('true');
  expect(memberText(text, ['changes', 2, 'state'])).toBeUndefined();
  expect(memberText(text, ['changes', 'state'])).toBeUndefined();
  expect(memberText(text, ['changes', 1, 0])).toBeUndefined();
  expect(memberText('{"a":1,"a":2}', ['a'])).toBe('2');
});

test('counts nested brackets, except in strings', () => {
  expect(nestingOf('1')).toBe(0);
  expect(nestingOf('[[1],[]]')).toBe(2);
  expect(nestingOf('{"[[[":"{{\\"{"}')).toBe(1);
});

test('a hundred thousand brackets do not overflow the stack', () => {
  const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
  expect(nestingOf(deep)).toBe(100_000);
  expect(compactJson(deep)).toBe(deep);
  expect(memberText(`{"a":${deep}}`, ['a'])).toBe(deep);
});
