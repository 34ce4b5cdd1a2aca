import type { FlagState } from '@halyard/protocol';
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
  /** The flag as the server sent it; absent when it does not exist. */
  readonly state?: FlagState;
}
