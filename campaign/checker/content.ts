/** A flag map read from JSON text: flag key to the canonical text of its state. */
export type FlagTexts = ReadonlyMap<string, string>;

/** Reads flag maps, each distinct text once: a history repeats few texts very often. */
export class ContentReader {
  readonly #counterFlag: string;
  readonly #read = new Map<string, ReadContent>();

  constructor(counterFlag: string) {
    this.#counterFlag = counterFlag;
  }

  /** The flags of a map and the write it ends with. */
  read(text: string): ReadContent {
    const known = this.#read.get(text);
    if (known !== undefined) return known;
    const content = readContent(text, this.#counterFlag);
    this.#read.set(text, content);
    return content;
  }
}

/** The contents of a flag map. */
export interface ReadContent {
  /** Empty when the text is no flag map. */
  readonly flags: FlagTexts;
  /** The counter flag's value; `undefined` when it is missing or no integer. */
  readonly writeId: number | undefined;
}

function readContent(text: string, counterFlag: string): ReadContent {
  const flags = new Map<string, string>();
  let data: unknown;
  try {
    data = JSON.parse(text);
  } catch {
    // Not JSON, so no flag map: no write id, which every rule reports.
    return { flags, writeId: undefined };
  }
  if (typeof data !== 'object' || data === null || Array.isArray(data)) return { flags, writeId: undefined };
  for (const [key, state] of Object.entries(data)) flags.set(key, canonicalJson(state));
  return { flags, writeId: counterOf(Object.entries(data), counterFlag) };
}

function counterOf(entries: readonly [string, unknown][], counterFlag: string): number | undefined {
  const state = entries.find(([key]) => key === counterFlag)?.[1];
  if (typeof state !== 'object' || state === null || !('value' in state)) return undefined;
  return Number.isSafeInteger(state.value) ? Number(state.value) : undefined;
}

/** JSON text with the members of every object sorted, so that equal values have equal texts. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_, member: unknown) => {
    if (typeof member !== 'object' || member === null || Array.isArray(member)) return member;
    return Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1)));
  });
}
