import { isInRollout, ROLLOUT_BUCKETS, rolloutBucket } from '@halyard/protocol';
import type { FlagState } from '../../api/types.ts';

/** What a client answers for one targeting key. */
export interface KeyEvaluation {
  readonly isOn: boolean;
  /** Why, in words. */
  readonly reason: string;
}

/** Evaluates a state for a targeting key as the client library does; `undefined` for a flag that is not there. */
export function evaluateFor(
  flagKey: string,
  targetingKey: string,
  state: FlagState | undefined,
): KeyEvaluation {
  if (state === undefined) return { isOn: false, reason: 'The flag is not there' };
  if (!state.enabled) return { isOn: false, reason: 'Switched off for everyone' };
  const { rolloutPct } = state;
  if (rolloutPct === undefined) return { isOn: true, reason: 'On for everyone' };
  const share = shareOfBucket(flagKey, targetingKey);
  const isOn = isInRollout(flagKey, targetingKey, rolloutPct);
  return { isOn, reason: `${share} is ${isOn ? 'below' : 'not below'} ${rolloutPct}` };
}

/** Where a targeting key stands between 0 and 100, with three decimals: it is in when the rollout is above. */
export function shareOfBucket(flagKey: string, targetingKey: string): string {
  return ((rolloutBucket(flagKey, targetingKey) * 100) / ROLLOUT_BUCKETS).toFixed(3);
}
