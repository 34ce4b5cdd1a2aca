import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { buildState, readState, servedState, stateParts } from './flag-state-text.ts';

test.each([
  ['{"enabled":true}', '{"enabled":true}'],
  [
    ' { "rolloutPct" : 12.5, "value" : [ 1 ], "enabled" : false }',
    '{"enabled":false,"value":[1],"rolloutPct":12.5}',
  ],
  ['{"enabled":true,"value":null}', '{"enabled":true,"value":null}'],
  [
    '{"enabled":true,"value":{"2":1.0,"1":-0,"1":"\\u0000\\ud800"}}',
    '{"enabled":true,"value":{"2":1.0,"1":-0,"1":"\\u0000\\ud800"}}',
  ],
  ['{"enabled":true,"rolloutPct":1e2}', '{"enabled":true,"rolloutPct":100}'],
])('%s is stored as %s', (text, stored) => {
  expect(readState(text)).toBe(stored);
});

test.each([
  ['[]', 'is not an object'],
  ['null', 'is not an object'],
  ['{}', 'lacks the member "enabled"'],
  ['{"enabled":1}', 'must be true or false'],
  ['{"enabled":true,"enabled":false}', 'more than once'],
  ['{"enabled":true,"on":1}', 'unknown member "on"'],
  ['{"enabled":true,"rolloutPct":null}', 'from 0 to 100'],
  ['{"enabled":true,"rolloutPct":100.1}', 'from 0 to 100'],
  ['{"enabled":true,"rolloutPct":-1}', 'from 0 to 100'],
  ['{"enabled":true,"rolloutPct":0.0001}', 'three decimals'],
  ['{"enabled":true,"rolloutPct":"5"}', 'from 0 to 100'],
  [`{"enabled":true,"value":${'['.repeat(33)}${']'.repeat(33)}}`, 'at most 32 levels'],
  [`{"enabled":true,"value":"${'x'.repeat(65_535)}"}`, 'at most 65536'],
  [`{"enabled":true,"value":"${'ü'.repeat(32_768)}"}`, 'at most 65536'],
])('rejects an invalid state: %#', (text, sentence) => {
  expect(() => readState(text, 'changes[1].state')).toThrow(sentence);
  expect(() => readState(text, 'changes[1].state')).toThrow('changes[1].state');
});

test('accepts values exactly at the limits', () => {
  const deep = `${'['.repeat(32)}${']'.repeat(32)}`;
  expect(readState(`{"enabled":true,"value":${deep}}`)).toContain(deep);
  expect(readState(`{"enabled":true,"value":"${'x'.repeat(65_534)}"}`)).toHaveLength(65_561);
});

test('a state survives being built and taken apart', () => {
  const parts = fc.record(
    {
      enabled: fc.boolean(),
      valueText: fc.json({ maxDepth: 5 }),
      rolloutPct: fc.integer({ min: 0, max: 100_000 }).map((thousandths) => thousandths / 1000),
      others: fc.constant(new Map([['until', '"2027"']])),
    },
    { requiredKeys: ['enabled'] },
  );
  fc.assert(fc.property(parts, (given) => expect(stateParts(buildState(given))).toEqual(given)));
});

test.each(['', '{', 'null', '{"enabled":"yes"}', '{"enabled":true,"rolloutPct":101}'])(
  'a damaged record %p counts as absent',
  (stored) => {
    expect(stateParts(stored)).toBeUndefined();
  },
);

test.each([
  ['{"enabled":true,"until":"2027","value":1.0}', '{"enabled":true,"value":1.0}'],
  ['{"until":[1,{"a":"}"}],"enabled":false,"rolloutPct":5}', '{"enabled":false,"rolloutPct":5}'],
  ['{"enabled":true,\n"value":{"a":\r1}}', '{"enabled":true,"value":{"a":1}}'],
  ['{"enabled":true,"value":{"b":1,"a":-0}}', '{"enabled":true,"value":{"b":1,"a":-0}}'],
  ['{"rolloutPct":5,"enabled":true}', '{"enabled":true,"rolloutPct":5}'],
])('%s is served as %s', (stored, served) => {
  expect(servedState(stored)).toBe(served);
});
