import type { ScheduledStep } from '../../api/schedules.ts';
import { stateText, valuePreview } from '../../components/state-text.ts';

/** What a step does, in words: "turns on, 25 %". */
export function stepText({ state, patch }: ScheduledStep): string {
  if (patch === undefined)
    return state === null || state === undefined ? 'is removed' : `becomes ${stateText(state)}`;
  const { enabled, rolloutPct, value, unset = [] } = patch;
  return [
    ...(enabled === undefined ? [] : [enabled ? 'turns on' : 'turns off']),
    ...(rolloutPct === undefined ? [] : [`is rolled out to ${rolloutPct} %`]),
    ...('value' in patch && value !== undefined ? [`gets the value ${valuePreview(value)}`] : []),
    ...unset.map((name) => (name === 'value' ? 'loses its value' : 'goes to everyone')),
  ].join(', ');
}
