import type { Json } from './json.ts';

/** The state of one flag in one environment. Absent members are omitted, never `null`. (Spec: S2.3, S2.4, S2.5, S2.6) */
export interface FlagState {
  /** Whether the flag is on. */
  readonly enabled: boolean;
  /** Any JSON value; `null` is a value, absence is not. */
  readonly value?: Json;
  /** Share of targeting keys the flag is on for, 0 to 100 with at most three decimals; absent means everyone. */
  readonly rolloutPct?: number;
}

/** Every flag of an environment by key. Made without a prototype, so `__proto__` is only a key. (Spec: S2.7) */
export type FlagMap = Readonly<Record<string, FlagState>>;

/** Greatest size of a flag's `value` as JSON text, in UTF-8 bytes. */
export const MAX_VALUE_BYTES = 64 * 1024;

/** Greatest nesting of a flag's `value`: `[[1]]` has depth 2. */
export const MAX_VALUE_DEPTH = 32;

/** Whether `value` is an allowed rollout percentage: 0 to 100, at most three decimals. */
export function isRolloutPct(value: unknown): value is number {
  return (
    typeof value === 'number' &&
    value >= 0 &&
    value <= 100 &&
    Math.abs(value * 1000 - Math.round(value * 1000)) < 1e-6
  );
}

/**
 * Every member of a flag state with the values that it may have, in the order in which members are written. A new
 * member is added here; a stored state keeps members that are not here, and no reader gets them. (Spec: S2.6)
 */
const MEMBERS = Object.entries({
  enabled: (data) => typeof data === 'boolean',
  value: () => true,
  rolloutPct: isRolloutPct,
} satisfies Record<keyof FlagState, (data: unknown) => boolean>);

/** The names of the members of a flag state, in the order in which they are written. */
export const FLAG_STATE_MEMBERS: readonly string[] = MEMBERS.map(([name]) => name);

/**
 * Reads one flag state from foreign data: a record with a boolean `enabled`, of which only the specified members
 * survive. Returns `undefined` when the data is not a flag state.
 */
export function parseFlagState(data: unknown): FlagState | undefined {
  if (!isRecord(data) || data.enabled === undefined) return undefined;
  const state: Record<string, unknown> = {};
  for (const [name, isValid] of MEMBERS) {
    const member = data[name];
    if (member === undefined) continue;
    if (!isValid(member)) return undefined;
    state[name] = member;
  }
  // `FlagState`: each member was just checked, and `enabled` is present.
  return state as unknown as FlagState;
}

/** Whether `data` is an object and not an array. */
export function isRecord(data: unknown): data is Record<string, unknown> {
  return typeof data === 'object' && data !== null && !Array.isArray(data);
}
