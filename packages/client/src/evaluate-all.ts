import { evaluate, type FlagMap, type FlagState, readTargetingKey } from '@halyard/protocol';
import type { FlagsClient, ReadOptions, TargetingKey } from './client-types.ts';

/** Every flag as it is for one targeting key. Plain data, as JSON and as what a server component passes on. */
export interface EvaluatedFlags {
  readonly environment: string;
  /** For whom; `null` for someone without a key; absent when neither the call nor the client named one. */
  readonly targetingKey?: string | null;
  /** Whether each flag is on, and its value if it is on and has one. A plain object, frozen. */
  readonly flags: FlagMap;
}

/**
 * Every flag as it is for one targeting key (default: the client's): whether it is on, and the value if it is on and has
 * one. Rollouts are decided and left out, so a page that starts from this, as its `bootstrap`, shows neither percentages
 * nor the values of flags that are off. The page's client reads for the same targeting key, so that nothing changes for its
 * reader when the first flags of the service come. Never throws.
 */
export function evaluateAll(
  client: FlagsClient,
  targetingKey: TargetingKey | undefined = client.targetingKey,
  options?: Pick<ReadOptions, 'from'>,
): EvaluatedFlags {
  const target = readTargetingKey(targetingKey);
  const flags = Object.entries(client.all(options)).map(([key, state]): [string, FlagState] => {
    const { isOn, value } = evaluate(key, state, target);
    return [key, { enabled: isOn, ...(value !== undefined && { value }) }];
  });
  return Object.freeze({
    environment: client.environment,
    ...(target !== undefined && { targetingKey: target }),
    flags: Object.freeze(Object.fromEntries(flags)),
  });
}
