import { evaluate, type FlagState, type Json } from '@halyard/protocol';
import type { ErrorCode, FlagMetadata, ResolutionDetails } from '@openfeature/core';
import type { FlagsClient } from '../client-types.ts';

/** How flags become OpenFeature values. */
export interface MappingOptions {
  /** What a boolean read of a flag that is off gives: `false` (default), or the caller's `default`. */
  readonly disabledValue?: 'false' | 'default';
  /**
   * What a boolean read of a flag that is on and has a value of another kind gives: an error (default, `value`), or
   * `true` (`enabled`).
   */
  readonly booleanFrom?: 'value' | 'enabled';
}

/** The four kinds of OpenFeature reads. */
export type Kind = 'boolean' | 'string' | 'number' | 'object';

/** One read of OpenFeature. */
export interface Read<T> {
  readonly key: string;
  readonly kind: Kind;
  readonly defaultValue: T;
  readonly targetingKey: string | undefined;
}

/** Answers an OpenFeature read from a client. Never throws; a flag that is off or excludes the reader is no error. */
export function resolve<T>(
  client: FlagsClient,
  read: Read<T>,
  options: MappingOptions,
): ResolutionDetails<T> {
  const { key, kind, defaultValue, targetingKey = client.targetingKey } = read;
  // Only the state: a read of the client's own would warn about a missing targeting key.
  const state = client.getState(key);
  if (!state)
    return client.evaluate(key, null).errorCode === 'not_ready'
      ? failure(read, 'PROVIDER_NOT_READY', 'no flags have been loaded')
      : failure(read, 'FLAG_NOT_FOUND', `there is no flag ${key}`);
  const flagMetadata = metadataOf(client, state);
  const { isOn, reason } = evaluate(key, state, targetingKey);
  if (reason === 'untargeted')
    return failure(read, 'TARGETING_KEY_MISSING', `${key} is rolled out in part`, flagMetadata);
  if (!isOn) {
    const isFalse = kind === 'boolean' && (reason !== 'disabled' || options.disabledValue !== 'default');
    // `T`: `false` is of the kind that was asked for, and `T` is that kind's type.
    const value = isFalse ? (false as T) : defaultValue;
    return { value, reason: reason === 'disabled' ? 'DISABLED' : 'SPLIT', variant: 'off', flagMetadata };
  }
  const on = valueFor(kind, state, options);
  if (on === undefined) return failure(read, 'TYPE_MISMATCH', `${key} holds no ${kind}`, flagMetadata);
  // `T`: as above.
  return { value: on as T, reason: reasonOf(client, reason), variant: 'on', flagMetadata };
}

/** The value for a kind of read, `undefined` when the flag has none of that kind. Nothing is coerced. */
function valueFor(kind: Kind, { value }: FlagState, { booleanFrom }: MappingOptions): Json | undefined {
  if (typeof value === kind) return value;
  return kind === 'boolean' && (value === undefined || booleanFrom === 'enabled') ? true : undefined;
}

function reasonOf(client: FlagsClient, reason: string): string {
  if (client.status !== 'ready') return client.revision === undefined ? 'CACHED' : 'STALE';
  return reason.toUpperCase();
}

function metadataOf(client: FlagsClient, { enabled, rolloutPct }: FlagState): FlagMetadata {
  return { environment: client.environment, enabled, ...(rolloutPct !== undefined && { rolloutPct }) };
}

function failure<T>(
  { defaultValue }: Read<T>,
  code: `${ErrorCode}`,
  errorMessage: string,
  flagMetadata: FlagMetadata = {},
): ResolutionDetails<T> {
  // `ErrorCode`: an enum whose members are these very strings; importing it would be code for a type.
  return { value: defaultValue, reason: 'ERROR', errorCode: code as ErrorCode, errorMessage, flagMetadata };
}
