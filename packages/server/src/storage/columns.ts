/** A record as its row has it: what is optional in the record is NULL in the row. */
export type NullableColumns<T> = {
  readonly [K in keyof T]-?: undefined extends T[K] ? Exclude<T[K], undefined> | null : T[K];
};

/** The record of a row: NULL columns become absent members. */
export function withoutNulls<T>(row: NullableColumns<T>): T {
  // `T`: its row type differs from it in the NULLs only, and those are gone.
  return Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null)) as T;
}

/** What stands after the name of a deleted environment in the list of a key; no environment's name can end so. */
export const DELETED_MARK = ' (deleted)';

/**
 * Reads a list of texts from a column of JSON text. A damaged column gives an empty list: the list screens must work
 * for people to find and mend it.
 */
export function parseTextList(column: unknown): readonly string[] {
  try {
    const list: unknown = JSON.parse(String(column));
    return Array.isArray(list) && list.every((item) => typeof item === 'string') ? list : [];
  } catch {
    // Not JSON: damaged, see above.
    return [];
  }
}
