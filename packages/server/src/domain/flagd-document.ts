import { elementsOf, membersOf } from '@halyard/protocol';
import { stateParts } from './flag-state-text.ts';
import type { StateText } from './project.ts';
import { RawJson, type Writable, writeJson } from './raw-json.ts';

/** What becomes of flags that are rolled out to a part of the users: only some versions of flagd choose the same part. */
export const FLAGD_ROLLOUTS = ['include', 'omit'] as const;

/** One of {@link FLAGD_ROLLOUTS}. */
export type FlagdRollouts = (typeof FLAGD_ROLLOUTS)[number];

/** The flags of one environment at one revision. */
export interface FlagdSource {
  readonly environment: string;
  readonly revision: number;
  readonly states: readonly (readonly [flagKey: string, state: StateText])[];
}

/** A rollout's users are counted in thousandths of a per cent. */
const WEIGHTS = 100_000;

/** So many flags are turned into flagd's format in one turn of the event loop. */
const FLAGS_AT_ONCE = 200;

/**
 * The flags of an environment as flagd reads them, in the order of their keys, so that equal flags give equal bytes. This is the one
 * mapping of states to flagd: a node's answers, published files and exports are all made here. Reads get their turn in
 * between. (Spec: S19.1, S19.2)
 */
export async function flagdDocument(
  { environment, revision, states }: FlagdSource,
  rollouts: FlagdRollouts = 'include',
): Promise<string> {
  const sorted = [...states].sort(([a], [b]) => (a < b ? -1 : 1));

  const members: string[] = [];
  for (const [index, [key, state]] of sorted.entries()) {
    if (index % FLAGS_AT_ONCE === FLAGS_AT_ONCE - 1) await new Promise((resolve) => setImmediate(resolve));
    const flag = flagdFlag(key, state, rollouts);
    if (flag !== undefined) members.push(`${JSON.stringify(key)}:${writeJson(flag)}`);
  }

  const flags = new RawJson(`{${members.join(',')}}`);
  return writeJson({ flags, metadata: { environment, revision } });
}

/** Only members that every provider reads: one that it does not know spoils the whole document for some. */
function flagdFlag(key: string, stored: StateText, rollouts: FlagdRollouts): Writable | undefined {
  const parts = stateParts(stored);
  if (parts === undefined) return undefined;
  const { enabled, valueText = 'true', rolloutPct = 100 } = parts;
  const isOn = enabled && rolloutPct > 0;
  const isPartial = isOn && rolloutPct < 100;
  if (valueText === 'null' || !isPortable(valueText) || (isPartial && rollouts === 'omit')) return undefined;

  const on = new RawJson(valueText);
  const targeting = isPartial ? targetingOf(key, rolloutPct) : undefined;
  if (valueText !== 'true' && valueText !== 'false')
    return { state: isOn ? 'ENABLED' : 'DISABLED', variants: { on }, defaultVariant: 'on', targeting };
  return {
    state: 'ENABLED',
    variants: { on, off: false },
    defaultVariant: isOn && !isPartial ? 'on' : 'off',
    targeting,
  };
}

/** Without a targeting key the result is no variant, which is an error and the caller's default, as in OFREP. */
function targetingOf(key: string, rolloutPct: number): Writable {
  const targetingKey = { var: 'targetingKey' };
  const on = Math.round((rolloutPct * WEIGHTS) / 100);
  const fractional = [{ cat: [`${key}:`, targetingKey] }, ['on', on], ['off', WEIGHTS - on]];
  return { if: [{ '===': [targetingKey, null] }, 'no targetingKey', { fractional }] };
}

/**
 * Whether the JSON parsers of all languages read a value. Some refuse a number beyond a double, as Go's does, half of a surrogate
 * pair, or a member that is there twice, and a document in which one value is refused is refused as a whole.
 */
function isPortable(text: string): boolean {
  const members = membersOf(text);
  if (members !== undefined) {
    const names = new Set(members.map(([name]) => name));
    return (
      names.size === members.length &&
      members.every(([name, member]) => name.isWellFormed() && isPortable(member))
    );
  }

  const elements = elementsOf(text);
  if (elements !== undefined) return elements.every(isPortable);
  // `string`: the text of a string in JSON.
  if (text.startsWith('"')) return !text.includes('\\u') || (JSON.parse(text) as string).isWellFormed();
  return !/\d/.test(text) || Number.isFinite(Number(text));
}
