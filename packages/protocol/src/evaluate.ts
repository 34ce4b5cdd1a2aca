import type { FlagState } from './flag-state.ts';
import type { Json } from './json.ts';
import { isInRollout } from './rollout.ts';

/** The result of evaluating one flag for one targeting key. */
export interface FlagEvaluation {
  /** Whether the flag is on for the targeting key. */
  readonly isOn: boolean;
  /** The flag's value, if the flag is on and has one. */
  readonly value: Json | undefined;
  /**
   * Why. `missing`: the flag does not exist. `disabled`: it is off. `static`: it is on for everyone. `split`: a rollout
   * decided; one of 0 per cent excludes everyone and needs no targeting key. `untargeted`: the rollout is partial and
   * there is no targeting key to decide by, so that the flag is on, as its switch says; a caller may refuse that instead.
   */
  readonly reason: 'missing' | 'disabled' | 'static' | 'split' | 'untargeted';
}

/**
 * A targeting key as data from outside gives it: text, or a number, which counts as its text. `null` is what was given and
 * is no key; `undefined` is nothing given.
 */
export function readTargetingKey(given: unknown): string | null | undefined {
  if (given === undefined || typeof given === 'string') return given;
  return Number.isFinite(given) || typeof given === 'bigint' ? String(given) : null;
}

/**
 * Evaluates a flag. A reader whose targeting key is `null` is outside every partial rollout (see {@link readTargetingKey}). The one
 * place that decides whether a flag is on; `conformance/fixtures/evaluation.json` lists cases.
 */
export function evaluate(
  flagKey: string,
  state: FlagState | undefined,
  targetingKey: string | null | undefined,
): FlagEvaluation {
  const { enabled = false, rolloutPct = 100, value } = state ?? {};
  const isPartial = rolloutPct < 100;
  const isUntargeted = targetingKey === undefined && rolloutPct > 0;
  const isOn =
    enabled &&
    (!isPartial || isUntargeted || (targetingKey != null && isInRollout(flagKey, targetingKey, rolloutPct)));
  return {
    isOn,
    value: isOn ? value : undefined,
    reason: !state
      ? 'missing'
      : !enabled
        ? 'disabled'
        : !isPartial
          ? 'static'
          : isUntargeted
            ? 'untargeted'
            : 'split',
  };
}
