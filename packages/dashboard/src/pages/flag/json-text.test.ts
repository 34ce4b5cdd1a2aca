import { describe, expect, test } from 'bun:test';
import { memberText, withoutSpace } from '@halyard/protocol';
import { findJsonProblem, kindOfJson, layOutJson } from './json-text.ts';

describe('findJsonProblem', () => {
  test.each([
    [''],
    [' \n'],
    ['true'],
    ['-0.5e+3'],
    ['"a \\u00e9 \\" b"'],
    ['{"a":[1,{"b":null}],"":{}}'],
    ['[]'],
    ['12345678901234567890'],
  ])('%j is a value, or none', (text) => {
    expect(findJsonProblem(text)).toBeUndefined();
  });

  test.each([
    ['{"a" 1}', 1, 6, 'A colon is missing here'],
    ['{"a":1,\n}', 2, 1, 'No comma may stand before }'],
    ['[1\n 2]', 2, 2, 'A comma or ] is missing here'],
    ['{a:1}', 1, 2, 'A name in double quotes is missing here'],
    ['yes', 1, 1, 'Put "yes" in double quotes'],
    ["'x'", 1, 1, 'Strings stand in double quotes'],
    ['01', 1, 2, 'This is no number: JSON writes 0.5, 1e3 or -2'],
    ['[1,', 1, 4, 'A value is missing here'],
    ['"abc', 1, 1, 'This string has no end'],
    ['"a\\x"', 1, 3, 'Write a backslash in a string as \\\\'],
    ['1 2', 1, 3, 'The value has ended here: nothing may follow'],
  ])('%j is wrong in line %d, column %d: %s', (text, line, column, message) => {
    expect(findJsonProblem(text)).toMatchObject({ line, column, message });
    expect(() => JSON.parse(text)).toThrow();
  });

  test('32 levels are kept, 33 are not', () => {
    expect(findJsonProblem('['.repeat(32) + ']'.repeat(32))).toBeUndefined();
    expect(findJsonProblem('['.repeat(33) + ']'.repeat(33))?.message).toBe('At most 32 levels are kept');
    expect(findJsonProblem('['.repeat(100_000))?.message).toBe('At most 32 levels are kept');
  });

  test('64 KiB are kept, white space does not count', () => {
    const text = `"${'x'.repeat(65_534)}"`;
    expect(findJsonProblem(`  ${text}\n`)).toBeUndefined();
    expect(findJsonProblem(`"x${text.slice(1)}`)?.message).toContain('65537 bytes');
  });
});

const AWKWARD =
  '{"b":1e3,"10":1.0,"2":12345678901234567890,"s":"a , \\" : { b","list":[-0,[],{}],"o":{"x":[{"y":1}]}}';

describe('JSON as text', () => {
  test('laying out and compacting keep every string, number and order', () => {
    expect(layOutJson(AWKWARD)).toBe(
      [
        '{',
        '  "b": 1e3,',
        '  "10": 1.0,',
        '  "2": 12345678901234567890,',
        '  "s": "a , \\" : { b",',
        '  "list": [',
        '    -0,',
        '    [],',
        '    {}',
        '  ],',
        '  "o": {',
        '    "x": [',
        '      {',
        '        "y": 1',
        '      }',
        '    ]',
        '  }',
        '}',
      ].join('\n'),
    );
    expect(withoutSpace(layOutJson(AWKWARD))).toBe(AWKWARD);
  });

  test('a short list of plain values stays on its line', () => {
    expect(layOutJson('{"sizes":[1,2,3]}')).toBe('{\n  "sizes": [1, 2, 3]\n}');
    expect(layOutJson(' "text" ')).toBe('"text"');
  });

  test('a member is found by its path, as it is written', () => {
    const text = `{ "key": "a:b", "state": {"enabled":true, "value": ${AWKWARD} , "rolloutPct": 5} }`;
    expect(memberText(text, ['state', 'value'])).toBe(AWKWARD);
    expect(memberText(text, ['state', 'rolloutPct'])).toBe('5');
    expect(memberText(text, ['state', 'nothing'])).toBeUndefined();
    expect(memberText('{"a":1,"a":2}', ['a'])).toBe('2');
    expect(memberText('{"value":{"value":1}}', ['value'])).toBe('{"value":1}');
  });

  test.each([
    [' {', 'object'],
    ['[', 'array'],
    ['"', 'string'],
    ['-1', 'number'],
    ['false', 'boolean'],
    ['null', 'null'],
    ['  ', undefined],
  ] as const)('%j begins a value of kind %s', (text, kind) => {
    expect(kindOfJson(text)).toBe(kind);
  });
});
