import { evaluate, type FlagMap, type FlagState, readTargetingKey } from '@halyard/protocol';
import type { FlagsClient, ReadOptions, TargetingKey } from './client-types.ts';

/** All flags as they are for one targeting key: plain data, for JSON and for props of client components. */
export interface EvaluatedFlags {
  readonly environment: string;
  /** The targeting key; `null` for a user without one; absent if neither the call nor the client has one. */
  readonly targetingKey?: string | null;
  /** Whether each flag is on, and its value if it is on and has one. A plain object, frozen. */
  readonly flags: FlagMap;
}

/**
 * Returns all flags as they are for one targeting key (default: the client's): whether each is on, and its value if it is on
 * and has one. Rollouts are decided on the server, so a page that gets this as its `bootstrap` sees neither percentages nor the
 * values of flags that are off. The page's client uses the same targeting key, so nothing changes for the user when the client
 * connects. Never throws.
 *
 * @example
 * ```ts
 * const bootstrap = evaluateAll(flags, user?.id ?? null); // on the server
 * const client = createClient({ apiKey: false, environment: 'production', baseUrl: '/flags', bootstrap }); // in the page
 * ```
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
