import { isRolloutPct, withoutSpace } from '@halyard/protocol';
import type { FlagState, FlagValueKind, StatePatch, StateRecord } from '../../api/types.ts';
import { shareOf } from '../../flags/share.ts';
import { findJsonProblem, formatJson, type JsonProblem, kindOfJson } from './json-text.ts';
import { messages } from './messages.tsx';

/** A state as the server has it, its value as text. */
export interface StateVersion {
  /** `undefined` where the flag has no state. */
  readonly record: StateRecord | undefined;
  /** The value's JSON text; `undefined` for no value. */
  readonly valueText: string | undefined;
}

/** A state as a person edits it, without the switch, which acts at once. */
export interface StateDraft {
  /** As typed; blank for no value. */
  readonly text: string;
  readonly isEveryone: boolean;
  /** The percentage, as typed. */
  readonly pct: string;
}

/** The first draft of a version. */
export function draftOf({ record, valueText }: StateVersion): StateDraft {
  const pct = record?.state.rolloutPct;
  const hasText = valueText !== undefined && findJsonProblem(valueText) === undefined;
  return {
    text: hasText ? formatJson(valueText) : (valueText ?? ''),
    isEveryone: pct === undefined,
    pct: String(pct ?? 100),
  };
}

/** Whether saving the draft would change the version. */
export function isDirty(draft: StateDraft, version: StateVersion): boolean {
  return isNewValue(draft, version) || !isSameRollout(draft, version);
}

/** The draft on top of a newer version: what was not edited since `base` follows the version. */
export function rebased(draft: StateDraft, base: StateVersion, current: StateVersion): StateDraft {
  const { text, isEveryone, pct } = draftOf(current);
  const followsValue = !isNewValue(draft, base) && isNewValue(draft, current);
  const followsRollout = isSameRollout(draft, base) && !isSameRollout(draft, current);
  return { ...draft, ...(followsValue ? { text } : {}), ...(followsRollout ? { isEveryone, pct } : {}) };
}

/** Whether two versions have the same value and the same rollout. */
export function isSameContent(one: StateVersion, other: StateVersion): boolean {
  return (
    (one.record === undefined) === (other.record === undefined) &&
    compacted(one.valueText) === compacted(other.valueText) &&
    one.record?.state.rolloutPct === other.record?.state.rolloutPct
  );
}

/** The controls for values; `json` is the editor for any of them. */
export type ValueControl = 'none' | 'text' | 'number' | 'json';

/** The control for a value of the declared kind. A value of another kind is edited as JSON. */
export function controlOf(declared: FlagValueKind, valueText: string | undefined): ValueControl {
  if (declared === 'any' || declared === 'json') return 'json';
  if (valueText === undefined) return declared;
  const fits = { none: undefined, text: 'string', number: 'number' }[declared];
  return kindOfJson(valueText) === fits ? declared : 'json';
}

const NOT_A_NUMBER: JsonProblem = { message: messages.value.notNumber, at: 0, line: 1, column: 1 };

/** Why a draft cannot be saved. */
export interface DraftProblems {
  readonly value?: JsonProblem;
  readonly rollout?: string;
}

/** Validates a draft. `control`: what its value is edited with. */
export function problemsOf(draft: StateDraft, control?: ValueControl): DraftProblems {
  const problem = findJsonProblem(draft.text);
  const isOther = problem !== undefined || !['number', undefined].includes(kindOfJson(draft.text));
  const value = control === 'number' && isOther ? NOT_A_NUMBER : problem;
  const isGoodShare = draft.isEveryone || isRolloutPct(shareOf(draft.pct));
  return {
    ...(value === undefined ? {} : { value }),
    ...(isGoodShare ? {} : { rollout: messages.rollout.invalid }),
  };
}

/** Whether a draft has no problems. */
export function isSound(draft: StateDraft, control?: ValueControl): boolean {
  const { value, rollout } = problemsOf(draft, control);
  return value === undefined && rollout === undefined;
}

/** The state that the draft becomes, and its value's text. The draft must have no problems. */
export function stateOf(
  draft: StateDraft,
  enabled: boolean,
): { readonly state: FlagState; readonly valueText: string | undefined } {
  const valueText = textOf(draft);
  const state: FlagState = {
    enabled,
    ...(valueText === undefined ? {} : { value: JSON.parse(valueText) }),
    ...(draft.isEveryone ? {} : { rolloutPct: shareOf(draft.pct) }),
  };
  return { state, valueText };
}

function textOf(draft: StateDraft): string | undefined {
  const text = draft.text.trim();
  return text === '' ? undefined : withoutSpace(text);
}

function compacted(text: string | undefined): string | undefined {
  return text === undefined ? undefined : withoutSpace(text);
}

function isNewValue(draft: StateDraft, { valueText }: StateVersion): boolean {
  return textOf(draft) !== compacted(valueText);
}

function isSameRollout(draft: StateDraft, { record }: StateVersion): boolean {
  const pct = record?.state.rolloutPct;
  return draft.isEveryone ? pct === undefined : pct === shareOf(draft.pct);
}

/** The scheduled change of the switch. */
export type SwitchPlan = 'keep' | 'on' | 'off';

/** A scheduled change, as a patch of the state at that time. */
export interface Plan {
  readonly patch: StatePatch;
  /** JSON text of the patch, in which the value keeps its notation. */
  readonly patchText: string;
  /** The resulting state, if nothing else changes. */
  readonly after: FlagState;
}

/**
 * The change from the version to a draft and a plan for the switch; `undefined` without a difference. Contains only the
 * differences, so that other changes made before then are kept.
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
  const hasNewValue = valueText !== undefined && isDirty({ ...draft, ...rolloutOf(version) }, version);
  const members: readonly (readonly [string, string])[] = [
    ...(plan === 'keep' ? [] : [['enabled', String(enabled)] as const]),
    ...(hasNewValue ? [['value', valueText] as const] : []),
    ...(isNewRollout ? [['rolloutPct', String(state.rolloutPct)] as const] : []),
    ...(unset.length === 0 ? [] : [['unset', JSON.stringify(unset)] as const]),
  ];
  const patchText = `{${members.map(([name, text]) => `"${name}":${text}`).join(',')}}`;
  // Written two lines above: it has these members and no others.
  return { patch: JSON.parse(patchText) as StatePatch, patchText, after: state };
}

/** The rollout of a version, as a draft has it: the remaining difference is the value. */
function rolloutOf({ record }: StateVersion): Pick<StateDraft, 'isEveryone' | 'pct'> {
  const pct = record?.state.rolloutPct;
  return { isEveryone: pct === undefined, pct: String(pct ?? 100) };
}
