import { invalid } from '../../domain/errors.ts';
import { buildState, type StateParts, stateParts } from '../../domain/flag-state-text.ts';
import type { StateText } from '../../domain/project.ts';

/** A change to a state; absent members stay unchanged. */
export interface StatePatch extends Partial<StateParts> {
  readonly unset?: readonly ('value' | 'rolloutPct')[];
}

/** Refuses a patch that both sets and unsets a member. `invalid_argument`. */
export function checkPatch(patch: StatePatch): void {
  const given = { value: patch.valueText, rolloutPct: patch.rolloutPct };
  for (const member of patch.unset ?? []) {
    if (given[member] !== undefined) throw invalid(`"${member}" is both set and in "unset": choose one.`);
  }
}

/** A state with members changed; a missing state starts as disabled. `invalid_argument`. */
export function applyPatch(current: StateText | undefined, patch: StatePatch): StateText {
  const { unset = [], ...given } = patch;
  const before = (current === undefined ? undefined : stateParts(current)) ?? { enabled: false };
  const { valueText, rolloutPct, ...kept } = { ...before, ...given };
  return buildState({
    ...kept,
    ...(valueText === undefined || unset.includes('value') ? {} : { valueText }),
    ...(rolloutPct === undefined || unset.includes('rolloutPct') ? {} : { rolloutPct }),
  });
}
