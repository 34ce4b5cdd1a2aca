import type { FlagState } from '@halyard/protocol';
import type { FlagErrorCode } from './errors.ts';

/**
 * The reason for a result. `static`: the flag's value, for everyone. `split`: a partial rollout decided. `disabled`: the flag
 * is off. `default`: the flag is on but has no value. `override`: it is forced here, by `@halyard/client/override`.
 * `error`: see `errorCode`.
 */
export type Reason = 'static' | 'split' | 'disabled' | 'default' | 'override' | 'error';

/** The result of a read, with the reason for it. */
export interface Evaluation<T> {
  readonly key: string;
  readonly value: T;
  /** The result of `isEnabled`. */
  readonly enabled: boolean;
  /** Whether the flags may be out of date, because the client is not connected. */
  readonly stale: boolean;
  readonly reason: Reason;
  readonly errorCode?: FlagErrorCode;
  /** The flag as the server sent it; absent if it does not exist. */
  readonly state?: FlagState;
}
