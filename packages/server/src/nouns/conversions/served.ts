import { compactJson } from '@halyard/protocol';
import { approximated, type ConversionRules, type FoundState, lost, type Note } from './conversion.ts';
import type { Piece } from './piece.ts';

/** A value that some users get. */
export interface Part {
  /** JSON text; absent for the default in the caller's code. */
  readonly value?: string | undefined;
  readonly weight: number;
}

/** What another service serves in an environment, without its rules. */
export interface Served {
  /** Where it is in the file. */
  readonly piece: Piece;
  readonly isOn: boolean;
  /** What is served while the flag is on. */
  readonly parts: readonly Part[];
  /** What is served while it is off; absent for the default in the caller's code. */
  readonly off?: string | undefined;
  /** What else is to be said. */
  readonly notes?: readonly Note[];
  /** Whether a part of the users is the same part here. By default the service has another hash. */
  readonly isSameHash?: boolean;
}

/** Shares are kept to a thousandth of a per cent. */
const STEPS = 100_000;

/** The state that serves the same, as far as there is one, and remarks about the difference. */
export function stateOf(served: Served, rules: ConversionRules): FoundState {
  const { piece, isOn, off } = served;
  if (served.parts.some(({ weight }) => weight < 0)) throw piece.wrong('without shares below 0');
  const parts = mergeParts(served.parts);
  const notes = [...(served.notes ?? [])];

  const one = parts.length <= 1 ? { value: parts[0]?.value, rolloutPct: 100 } : shareOf(parts, off);
  if (one === undefined) {
    const values = parts.map(({ value = 'the default' }) => value).join(', ');
    return { enabled: false, notes: [...notes, lost(piece, `serves several values: ${values}`)] };
  }

  const { value, rolloutPct } = one;
  const isSwitch = value === 'true';
  const isPartial = rolloutPct > 0 && rolloutPct < 100;
  if (isPartial && !served.isSameHash) notes.push(approximated(piece, changeSides(rolloutPct)));
  if (isPartial && !isSwitch && off !== undefined) notes.push(outsideNote(piece, off, rules));

  if (!isOn && off === 'true') {
    const note = lost(piece, 'serves true while it is off, which is off here');
    return { enabled: true, notes: [...notes, note] };
  }
  if (off !== undefined && off !== 'false') notes.push(offNote(served, off, rules));
  // `false` for everyone is off, however the switch stands: here a flag that is on says so to code that asks.
  if (value === undefined || value === 'false') return { enabled: false, notes };
  return {
    enabled: isOn,
    ...(!isSwitch && { valueText: value }),
    ...(rolloutPct < 100 && { rolloutPct }),
    notes,
  };
}

/** Text that holds a JSON object or list, as that value if the rules say so; anything else as a string. */
export function textValue(text: string, { parseJson }: ConversionRules): string {
  if (parseJson && /^\s*[[{]/.test(text)) {
    try {
      return compactJson(text);
    } catch {
      // It only looks like JSON.
    }
  }
  return JSON.stringify(text);
}

/** Adds up the parts of one value, and leaves out empty ones. */
function mergeParts(parts: readonly Part[]): readonly Part[] {
  const weights = new Map<string | undefined, number>();
  for (const { value, weight } of parts)
    if (weight > 0) weights.set(value, (weights.get(value) ?? 0) + weight);
  return [...weights].map(([value, weight]) => ({ value, weight }));
}

/** The value that a part of the users gets, and their share, if what the others get is nothing here. */
function shareOf(
  [first, second, ...others]: readonly Part[],
  off: string | undefined,
): { readonly value: string | undefined; readonly rolloutPct: number } | undefined {
  if (first === undefined || second === undefined || others.length > 0) return undefined;
  const inside = insideOf(first, second, off);
  if (inside === undefined) return undefined;
  const share = inside.weight / (first.weight + second.weight);
  return { value: inside.value, rolloutPct: Math.round(share * STEPS) / (STEPS / 100) };
}

/** The one of two parts that has the flag, if the other has what a flag that is off gives here. */
function insideOf(first: Part, second: Part, off: string | undefined): Part | undefined {
  const pairs = [[first, second] as const, [second, first] as const];
  const hasBoolean = pairs.some(([{ value }]) => value === 'true' || value === 'false');
  if (hasBoolean) {
    const outside = [undefined, 'false'];
    return pairs.find(([inside, other]) => inside.value === 'true' && outside.includes(other.value))?.[0];
  }
  const withDefault = pairs.find(([, other]) => other.value === undefined);
  return (withDefault ?? pairs.find(([, other]) => other.value === off))?.[0];
}

function outsideNote(piece: Piece, off: string, { offIsDefault }: ConversionRules): Note {
  const text = `the other users get ${off} there, and the default in your code here`;
  return offIsDefault ? approximated(piece, text) : lost(piece, text);
}

/** The other service serves a value while the flag is off. */
function offNote({ piece, isOn }: Served, off: string, { offIsDefault }: ConversionRules): Note {
  const here = off === 'true' ? 'it is off here' : 'your code gets its default here';
  const text = `serves ${off} while it is off, and ${here}`;
  return isOn || offIsDefault ? approximated(piece, text) : lost(piece, text);
}

function changeSides(rolloutPct: number): string {
  const share = rolloutPct / 100;
  const changed = Math.round(2 * share * (1 - share) * 1000) / 10;
  return `another hash decides who is among the ${rolloutPct} %: about ${changed} % of all users change sides`;
}
