import { evaluate, type FlagMap, type FlagState } from '@halyard/protocol';
import type { FlagsClient, ReadOptions } from './client-types.ts';

/**
 * Every flag as it is for one targeting key (default: the client's): whether it is on, and the value if it is on and has
 * one. Rollouts are decided and left out, so a page that starts from this, as its `bootstrap`, shows neither percentages
 * nor the values of flags that are off. Never throws.
 */
export function evaluateAll(
  client: FlagsClient,
  targetingKey: string | undefined = client.targetingKey,
  options?: Pick<ReadOptions, 'from'>,
): FlagMap {
  const evaluated: Record<string, FlagState> = Object.create(null);
  for (const [key, state] of Object.entries(client.all(options))) {
    const { isOn, value } = evaluate(key, state, targetingKey);
    evaluated[key] = { enabled: isOn, ...(value !== undefined && { value }) };
  }
  return Object.freeze(evaluated);
}
