import { describe, expect, test } from 'bun:test';
import { memberText, withoutSpace } from '@halyard/protocol';
import { findJsonProblem, formatJson, kindOfJson } from './json-text.ts';
import { messages } from './messages.tsx';

const { json } = messages;

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
  ])('%j is valid JSON, or empty', (text) => {
    expect(findJsonProblem(text)).toBeUndefined();
  });

  test.each([
    ['{"a" 1}', 1, 6, json.missingColon],
    ['{"a":1,\n}', 2, 1, json.trailingComma],
    ['[1\n 2]', 2, 2, json.missingComma(']')],
    ['{a:1}', 1, 2, json.missingName],
    ['yes', 1, 1, json.unquoted('yes')],
    ["'x'", 1, 1, json.singleQuotes],
    ['01', 1, 2, json.badNumber],
    ['[1,', 1, 4, json.missingValue],
    ['"abc', 1, 1, json.openString],
    ['"a\\x"', 1, 3, json.backslash],
    ['1 2', 1, 3, json.trailingText],
  ])('%j has a problem in line %d, column %d: %s', (text, line, column, message) => {
    expect(findJsonProblem(text)).toMatchObject({ line, column, message });
    expect(() => JSON.parse(text)).toThrow();
  });

  test('32 levels are kept, 33 are not', () => {
    expect(findJsonProblem('['.repeat(32) + ']'.repeat(32))).toBeUndefined();
    expect(findJsonProblem('['.repeat(33) + ']'.repeat(33))?.message).toBe(json.tooDeep(32));
    expect(findJsonProblem('['.repeat(100_000))?.message).toBe(json.tooDeep(32));
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
    expect(formatJson(AWKWARD)).toBe(
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
    expect(withoutSpace(formatJson(AWKWARD))).toBe(AWKWARD);
  });

  test('a short list of plain values stays on its line', () => {
    expect(formatJson('{"sizes":[1,2,3]}')).toBe('{\n  "sizes": [1, 2, 3]\n}');
    expect(formatJson(' "text" ')).toBe('"text"');
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
