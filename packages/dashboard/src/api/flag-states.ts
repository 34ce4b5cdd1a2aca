import { api, request } from './request.ts';
import type { ChangeStep, ChangeWritten, FlagState, StateRecord, StateWritten } from './types.ts';

/** Where a state stands. */
export interface StatePlace {
  readonly project: string;
  readonly environment: string;
  readonly key: string;
}

/** What a write goes with. */
export interface WriteOptions {
  /** The record that the writer has seen; `undefined` when there was none. */
  readonly before: StateRecord | undefined;
  readonly confirmed?: string | undefined;
  readonly note?: string | undefined;
}

/**
 * Writes a state over the one that was seen; `null` removes it. Where only the switch differs, only that is sent, so
 * that the value keeps its exact text. Refused with `revision_conflict` when somebody else was faster.
 */
export async function writeState(
  place: StatePlace,
  after: FlagState | null,
  { before, confirmed, note }: WriteOptions,
): Promise<StateWritten | undefined> {
  const path = api`projects/${place.project}/environments/${place.environment}/flags/${place.key}`;
  const options = { seen: before?.revision ?? ('none' as const), confirmed, note };
  if (after === null) return request<undefined>('DELETE', path, options);
  if (before !== undefined && differsInSwitchOnly(before.state, after))
    return request<StateWritten>('PATCH', path, { ...options, body: { enabled: after.enabled } });
  return request<StateWritten>('PUT', path, { ...options, body: after });
}

/** Reads one state; rejects with `flag_not_found` when there is none. */
export function readState(place: StatePlace): Promise<StateRecord> {
  return request('GET', api`projects/${place.project}/environments/${place.environment}/flags/${place.key}`);
}

/** Writes several states as one change. */
export function writeStates(
  place: { readonly project: string; readonly environment: string },
  changes: readonly ChangeStep[],
  options: { readonly confirmed?: string | undefined; readonly note?: string | undefined },
): Promise<ChangeWritten> {
  const path = api`projects/${place.project}/environments/${place.environment}/changes`;
  return request('POST', path, { body: { changes }, ...options });
}

/** Whether two states have the same value and the same rollout. */
export function differsInSwitchOnly(one: FlagState, other: FlagState): boolean {
  return (
    one.rolloutPct === other.rolloutPct &&
    'value' in one === 'value' in other &&
    JSON.stringify(one.value) === JSON.stringify(other.value)
  );
}
