import { readState, type StatePlace, stateJson } from './flag-states.ts';
import { api, request, requestText } from './request.ts';
import type { ChangeWritten, StateRecord } from './types.ts';

/** What `GET …/flags` of an environment answers. */
interface EnvironmentStates {
  readonly revision: number;
  readonly flags: readonly (StateRecord & { readonly key: string })[];
}

/** Flags of one environment to switch together. */
export interface SwitchRequest extends Omit<StatePlace, 'key'> {
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
