import { invalid } from '../../domain/errors.ts';
import { RawJson, type Writable, writeJson } from '../../domain/raw-json.ts';
import type { PageOf } from '../../storage/rows.ts';
import { z } from './zod.ts';

/** Items in a page at most, and by default. */
const PAGE = { most: 1000, default: 100 } as const;

/** A page ends with the item that reaches this size, in bytes of JSON. */
const PAGE_BYTES = 4 * 1024 * 1024;

/** The query members of every list that can be read in pages. Without them the list is complete. */
export const pageQuery = {
  limit: z.coerce
    .number()
    .int()
    .min(1)
    .max(PAGE.most)
    .optional()
    .openapi({
      type: 'integer',
      minimum: 1,
      maximum: PAGE.most,
      description: `Read the list in pages of at most this many items; default ${PAGE.default} with \`cursor\`. Without both the list is complete.`,
    }),
  cursor: z.string().max(4096).optional().openapi({ description: 'The `next` of the page before.' }),
} as const;

/** The member that says where the next page begins. */
export const nextMember = {
  next: z.string().optional().openapi({
    description:
      'The `cursor` of the next page; absent on the last one. A page may have fewer items than `limit`.',
  }),
} as const;

/** The page that a query asks for; `undefined` for the complete list. `parts` are those of the list's cursors. */
export function pageOf<Parts extends CursorParts>(
  { limit, cursor }: { readonly limit?: number | undefined; readonly cursor?: string | undefined },
  parts: Parts,
): PageOf<Parts> | undefined {
  if (limit === undefined && cursor === undefined) return undefined;
  return {
    limit: limit ?? PAGE.default,
    ...(cursor === undefined ? {} : { after: readCursor(cursor, parts) }),
  };
}

/** The values that place an item in its list, in order of their weight. An example says which types they have. */
export type CursorParts = readonly (string | number)[];

/** A list as it is answered: complete, or the page with its `next`. `items` are at most one more than the page takes. */
export function listAnswer<T, Parts extends CursorParts>(
  member: string,
  items: readonly T[],
  {
    page,
    record,
    place,
    next,
  }: {
    readonly page: PageOf<Parts> | undefined;
    readonly record: (item: T) => Writable;
    /** Where the item is in the list. */
    readonly place: (item: T) => Parts;
    /** Where to continue when the items have not filled the page and the list has not ended. */
    readonly next?: Parts | undefined;
  },
): { readonly [member: string]: Writable | undefined } {
  if (page === undefined) return { [member]: items.map(record) };
  const texts: RawJson[] = [];
  let bytes = 0;
  for (const item of items.slice(0, page.limit)) {
    if (bytes > PAGE_BYTES) break;
    const text = writeJson(record(item));
    bytes += text.length;
    texts.push(new RawJson(text));
  }
  const last = items[texts.length - 1];
  const end = texts.length < items.length && last !== undefined ? place(last) : next;
  return { [member]: texts, next: end && writeCursor(end) };
}

/** The page of a list that has been read as a whole; one more item says that it is not the last page. */
export function pageIn<T, Parts extends CursorParts>(
  items: readonly T[],
  page: PageOf<Parts> | undefined,
  place: (item: T) => Parts,
): readonly T[] {
  if (page === undefined) return items;
  const { after, limit } = page;
  return items
    .filter((item) => after === undefined || compare(place(item), after) > 0)
    .sort((a, b) => compare(place(a), place(b)))
    .slice(0, limit + 1);
}

function compare(a: CursorParts, b: CursorParts): number {
  for (const [index, part] of a.entries()) {
    const other = b[index] ?? '';
    if (part !== other) return part < other ? -1 : 1;
  }
  return 0;
}

/** A place in a list as a text that callers hand back unread. */
export function writeCursor(parts: CursorParts): string {
  return Buffer.from(JSON.stringify(parts)).toString('base64url');
}

/** Reads what {@link writeCursor} wrote: texts and whole numbers, as in `parts`. `invalid_argument` for any other text. */
export function readCursor<Parts extends CursorParts>(cursor: string, parts: Parts): Parts {
  let read: unknown;
  try {
    read = JSON.parse(Buffer.from(cursor, 'base64url').toString());
  } catch {
    // Not one of ours.
  }
  const fits =
    Array.isArray(read) &&
    read.length === parts.length &&
    parts.every((part, index) =>
      typeof part === 'number' ? Number.isSafeInteger(read[index]) : typeof read[index] === 'string',
    );
  if (!fits) throw invalid('"cursor" is not the "next" of a page of this list: start without it.');
  // `Parts`: as many, and of the same types.
  return read as unknown as Parts;
}
