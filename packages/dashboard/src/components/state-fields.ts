import type { FlagState, Json } from '../api/types.ts';

/** A member of a flag's state that is another in two states. */
export type StateField = 'presence' | 'switch' | 'value' | 'rollout';

/** How each is called on a screen. */
export const STATE_FIELD_NAMES: Readonly<Record<StateField, string>> = {
  presence: 'only in one',
  switch: 'switch',
  value: 'value',
  rollout: 'rollout',
};

/** In what two states differ. */
export function differingFields(
  one: FlagState | null | undefined,
  other: FlagState | null | undefined,
): readonly StateField[] {
  const [first, second] = [one ?? undefined, other ?? undefined];
  if (first === undefined || second === undefined) return first === second ? [] : ['presence'];
  return [
    ...(first.enabled === second.enabled ? [] : (['switch'] as const)),
    ...(isSameJson(first.value, second.value) ? [] : (['value'] as const)),
    ...(first.rolloutPct === second.rolloutPct ? [] : (['rollout'] as const)),
  ];
}

/** Whether two values are written alike; the order of members counts, as it does for readers. */
function isSameJson(one: Json | undefined, other: Json | undefined): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
