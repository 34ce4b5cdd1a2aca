import { isRecord } from '@halyard/protocol';
import { stateParts } from '../../domain/flag-state-text.ts';
import { RawJson, type Writable, writeJson } from '../../domain/raw-json.ts';
import type { PublishedMap } from './publication.ts';

/** The file that names the newest map. (Spec: S18.3) */
export const POINTER = 'pointer.json';

/** The newest map as flagd reads it. (Spec: S18.3) */
export const FLAGD = 'flagd.json';

/** Objects never change; what names the newest may be a second old, and anything is better than nothing. */
export const CACHE = {
  object: 'public, max-age=31536000, immutable',
  newest: 'public, max-age=1, stale-if-error=86400',
} as const;

/** What the pointer says. */
export interface Pointer {
  readonly environmentId: string;
  readonly revision: number;
  readonly hash: string;
  /** When the revision was published, and when it was last known to be the newest; ISO 8601. */
  readonly publishedAt: string;
  readonly checkedAt: string;
}

/**
 * The name of the object with a map. It has the revision, so that no later one has the same name: an object that is no longer
 * the newest never becomes it again, and can be removed.
 */
export function objectName({ revision, hash }: Pick<PublishedMap, 'revision' | 'hash'>): string {
  return `${revision}-${hash}.json`;
}

/** The text of a pointer. */
export function pointerText(pointer: Pointer): string {
  return JSON.stringify({ version: 1, ...pointer, object: objectName(pointer) });
}

/** Reads a pointer that was stored; `undefined` if it is not one of this version. */
export function parsePointer(text: string): Pointer | undefined {
  let raw: unknown;
  try {
    raw = JSON.parse(text);
  } catch {
    // Something else is there under the name.
    return undefined;
  }
  if (!isRecord(raw) || raw.version !== 1 || !Number.isSafeInteger(raw.revision)) return undefined;
  const texts = [raw.environmentId, raw.hash, raw.publishedAt, raw.checkedAt];
  // Every member has been checked.
  return texts.every((each) => typeof each === 'string') ? (raw as unknown as Pointer) : undefined;
}

/** A rollout's users are counted in thousandths of a per cent. */
const WEIGHTS = 100_000;

/** So many flags are turned into flagd's format in one turn of the event loop. */
const FLAGS_AT_ONCE = 200;

/** The flags of a map in flagd's format. Its metadata names the environment and the revision. Reads get their turn in between. */
export async function flagdText(
  environment: string,
  { revision, states }: Pick<PublishedMap, 'revision' | 'states'>,
): Promise<string> {
  const members: string[] = [];
  for (const [index, [key, state]] of states().entries()) {
    if (index % FLAGS_AT_ONCE === FLAGS_AT_ONCE - 1) await new Promise((resolve) => setImmediate(resolve));
    const flag = flagdFlag(key, state);
    if (flag !== undefined) members.push(`${JSON.stringify(key)}:${writeJson(flag)}`);
  }
  const flags = new RawJson(`{${members.join(',')}}`);
  return writeJson({ flags, metadata: { environment, revision } });
}

/** Only members that every provider reads: one that it does not know spoils the whole set for some. */
function flagdFlag(key: string, stored: string): Writable | undefined {
  const parts = stateParts(stored);
  // Providers in typed languages cannot read `null`.
  if (parts === undefined || parts.valueText === 'null') return undefined;
  const { enabled, valueText = 'true', rolloutPct = 100 } = parts;
  const isSwitch = valueText === 'true' || valueText === 'false';
  const isOn = enabled && rolloutPct > 0;
  const isPartial = isOn && rolloutPct < 100;
  const on = new RawJson(valueText);
  if (!isSwitch) {
    const flag = { state: isOn ? 'ENABLED' : 'DISABLED', variants: { on }, defaultVariant: 'on' };
    return isPartial ? { ...flag, targeting: targetingOf(key, rolloutPct) } : flag;
  }
  const flag = {
    state: 'ENABLED',
    variants: { on, off: false },
    defaultVariant: isOn && !isPartial ? 'on' : 'off',
  };
  return isPartial ? { ...flag, targeting: targetingOf(key, rolloutPct) } : flag;
}

/** Without a targeting key the result is no variant, which is an error and the caller's default, as in OFREP. */
function targetingOf(key: string, rolloutPct: number): Writable {
  const targetingKey = { var: 'targetingKey' };
  const on = Math.round((rolloutPct * WEIGHTS) / 100);
  const fractional = [{ cat: [`${key}:`, targetingKey] }, ['on', on], ['off', WEIGHTS - on]];
  return { if: [{ '===': [targetingKey, null] }, 'no targetingKey', { fractional }] };
}
