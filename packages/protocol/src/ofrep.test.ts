import { describe, expect, test } from 'bun:test';
import evaluation from '../../../conformance/fixtures/evaluation.json';
import { type FlagMap, parseFlagState } from './flag-state.ts';
import {
  evaluateOfrep,
  evaluateOfrepBulk,
  flagConfigRevision,
  ofrepEvent,
  ofrepOpening,
  parseOfrepRequest,
} from './ofrep.ts';

describe('evaluateOfrep', () => {
  test.each(evaluation.cases)('$name', ({ flagKey, state, targetingKey, expected }) => {
    const parsed = parseFlagState(state);
    const answer = evaluateOfrep(flagKey, parsed, { environment: 'production', targetingKey });
    const { errorDetails, metadata, ...rest } =
      'errorCode' in answer ? answer : { ...answer, errorDetails: '' };
    expect(rest).toEqual({ key: flagKey, ...expected.ofrep } as never);
    expect(errorDetails !== '').toBe('errorCode' in answer);
    if (!parsed) expect(metadata).toBeUndefined();
    else
      expect(metadata).toEqual({
        environment: 'production',
        enabled: parsed.enabled,
        ...(parsed.rolloutPct !== undefined && { rolloutPct: parsed.rolloutPct }),
      });
  });
});

test('a bulk evaluation has every flag in the order of the map, an error in the place of its flag', () => {
  const flags: FlagMap = { b: { enabled: true }, a: { enabled: true, rolloutPct: 5 }, c: { enabled: false } };
  const target = { environment: 'production', targetingKey: undefined };
  expect(evaluateOfrepBulk(flags, target, { revision: 7 })).toEqual({
    flags: [
      evaluateOfrep('b', flags.b, target),
      expect.objectContaining({ key: 'a', errorCode: 'TARGETING_KEY_MISSING' }),
      evaluateOfrep('c', flags.c, target),
    ],
    metadata: { environment: 'production', revision: 7 },
  });
  const eventStreams = [{ type: 'sse', url: 'https://flags.example/stream' }] as const;
  expect(evaluateOfrepBulk({}, target, { eventStreams })).toEqual({
    flags: [],
    eventStreams,
    metadata: { environment: 'production' },
  });
});

describe('parseOfrepRequest', () => {
  test.each([
    ['{"context":{"targetingKey":"ana"}}', 'ana'],
    ['{"context":{"targetingKey":"ana","plan":"gold","age":[1]},"more":1}', 'ana'],
    ['{"context":{"targetingKey":""}}', ''],
    ['{"context":{"targetingKey":42}}', '42'],
    ['{"context":{"targetingKey":-0.5}}', '-0.5'],
    ['{"context":{"targetingKey":null}}', undefined],
    ['{"context":{}}', undefined],
    ['{"context":null}', undefined],
    ['{}', undefined],
  ])('%s', (text, targetingKey) => {
    expect(parseOfrepRequest(text)).toEqual({ ok: true, targetingKey });
  });

  test.each([
    ['', 'PARSE_ERROR'],
    ['{', 'PARSE_ERROR'],
    ['[]', 'INVALID_CONTEXT'],
    ['null', 'INVALID_CONTEXT'],
    ['"context"', 'INVALID_CONTEXT'],
    ['{"context":[]}', 'INVALID_CONTEXT'],
    ['{"context":"ana"}', 'INVALID_CONTEXT'],
    ['{"context":{"targetingKey":1e400}}', 'INVALID_CONTEXT'],
    ['{"context":{"targetingKey":{}}}', 'INVALID_CONTEXT'],
  ] as const)('%s', (text, errorCode) => {
    expect(parseOfrepRequest(text)).toEqual({ ok: false, errorCode, errorDetails: expect.any(String) });
  });
});

describe('event streams', () => {
  const EVENT = 'id: 7\ndata: {"type":"refetchEvaluation","etag":"\\"7\\""}\n\n';

  test('an event names its revision, and the tag to read the flags with', () => {
    expect(ofrepEvent(7)).toBe(EVENT);
  });

  test('a stream begins with the event of its revision, except for a reader that had it last', () => {
    for (const last of [null, '', '6', '8', '07', 'x'])
      expect(ofrepOpening(7, last, 1500)).toBe(`retry: 1500\n${EVENT}`);
    expect(ofrepOpening(7, '7', 1500)).toBe('retry: 1500\nid: 7\n\n');
  });

  test.each([
    ['"7"', 7],
    ['"0"', 0],
    ['7', undefined],
    ['"7', undefined],
    ['"-7"', undefined],
    ['"7.5"', undefined],
    [`"${'9'.repeat(16)}"`, undefined],
    ['', undefined],
    [null, undefined],
  ] as const)('the tag %p names the revision %p', (tag, revision) => {
    expect(flagConfigRevision(tag)).toBe(revision as number);
  });
});
