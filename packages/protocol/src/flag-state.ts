import type { Json } from './json.ts';

/** The state of one flag in one environment. Absent members are omitted, never `null`. (Spec: Flag) */
export interface FlagState {
  /** Whether the flag is on. */
  readonly enabled: boolean;
  /** Any JSON value; `null` is a value, absence is not. */
  readonly value?: Json;
  /** Share of targeting keys the flag is on for, 0 to 100 with at most three decimals; absent means everyone. */
  readonly rolloutPct?: number;
}

/** Every flag of an environment by key. Made without a prototype, so `__proto__` is only a key. (Spec: Flag) */
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
 * Reads one flag state from foreign data: a record with a boolean `enabled`, and nothing but the three specified
 * members survives. Gives `undefined` when the data is no flag state.
 */
export function parseFlagState(data: unknown): FlagState | undefined {
  if (!isRecord(data) || typeof data.enabled !== 'boolean') return undefined;
  const { rolloutPct } = data;
  if (rolloutPct !== undefined && !isRolloutPct(rolloutPct)) return undefined;
  return {
    enabled: data.enabled,
    // `Json`: foreign data reaches us through JSON.parse only, which makes nothing else.
    ...(data.value === undefined ? {} : { value: data.value as Json }),
    ...(rolloutPct === undefined ? {} : { rolloutPct }),
  };
}

function isRecord(data: unknown): data is Record<string, unknown> {
  return typeof data === 'object' && data !== null && !Array.isArray(data);
}
