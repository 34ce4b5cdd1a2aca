import type { NamedValue } from '../../domain/named-values.ts';
import type { FlagDetails } from '../../domain/project.ts';
import type { Piece } from './piece.ts';

/** What a conversion may do that changes what programs get. */
export interface ConversionRules {
  /** A flag of which something is left out stays on for everyone whom the rest of it concerns. By default it is off there. */
  readonly keepOn: boolean;
  /** What the other service serves while a flag is off may be left to the default in the caller's code. */
  readonly offIsDefault: boolean;
  /** A text that holds a JSON object or list becomes that value. */
  readonly parseJson: boolean;
  /** What a variant of Flipt gives: its key or its attachment. Without it, variants with attachments do not fit. */
  readonly variantValue?: 'key' | 'attachment';
  /** The namespace of Flipt that becomes the project. */
  readonly namespace?: string;
}

/** A remark about something that does not become exactly what it was. */
export interface Note {
  /** `approximated`: programs get the same now, or other users of the same share. `lost`: something is left out. */
  readonly outcome: 'approximated' | 'lost';
  readonly text: string;
  /** Where it is in the file. */
  readonly place: string;
}

/** What was found of a flag in one environment: as it would be if nothing were left out, and the remarks. */
export interface FoundState {
  readonly enabled: boolean;
  /** JSON text; absent for a flag that is only on or off. */
  readonly valueText?: string;
  readonly rolloutPct?: number;
  readonly notes: readonly Note[];
}

/** What was found of a flag in a file. */
export interface FoundFlag {
  readonly key: string;
  readonly place: string;
  readonly details?: Partial<FlagDetails>;
  readonly isArchived?: boolean;
  /** The values that people choose from there, by their names. */
  readonly variants?: readonly NamedValue[];
  /** By the name that the file gives the environment. */
  readonly states: ReadonlyMap<string, FoundState>;
}

/** What was found in a file. */
export interface Found {
  readonly flags: readonly FoundFlag[];
  /** What concerns all flags. */
  readonly warnings?: readonly string[];
}

/** A file of another service. */
export interface Source {
  readonly root: Piece;
  /** The environment that the caller named for the file, for formats that do not name it. Throws without one. */
  readonly environment: () => string;
}

/** Reads the format of one service. Throws a `ConversionError` for what is not in that format. */
export type Reader = (source: Source, rules: ConversionRules) => Found;

/** A remark of a kind about a piece. */
export function lost(piece: Piece, text: string): Note {
  return { outcome: 'lost', text, place: piece.place };
}

/** As {@link lost}, for what is only approximated. */
export function approximated(piece: Piece, text: string): Note {
  return { outcome: 'approximated', text, place: piece.place };
}

/** `1 rule`, `2 rules`. */
export function count(number: number, what: string): string {
  return `${number} ${what}${number === 1 ? '' : 's'}`;
}

/** Remarks about lists that must be empty, because what is in them does not fit. */
export function leftOut(...lists: readonly (readonly [piece: Piece, what: string])[]): readonly Note[] {
  return lists.flatMap(([piece, what]) => {
    const { length } = Array.isArray(piece.data) ? piece.elements : piece.members;
    return length === 0 ? [] : [lost(piece, `${count(length, what)} left out`)];
  });
}

/** The description of a flag that also has a name for people. */
export function describe(key: string, name: string, description: string): string {
  return name === '' || name === key ? description : description === '' ? name : `${name}: ${description}`;
}
