import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { yamlToJson } from './yaml-text.ts';

test.each([
  ['a: 1', '{"a":1}'],
  ['a: 1.0\nb: -0\nc: 1e+2\nd: 123456789012345678901', '{"a":1.0,"b":-0,"c":1e+2,"d":123456789012345678901}'],
  ['a: 0x1F\nb: .5\nc: +1', '{"a":31,"b":0.5,"c":1}'],
  ['123: x\ntrue: y\n~: z', '{"123":"x","true":"y","~":"z"}'],
  ['a: yes\nb: null\nc:\nd: ~', '{"a":"yes","b":null,"c":null,"d":null}'],
  ['a: &x [1, {b: 2}]\nc: *x', '{"a":[1,{"b":2}],"c":[1,{"b":2}]}'],
  ['a: |\n  two\n  lines\n', '{"a":"two\\nlines\\n"}'],
  ['a: 1\na: 2', '{"a":1,"a":2}'],
  ['# nothing', 'null'],
])('%j is %s', async (yaml, json) => {
  expect(await yamlToJson(yaml)).toBe(json);
});

test('reads JSON as YAML without changes, including texts and numbers', async () => {
  await fc.assert(
    fc.asyncProperty(fc.json({ maxDepth: 4 }), async (json) => {
      const text = JSON.stringify(JSON.parse(json));
      expect(await yamlToJson(`x: ${text}`)).toBe(`{"x":${text}}`);
    }),
  );
});

test.each([
  ['a: [', 'not valid YAML in line 1, column 5'],
  ['a: 1\nb: [,,', 'not valid YAML in line 2, column 6 (UNEXPECTED_TOKEN)'],
  ['a: 1\n---\nb: 2', 'more than one YAML document'],
  ['a: .inf', '.inf, which JSON cannot express'],
  ['? [a]\n: 1', 'name is not a string'],
  ['a: &a [*a]', 'nested deeper'],
  ['a: &a 1\nb: &a 2', 'anchor "a" twice'],
  ['a: *a', 'no anchor before it'],
  [`a: ${'['.repeat(100)}${']'.repeat(100)}`, 'nested deeper'],
  [
    `x0: &x0 [${'1,'.repeat(9)}1]\n${Array.from({ length: 9 }, (_, n) => `x${n + 1}: &x${n + 1} [${`*x${n},`.repeat(9)}*x${n}]`).join('\n')}`,
    'too large once its aliases',
  ],
])('%j is refused', async (yaml, sentence) => {
  await expect(yamlToJson(yaml)).rejects.toThrow(sentence);
});

test.each(['"caf\\u00e9"', '"a\\/b"', '"\\ud83d\\ude00"', '{"\\u0061":["\\u2028",{"b\\/":1}]}'])(
  'the text %s keeps its escapes',
  async (json) => {
    expect(await yamlToJson(`value: ${json}`)).toBe(`{"value":${json}}`);
  },
);
