import { type FlagMap, type FlagState, isInRollout, type Json } from '@halyard/protocol';
import type { FlagErrorCode } from './errors.ts';

/**
 * Why a read gave what it gave. `static`: the flag's value, for everyone. `split`: a partial rollout decided.
 * `disabled`: the flag is off. `default`: the flag is on but has no value. `error`: see `errorCode`.
 */
export type Reason = 'static' | 'split' | 'disabled' | 'default' | 'error';

/** A read with its circumstances. */
export interface Evaluation<T> {
  readonly key: string;
  readonly value: T;
  /** What `isEnabled` says. */
  readonly enabled: boolean;
  /** Whether the flags may have aged: no current answer of the server is at hand. */
  readonly stale: boolean;
  readonly reason: Reason;
  readonly errorCode?: FlagErrorCode;
  /** The flag as the server sent it; absent when there is none. */
  readonly state?: FlagState;
}

/** Whether a flag is on for a targeting key; without one, a partial rollout counts as on. (Spec: boolean read) */
export function isOn(state: FlagState | undefined, key: string, targetingKey: string | undefined): boolean {
  if (state === undefined || !state.enabled) return false;
  if (state.rolloutPct === undefined || targetingKey === undefined) return true;
  return isInRollout(key, targetingKey, state.rolloutPct);
}

/** Whether a value may stand in for a default: the same kind of JSON; a default of `null` takes anything. */
export function fits(value: Json, defaultValue: unknown): boolean {
  return defaultValue === null || defaultValue === undefined || kindOf(value) === kindOf(defaultValue);
}

/** The state of a flag in a map without a prototype, for a key of any type. */
export function stateIn(flags: FlagMap, key: unknown): FlagState | undefined {
  return typeof key === 'string' ? flags[key] : undefined;
}

/** Explains a read. `hasMap` tells a missing flag from a missing map. */
export function explain(
  state: FlagState | undefined,
  isOnNow: boolean,
  defaultValue: unknown,
  hasMap: boolean,
): { readonly reason: Reason; readonly errorCode?: FlagErrorCode } {
  if (!state) return { reason: 'error', errorCode: hasMap ? 'flag_not_found' : 'not_ready' };
  if (!state.enabled) return { reason: 'disabled' };
  if (!isOnNow) return { reason: 'split' };
  if (state.value === undefined) return { reason: 'default' };
  if (!fits(state.value, defaultValue)) return { reason: 'error', errorCode: 'type_mismatch' };
  return { reason: state.rolloutPct === undefined || state.rolloutPct >= 100 ? 'static' : 'split' };
}

function kindOf(value: unknown): string {
  return value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value;
}
