import type { ScheduledStep } from '../../api/schedules.ts';
import type { FlagState } from '../../api/types.ts';

/** What a step makes of a state, as it is now. */
export function afterStep(before: FlagState | undefined, step: ScheduledStep | undefined): FlagState | null {
  if (step?.patch === undefined) return step?.state ?? null;
  const { unset = [], ...members } = step.patch;
  const { enabled, value, rolloutPct }: FlagState = { enabled: false, ...before, ...members };
  return {
    enabled,
    ...(value === undefined || unset.includes('value') ? {} : { value }),
    ...(rolloutPct === undefined || unset.includes('rolloutPct') ? {} : { rolloutPct }),
  };
}
