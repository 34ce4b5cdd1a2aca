import type { ReactNode } from 'react';
import { isSameValue } from '../api/flag-states.ts';
import type { FlagState, Json } from '../api/types.ts';
import { Badge } from './badges.tsx';

/** A state on one line: switch, rollout and value. The color only repeats the words. */
export function StateSummary({
  state,
  value,
}: {
  state: FlagState | null | undefined;
  /** The part of the value to show, if there is one. Default: its beginning. */
  value?: ReactNode;
}) {
  if (state === null || state === undefined) return <span className="text-ink-3 italic">not set</span>;
  const { enabled, rolloutPct } = state;
  const text = shownValue(state, 60);
  return (
    <span className="inline-flex max-w-full min-w-0 flex-wrap items-center gap-x-2 gap-y-0.5">
      <Badge kind={enabled ? 'good' : 'plain'}>{enabled ? 'On' : 'Off'}</Badge>
      {rolloutPct !== undefined && <span className="text-xs text-ink-2">{rolloutPct} %</span>}
      {text !== undefined && (
        <code
          className="max-w-full min-w-0 font-mono text-xs wrap-anywhere text-ink-2"
          title={shownValue(state, 2_000)}
        >
          {value ?? text}
        </code>
      )}
    </span>
  );
}

/** A value on one line, truncated if it is long. */
export function valuePreview(value: Json, longest = 40): string {
  const text = JSON.stringify(value);
  return text.length > longest ? `${text.slice(0, longest - 1)}…` : text;
}

/** The value of a state on one line; with its size if it is cut in a list and there is room. `undefined` without one. */
export function shownValue(
  { value, valuePreview: cut }: Pick<FlagState, 'value' | 'valuePreview'>,
  longest: number,
): string | undefined {
  if (cut === undefined) return value === undefined ? undefined : valuePreview(value, longest);
  const { start, bytes } = cut;
  return longest <= start.length
    ? `${start.slice(0, longest - 1)}…`
    : `${start}… (${Math.max(1, Math.round(bytes / 1024))} KB)`;
}

/** A state in words: "on, 25 %, value 100". */
export function stateText(state: FlagState | null | undefined): string {
  if (state === null || state === undefined) return 'not set';
  const { enabled, rolloutPct } = state;
  const text = shownValue(state, 40);
  return [
    enabled ? 'on' : 'off',
    ...(rolloutPct === undefined ? [] : [`${rolloutPct} %`]),
    ...(text === undefined ? [] : [`value ${text}`]),
  ].join(', ');
}

/** A member of a flag's state that differs between two states. */
type StateField = 'presence' | 'switch' | 'value' | 'rollout';

/** Their names on screens. */
export const STATE_FIELD_NAMES: Readonly<Record<StateField, string>> = {
  presence: 'only in one',
  switch: 'switch',
  value: 'value',
  rollout: 'rollout',
};

/** The differences of two states. */
export function differingFields(
  one: FlagState | null | undefined,
  other: FlagState | null | undefined,
): readonly StateField[] {
  const [first, second] = [one ?? undefined, other ?? undefined];
  if (first === undefined || second === undefined) return first === second ? [] : ['presence'];
  return [
    ...(first.enabled === second.enabled ? [] : (['switch'] as const)),
    ...(isSameValue(first, second) ? [] : (['value'] as const)),
    ...(first.rolloutPct === second.rolloutPct ? [] : (['rollout'] as const)),
  ];
}
