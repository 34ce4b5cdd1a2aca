import type { StatePatch } from '../../api/schedules.ts';
import type { FlagState } from '../../api/types.ts';
import { isDirty, type StateDraft, type StateVersion, stateOf } from './state-draft.ts';

/** What becomes of the switch at the time. */
export type SwitchPlan = 'keep' | 'on' | 'off';

/** What is to happen to a state, as a patch of what is there then. */
export interface Plan {
  readonly patch: StatePatch;
  /** JSON text of the patch, in which the value keeps its notation. */
  readonly patchText: string;
  /** What the state would become if nothing else changed. */
  readonly after: FlagState;
}

/**
 * What a draft and a plan for the switch come to, compared with what is there now; `undefined` when that is nothing.
 * Only what differs is scheduled, so that other changes until then stay.
 */
export function planOf(version: StateVersion, draft: StateDraft, plan: SwitchPlan): Plan | undefined {
  const now = version.record?.state;
  const enabled = plan === 'keep' ? (now?.enabled ?? false) : plan === 'on';
  if (plan === 'keep' && !isDirty(draft, version)) return undefined;
  const { state, valueText } = stateOf(draft, enabled);
  const unset = (['value', 'rolloutPct'] as const).filter(
    (name) => now?.[name] !== undefined && state[name] === undefined,
  );
  const isNewRollout = state.rolloutPct !== undefined && state.rolloutPct !== now?.rolloutPct;
  const isNewValue = valueText !== undefined && isDirty({ ...draft, ...rolloutOf(version) }, version);
  const members: readonly (readonly [string, string])[] = [
    ...(plan === 'keep' ? [] : [['enabled', String(enabled)] as const]),
    ...(isNewValue ? [['value', valueText] as const] : []),
    ...(isNewRollout ? [['rolloutPct', String(state.rolloutPct)] as const] : []),
    ...(unset.length === 0 ? [] : [['unset', JSON.stringify(unset)] as const]),
  ];
  const patchText = `{${members.map(([name, text]) => `"${name}":${text}`).join(',')}}`;
  // Written two lines above: it has these members and no others.
  return { patch: JSON.parse(patchText) as StatePatch, patchText, after: state };
}

/** The rollout of a version, as a draft has it: what is left of the difference is the value. */
function rolloutOf({ record }: StateVersion): Pick<StateDraft, 'isEveryone' | 'pct'> {
  const pct = record?.state.rolloutPct;
  return { isEveryone: pct === undefined, pct: String(pct ?? 100) };
}
