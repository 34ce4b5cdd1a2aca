import { describe, expect, test } from 'bun:test';
import { memberText, withoutSpace } from '@halyard/protocol';
import { kindOfJson, layOutJson } from './json-layout.ts';

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
