import { describe, expect, test } from 'bun:test';
import { type FlagState, type Json, parseFlagState } from '@halyard/protocol';
import evaluation from '../../../conformance/fixtures/evaluation.json';
import { HalyardProvider as ServerProvider } from '../src/openfeature/server.ts';
import { HalyardProvider as WebProvider } from '../src/openfeature/web.ts';
import { createTestClient } from '../src/testing.ts';

/** What a case of the shared table says. */
interface Expected {
  readonly isOn: boolean;
  readonly value?: Json;
  readonly reason: string;
  readonly ofrep: { readonly value?: Json } & Record<string, unknown>;
}

interface Case {
  readonly flagKey: string;
  readonly state: FlagState | undefined;
  readonly targetingKey: string | undefined;
  readonly expected: Expected;
}

const CASES = evaluation.cases.map(({ name, flagKey, state, targetingKey, expected }) => {
  const each: Case = {
    flagKey,
    targetingKey,
    state: parseFlagState(state),
    // `Expected`: the table is written so; from its JSON the compiler infers each shape that occurs in it.
    expected: expected as unknown as Expected,
  };
  return [name, each] as const;
});

function clientOf({ flagKey, state }: Case) {
  return createTestClient({ flags: state ? { [flagKey]: state } : {} });
}

/** A default of another value, but of the kind of JSON that a flag holds. */
function defaultFor(value: Json | undefined): Json {
  if (typeof value === 'boolean') return !value;
  if (typeof value === 'number') return value + 1;
  if (Array.isArray(value)) return ['default'];
  return typeof value === 'object' && value !== null ? { default: true } : 'default';
}

describe('the client', () => {
  test.each(CASES)('%s', (_, each) => {
    const { flagKey, targetingKey, expected } = each;
    const client = clientOf(each);
    const defaultValue = expected.value === null ? null : defaultFor(expected.value);
    const value = expected.value === undefined ? defaultValue : expected.value;
    expect(client.isEnabled(flagKey, { targetingKey })).toBe(expected.isOn);
    expect(client.getValue(flagKey, defaultValue, { targetingKey })).toEqual(value as never);
    expect(client.evaluate(flagKey, defaultValue, { targetingKey })).toMatchObject({
      value: value as never,
      enabled: expected.isOn,
      reason: reasonOf(expected),
    });
  });

  function reasonOf({ isOn, value, reason }: Expected): string {
    if (reason === 'missing') return 'error';
    if (isOn && value === undefined) return 'default';
    return reason === 'untargeted' ? 'split' : reason;
  }
});

describe.each([
  ['server', ServerProvider],
  ['web', WebProvider],
] as const)('the OpenFeature provider of the %s SDK', (_, Provider) => {
  test.each(CASES)('%s', async (_, each) => {
    const { flagKey, targetingKey, state, expected } = each;
    const client = clientOf(each);
    const context = targetingKey === undefined ? {} : { targetingKey };
    // Read as what the flag holds, with another value as the default.
    const held = state?.value === undefined ? true : state.value;
    const kind = typeof held as keyof typeof READS; // no JSON is of another type
    const defaultValue = defaultFor(held);
    const { value = defaultValue, ...outcome } = expected.ofrep;
    const answer = await new Provider(client)[READS[kind]](flagKey, defaultValue as never, context);
    expect(answer).toMatchObject({ value, ...outcome } as never);
    expect('errorCode' in answer).toBe('errorCode' in outcome);

    // With `booleanFrom: 'enabled'`, and for every flag that is off, a boolean read says what a client's does.
    const boolean = new Provider(client, { booleanFrom: 'enabled' });
    const isOn = (await boolean.resolveBooleanEvaluation(flagKey, false, context)).value;
    if (!('errorCode' in outcome)) expect(isOn).toBe(typeof value === 'boolean' ? value : expected.isOn);
  });
});

/** The read of a provider for each type of JSON. */
const READS = {
  boolean: 'resolveBooleanEvaluation',
  string: 'resolveStringEvaluation',
  number: 'resolveNumberEvaluation',
  object: 'resolveObjectEvaluation',
} as const;
