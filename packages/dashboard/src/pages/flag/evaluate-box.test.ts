import { describe, expect, test } from 'bun:test';
import { evaluate, parseFlagState } from '@halyard/protocol';
import { createElement } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import evaluation from '../../../../../conformance/fixtures/evaluation.json';
import { valuePreview } from '../../components/state-summary.tsx';
import { EnvironmentEvaluation, placeOf, reasonOf } from './evaluate-box.tsx';
import { messages } from './messages.tsx';

describe('the place of a targeting key', () => {
  test.each([
    ['new-checkout', 'user-1', '51.929'],
    ['new-checkout', 'user-2', '23.104'],
    ['new-checkout', 'user-3', '74.416'],
    ['flag-a', 'user-1', '15.403'],
    ['флаг', 'юзер', '33.215'],
  ])('is the published one: %s for %s is at %s', (flag, key, place) => {
    expect(placeOf(flag, key)).toBe(place);
  });

  test('is inside when the rollout is above it, not when it is equal', () => {
    const at = (rolloutPct: number) => evaluate('new-checkout', { enabled: true, rolloutPct }, 'user-1').isOn;
    expect([at(51.928), at(51.929), at(51.93)]).toEqual([false, false, true]);
  });
});

test.each([
  [undefined, messages.evaluate.missing],
  [{ enabled: false, rolloutPct: 100 }, messages.evaluate.disabled],
  [{ enabled: true }, messages.evaluate.everyone],
  [{ enabled: true, rolloutPct: 60 }, '51.929 is below 60'],
  [{ enabled: true, rolloutPct: 50 }, '51.929 is not below 50'],
])('the reason for %j is in words', (state, reason) => {
  const evaluation = evaluate('new-checkout', state, 'user-1');
  expect(reasonOf(evaluation, '51.929', state && 'rolloutPct' in state ? state.rolloutPct : undefined)).toBe(
    reason,
  );
});

describe('who gets it, by the table of cases that clients and OFREP answer too', () => {
  const { on, off, value: label } = messages.evaluate;
  test.each(evaluation.cases.filter(({ targetingKey }) => targetingKey))('$name', (each) => {
    const { flagKey, state, targetingKey = '', expected } = each;
    const markup = renderToStaticMarkup(
      createElement(EnvironmentEvaluation, {
        environment: { name: 'staging', isProtected: false },
        flagKey,
        state: parseFlagState(state),
        targetingKey,
      } as never),
    );
    const texts = [...markup.matchAll(/>([^<>]+)</g)].map(([, text]) => text);
    expect([texts.includes(on), texts.includes(off)]).toEqual([expected.isOn, !expected.isOn]);
    const isShown = 'value' in expected;
    expect(markup.includes(`${label} <code`)).toBe(isShown);
    if (isShown) {
      const preview = renderToStaticMarkup(
        createElement('i', null, valuePreview(expected.value as never, 120)),
      );
      expect(markup).toContain(preview.slice('<i>'.length, -'</i>'.length));
    }
  });
});
