import type { FlagState, Json } from '../api/types.ts';

/** A value on one line, cut where it is long. */
export function valuePreview(value: Json, longest = 40): string {
  const text = JSON.stringify(value);
  return text.length > longest ? `${text.slice(0, longest - 1)}…` : text;
}

/** A state in words: "on, 25 %, value 100". */
export function stateText(state: FlagState | null | undefined): string {
  if (state === null || state === undefined) return 'not there';
  const { enabled, rolloutPct, value } = state;
  return [
    enabled ? 'on' : 'off',
    ...(rolloutPct === undefined ? [] : [`${rolloutPct} %`]),
    ...(value === undefined ? [] : [`value ${valuePreview(value)}`]),
  ].join(', ');
}
