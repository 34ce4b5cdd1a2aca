import { expect, test } from 'bun:test';
import evaluation from '../../../conformance/fixtures/evaluation.json';
import { evaluate } from './evaluate.ts';
import { parseFlagState } from './flag-state.ts';

test.each(evaluation.cases)('$name', ({ flagKey, state, targetingKey, expected: { ofrep, ...expected } }) => {
  expect(evaluate(flagKey, parseFlagState(state), targetingKey)).toEqual({
    value: undefined,
    ...expected,
  } as never);
});
