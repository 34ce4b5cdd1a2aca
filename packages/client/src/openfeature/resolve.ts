import { evaluateOfrep, type Json } from '@halyard/protocol';
import type { ErrorCode, FlagMetadata, ResolutionDetails } from '@openfeature/core';
import type { FlagsClient, TargetingKey } from '../client-types.ts';
import { targetOf } from '../options.ts';

/** Options for turning flags into OpenFeature values. */
export interface MappingOptions {
  /** The result of a boolean read of a flag that is off: `false` (default), or the caller's `default`. */
  readonly disabledValue?: 'false' | 'default';
  /**
   * The result of a boolean read of a flag that is on and whose value is not a boolean: an error (default, `value`), or `true`
   * (`enabled`).
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
  readonly targetingKey: TargetingKey | undefined;
}

/** Answers an OpenFeature read from a client. Never throws; a flag that is off or excludes the reader is no error. */
export function resolve<T>(
  client: FlagsClient,
  read: Read<T>,
  options: MappingOptions,
): ResolutionDetails<T> {
  const { key, kind, defaultValue } = read;
  // From JavaScript it may be anything, as for the client's own reads. OpenFeature knows only "missing" for what is no key.
  const targetingKey = targetOf(read, client.targetingKey) ?? undefined;
  // Only the state: a read of the client's own would warn about a missing targeting key.
  const state = client.getState(key);
  if (!state && client.evaluate(key, null).errorCode === 'not_ready')
    return failure(read, 'PROVIDER_NOT_READY', 'no flags have been loaded');

  const answer = evaluateOfrep(key, state, { environment: client.environment, targetingKey });
  const flagMetadata = { ...answer.metadata };
  if ('errorCode' in answer) return failure(read, answer.errorCode, answer.errorDetails, flagMetadata);

  const { variant, reason, value } = answer;
  // The client counts the read, and observers of the client hear its result.
  const tell = (given: unknown) => client.evaluate(key, given as null, { targetingKey });
  if (variant === 'off') {
    const isFalse = kind === 'boolean' && (reason !== 'DISABLED' || options.disabledValue !== 'default');
    if (isFalse) client.isEnabled(key, { targetingKey });
    else tell(defaultValue);
    // `T`: `false` is of the kind that was asked for, and `T` is that kind's type.
    return { value: isFalse ? (false as T) : defaultValue, reason, variant, flagMetadata };
  }

  const on = valueFor(kind, value, options);
  if (on === undefined) {
    tell(defaultValue);
    return failure(read, 'TYPE_MISMATCH', `${key} holds no ${kind}`, flagMetadata);
  }

  // Any kind of value fits `null`. What is not the flag's value is `true`, as `isEnabled` says.
  if (on === state?.value) tell(null);
  else client.isEnabled(key, { targetingKey });
  // `T`: as above.
  return { value: on as T, reason: reasonOf(client, reason), variant, flagMetadata };
}

/** The value for a kind of read, `undefined` when it is of another kind. Nothing is coerced. */
function valueFor(kind: Kind, value: Json | undefined, { booleanFrom }: MappingOptions): Json | undefined {
  if (typeof value === kind) return value;
  return kind === 'boolean' && booleanFrom === 'enabled' ? true : undefined;
}

function reasonOf(client: FlagsClient, reason: string): string {
  if (client.status !== 'ready') return client.revision === undefined ? 'CACHED' : 'STALE';
  return reason;
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
