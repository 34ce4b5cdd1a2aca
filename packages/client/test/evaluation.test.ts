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
}

interface Case {
  readonly flagKey: string;
  readonly state: FlagState | undefined;
  readonly targetingKey: string | undefined;
  readonly expected: Expected;
}

const CASES = evaluation.cases.map(({ name, flagKey, state, targetingKey, expected }) => {
  // `Expected`: the compiler lists every shape that occurs in the table.
  const each: Case = {
    ...{ flagKey, targetingKey, state: parseFlagState(state) },
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
    const { flagKey, targetingKey, expected } = each;
    const provider = new Provider(clientOf(each), { booleanFrom: 'enabled' });
    const context = targetingKey === undefined ? {} : { targetingKey };
    const boolean = await provider.resolveBooleanEvaluation(flagKey, false, context);
    const object = await provider.resolveObjectEvaluation(flagKey, 'default', context);

    if (expected.reason === 'missing') {
      expect([boolean.errorCode, object.errorCode]).toEqual(['FLAG_NOT_FOUND', 'FLAG_NOT_FOUND'] as never);
      return;
    }
    // OpenFeature has an error for this.
    if (expected.reason === 'untargeted') {
      expect(boolean).toMatchObject({ value: false, errorCode: 'TARGETING_KEY_MISSING' as never });
      expect(object).toMatchObject({ value: 'default', errorCode: 'TARGETING_KEY_MISSING' as never });
      return;
    }
    const { isOn } = expected;
    const reason = expected.reason.toUpperCase();
    expect(boolean).toMatchObject({
      value: isOn && typeof expected.value === 'boolean' ? expected.value : isOn,
      reason,
      variant: isOn ? 'on' : 'off',
    });
    if (!isOn) expect(object).toMatchObject({ value: 'default', reason, variant: 'off' });
    else if (typeof expected.value === 'object')
      expect(object).toMatchObject({ value: expected.value as never, reason, variant: 'on' });
    else expect(object).toMatchObject({ value: 'default', errorCode: 'TYPE_MISMATCH' as never });
  });
});
