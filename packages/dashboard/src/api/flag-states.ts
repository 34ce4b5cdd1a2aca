import { memberText } from '@halyard/protocol';
import { api, request, requestText } from './request.ts';
import type { ChangeWritten, FlagState, StateRecord, StateWritten } from './types.ts';

/** Where a state stands. */
export interface StatePlace {
  readonly project: string;
  readonly environment: string;
  readonly key: string;
}

/** What a write goes with. */
interface WriteOptions {
  /** The record that the writer has seen; `undefined` when there was none. */
  readonly before: StateRecord | undefined;
  readonly confirmed?: string | undefined;
  readonly note?: string | undefined;
  readonly texts?: ValueTexts | undefined;
}

/** A value's JSON text before and after, where it is known: `JSON.stringify` may write it in another way. */
export interface ValueTexts {
  readonly before?: string | undefined;
  readonly after?: string | undefined;
}

/**
 * Writes a state over the one that was seen; `null` removes it. Only the members that differ are sent, so that a value
 * that stays keeps its exact text. Refused with `revision_conflict` when the state was changed first by another writer. Gives what was
 * written, with the value's text as the server keeps it.
 */
export async function writeState(
  place: StatePlace,
  after: FlagState | null,
  { before, texts = {}, ...rest }: WriteOptions,
): Promise<(StateWritten & ValueText) | undefined> {
  const path = api`projects/${place.project}/environments/${place.environment}/flags/${place.key}`;
  const options = { seen: before?.revision ?? ('none' as const), ...rest };
  if (after === null) {
    await request('DELETE', path, options);
    return undefined;
  }
  const valueText = texts.after ?? (after.value === undefined ? undefined : JSON.stringify(after.value));
  const withText = { ...after, valueText };
  const [method, text] =
    before === undefined ? ['PUT', stateJson(withText)] : ['PATCH', patchJson(before.state, withText, texts)];
  const answer = await requestText(method, path, { ...options, text });
  // The shape is the API's contract.
  return { ...(JSON.parse(answer) as StateWritten), valueText: memberText(answer, ['state', 'value']) };
}

/** The JSON text of a state's value; `undefined` when it has none. */
interface ValueText {
  readonly valueText: string | undefined;
}

/** A state with its value's own text, which goes before the value. */
interface StateWithText extends FlagState, ValueText {}

/** A state as JSON text. */
function stateJson({ enabled, valueText, rolloutPct }: StateWithText): string {
  return jsonObject([
    ['enabled', String(enabled)],
    ['value', valueText],
    ['rolloutPct', rolloutPct === undefined ? undefined : String(rolloutPct)],
  ]);
}

/** The members that differ, and the names of those that go. */
function patchJson(before: FlagState, after: StateWithText, texts: ValueTexts): string {
  const areKnown = texts.before !== undefined && texts.after !== undefined;
  const hasNewValue = areKnown ? texts.before !== texts.after : !isSameValue(before, after);
  const gone = (['value', 'rolloutPct'] as const).filter(
    (name) => before[name] !== undefined && after[name] === undefined,
  );
  const isNewRollout = after.rolloutPct !== undefined && after.rolloutPct !== before.rolloutPct;
  return jsonObject([
    ['enabled', after.enabled === before.enabled ? undefined : String(after.enabled)],
    ['value', hasNewValue ? after.valueText : undefined],
    ['rolloutPct', isNewRollout ? String(after.rolloutPct) : undefined],
    ['unset', gone.length === 0 ? undefined : JSON.stringify(gone)],
  ]);
}

function jsonObject(members: readonly (readonly [name: string, text: string | undefined])[]): string {
  const present = members.filter(([, text]) => text !== undefined);
  return `{${present.map(([name, text]) => `"${name}":${text}`).join(',')}}`;
}

/**
 * Reads one state, with its value's JSON text as the server keeps it; rejects with `flag_not_found` when there is none.
 */
export async function readState(place: StatePlace, signal?: AbortSignal): Promise<StateRecord & ValueText> {
  const path = api`projects/${place.project}/environments/${place.environment}/flags/${place.key}`;
  const answer = await requestText('GET', path, { signal });
  // The shape is the API's contract.
  return { ...(JSON.parse(answer) as StateRecord), valueText: memberText(answer, ['state', 'value']) };
}

/** Whether two states have the same value and the same rollout. */
export function differsInSwitchOnly(one: FlagState, other: FlagState): boolean {
  return one.rolloutPct === other.rolloutPct && isSameValue(one, other);
}

function isSameValue(one: FlagState, other: FlagState): boolean {
  return (
    (one.value === undefined) === (other.value === undefined) &&
    JSON.stringify(one.value) === JSON.stringify(other.value)
  );
}

/** What `GET …/flags` of an environment answers. */
interface EnvironmentStates {
  readonly revision: number;
  readonly flags: readonly (StateRecord & { readonly key: string })[];
}

/** Flags of one environment to switch together. */
interface SwitchRequest extends Omit<StatePlace, 'key'> {
  readonly keys: readonly string[];
  readonly enabled: boolean;
  readonly confirmed: string | undefined;
}

/**
 * Switches flags in one environment as one change. Everything else of their states stays as it is at that moment, to
 * the letter: they are read anew, and it is refused with `revision_conflict` when something changes in between.
 */
export async function switchStates({
  keys,
  enabled,
  confirmed,
  ...place
}: SwitchRequest): Promise<ChangeWritten> {
  const path = api`projects/${place.project}/environments/${place.environment}`;
  const text = await requestText('GET', `${path}/flags`);
  // The API's own answer; see `request`.
  const { revision, flags } = JSON.parse(text) as EnvironmentStates;
  // Some numbers and member names do not survive being parsed and written again. They are rare.
  const isExact = JSON.stringify(JSON.parse(text)) === text;
  const states = new Map(flags.map(({ key, state }) => [key, state]));
  const steps = await Promise.all(
    keys.map(async (key) => {
      const state = { ...states.get(key), enabled };
      const plain = state.value === undefined ? undefined : JSON.stringify(state.value);
      const isKnown = isExact || plain === undefined;
      const valueText = isKnown ? plain : (await readState({ ...place, key })).valueText;
      return `{"key":${JSON.stringify(key)},"state":${stateJson({ ...state, valueText })}}`;
    }),
  );
  const body = `{"changes":[${steps.join(',')}]}`;
  return request('POST', `${path}/changes`, { text: body, seen: revision, confirmed });
}
