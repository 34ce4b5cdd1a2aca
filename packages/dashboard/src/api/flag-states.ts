import { defined, memberText } from '@halyard/protocol';
import type { Wanted, Wish } from './approvals.ts';
import { api, request, requestText } from './request.ts';
import type { ChangeWritten, FlagState, StateRecord, StateWritten } from './types.ts';

/** Identifies a state: project, environment and flag. */
export interface StatePlace {
  readonly project: string;
  readonly environment: string;
  readonly key: string;
}

/** Details of a write. */
interface WriteOptions {
  /** The record that the writer saw; `undefined` if the flag was not set. */
  readonly before: StateRecord | undefined;
  readonly confirmed?: string | undefined;
  readonly note?: string | undefined;
  readonly wish?: Wish | undefined;
  readonly texts?: ValueTexts | undefined;
}

/** A value's JSON text before and after, if known: `JSON.stringify` may write it differently. */
export interface ValueTexts {
  readonly before?: string | undefined;
  readonly after?: string | undefined;
}

/**
 * Replaces the state that was seen; `null` removes it. Sends only the members that differ, so that an unchanged value
 * keeps its exact text. Rejects with `revision_conflict` if the state has changed since. Returns the written record,
 * with the value's text as the server stores it.
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
  // Only the same one can stay; a value that is not here cannot be sent.
  if (after.valuePreview !== undefined && (before === undefined || !isSameValue(before.state, after)))
    throw new Error('a value that was cut in a list would be written');
  const valueText = texts.after ?? (after.value === undefined ? undefined : JSON.stringify(after.value));
  const withText = { ...after, valueText };
  const [method, text] =
    before === undefined ? ['PUT', stateJson(withText)] : ['PATCH', patchJson(before.state, withText, texts)];
  const answer = await requestText(method, path, { ...options, text });
  // The shape is the API's contract.
  return { ...(JSON.parse(answer) as StateWritten), valueText: memberText(answer, ['state', 'value']) };
}

/** The JSON text of a state's value; `undefined` if it has none. */
interface ValueText {
  readonly valueText: string | undefined;
}

/** A state with its value's exact text, which is used instead of the value. */
interface StateWithText extends FlagState, ValueText {}

/** A state as JSON text. */
function stateJson({ enabled, valueText, rolloutPct }: StateWithText): string {
  return jsonObject([
    ['enabled', String(enabled)],
    ['value', valueText],
    ['rolloutPct', rolloutPct === undefined ? undefined : String(rolloutPct)],
  ]);
}

/** The members that differ, and the names of those that are removed. */
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
 * Reads one state, with its value's JSON text as the server stores it. Rejects with `flag_not_found` if there is no state.
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

/** Whether two states are the same. */
export function isSameState(one: FlagState, other: FlagState): boolean {
  return one.enabled === other.enabled && differsInSwitchOnly(one, other);
}

/**
 * Whether two states have the same JSON as a value; the order of members counts, as it does for readers. Values that are cut
 * in a list are the same if their digests are: long values often begin alike.
 */
export function isSameValue(one: FlagState, other: FlagState): boolean {
  const isSame = JSON.stringify(one.value) === JSON.stringify(other.value);
  return isSame && one.valuePreview?.digest === other.valuePreview?.digest;
}

/**
 * A state that was made from one of a list: if its value is cut there, the value of `base` instead. A
 * change from a list leaves the value as it is.
 */
export function withValueOf<State extends FlagState | null>(
  after: State,
  base: FlagState | undefined,
): State {
  if (after?.valuePreview === undefined || base === undefined) return after;
  const { valuePreview: _, ...rest } = after;
  const { value, valuePreview } = base;
  return { ...rest, ...defined({ value, valuePreview }) } as State; // a state with another value is a state
}

/** The state of a list with its whole value, which is read if it is cut there. */
export async function wholeState(
  place: StatePlace,
  state: FlagState | undefined,
): Promise<FlagState | undefined> {
  return state?.valuePreview === undefined ? state : (await readState(place)).state;
}

/** The response of `GET …/flags` of an environment. */
interface EnvironmentStates {
  readonly revision: number;
  readonly flags: readonly (StateRecord & { readonly key: string })[];
}

/** Flags of one environment to switch together. */
interface SwitchRequest extends Omit<StatePlace, 'key'>, Wanted {
  readonly keys: readonly string[];
  readonly enabled: boolean;
  readonly confirmed: string | undefined;
}

/**
 * Switches flags in one environment as one change. The rest of their states is kept exactly: it reads them first, and
 * rejects with `revision_conflict` if something changes in between.
 */
export async function switchStates({
  keys,
  enabled,
  confirmed,
  note,
  wish,
  ...place
}: SwitchRequest): Promise<ChangeWritten> {
  const path = api`projects/${place.project}/environments/${place.environment}`;
  const text = await requestText('GET', `${path}/flags`);
  // The shape is the API's contract.
  const { revision, flags } = JSON.parse(text) as EnvironmentStates;
  // A few numbers and member names change when they are parsed and written again.
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
  return request('POST', `${path}/changes`, { text: body, seen: revision, confirmed, note, wish });
}
