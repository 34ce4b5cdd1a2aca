import { defined } from '@halyard/protocol';
import { type Actor, AUDIT_PAGE_SIZE, sizeOf } from '../../domain/audit.ts';
import { invalid } from '../../domain/errors.ts';
import type { ManagementContext } from '../../management/context.ts';
import { seesPeople, visibleProjects } from '../../management/rights.ts';
import type { Queryable } from '../../storage/database.ts';
import { findProject } from '../lookup.ts';
import { readEndOfLog } from '../webhooks/message-query.ts';
import { withNames } from './audit.ts';
import type { NamedAuditEntry } from './audit-schemas.ts';
import { type FollowedPlace, readFollowing, readIdAt, readNewest } from './follow-query.ts';

/** Which entries to follow. */
export interface FollowQuery {
  readonly reader: Actor;
  /** A `seq`, or a cursor of an earlier answer. Absent: nothing before now. */
  readonly after?: string;
  /** The name of a project. */
  readonly project?: string;
  readonly limit: number;
}

/** Entries in the order in which they were written. */
export interface Followed {
  readonly entries: readonly (NamedAuditEntry & { readonly cursor: string })[];
  /** Where to continue. */
  readonly next: string;
  /** Whether there may be more already. */
  readonly hasMore: boolean;
}

/** `812`, or `812-3-0123456789ab`: the seq of an entry, its position, and the end of its id. */
const CURSOR = /^(\d{1,15})(?:-(\d{1,9})-([0-9a-f]{12}))?$/;

/** After every entry with a `seq`. */
const WHOLE = 2_147_483_647;

/** How long one answer looks for entries that the reader may see, in milliseconds. */
const SEARCH_MS = 2000;

/**
 * The entries after a place that the reader may see, oldest first. Followed from `next` to `next`, each comes exactly once.
 * `invalid_argument`, also if the log no longer has the place; `project_not_found`. (Spec: S24.5, S24.6)
 */
export function followAudit(context: ManagementContext, query: FollowQuery): Promise<Followed> {
  return context.store.read(async (db) => {
    const { reader, after, project, limit } = query;
    const projectIds =
      project === undefined ? visibleProjects(reader) : [(await findProject(db, reader, project)).id];
    const filter = { withoutPeople: !seesPeople(reader), ...defined({ projectIds }), limit };

    const newest = await readNewest(db);
    const end = newest === undefined ? '0' : await cursorAt(db, newest);
    if (after === undefined) return { entries: [], next: end, hasMore: false };

    const endsAt = performance.now() + SEARCH_MS;
    for (let from = await placeOf(db, after); ; ) {
      const found = await readFollowing(db, from, filter);
      const page = cut(found.entries);
      const last = page.length < found.entries.length ? page.at(-1) : found.end;
      if (last !== undefined && page.length === 0 && performance.now() < endsAt) {
        from = last;
        continue;
      }

      const entries = (await withNames(db, page)).map((entry, index) => {
        const { position = 0 } = page[index] ?? {};
        return { ...entry, cursor: cursorOf({ seq: entry.seq, position }, entry.id) };
      });
      return {
        entries,
        next: last === undefined ? end : await cursorAt(db, last),
        hasMore: last !== undefined,
      };
    }
  });
}

/** The `seq` in a cursor, after which there is something new; `undefined` for what is no cursor. */
export function seqIn(cursor: string): number | undefined {
  const seq = CURSOR.exec(cursor)?.[1];
  return seq === undefined ? undefined : Number(seq);
}

/** Refuses a place that the log does not have, because what followed it cannot be known. */
async function placeOf(db: Queryable, cursor: string): Promise<FollowedPlace> {
  const [, number, position, tail] = CURSOR.exec(cursor) ?? [];
  if (number === undefined)
    throw invalid(
      '"after" must be the number of an entry, or the "next" of an answer or "cursor" of an entry.',
    );

  const seq = Number(number);
  const place = { seq, position: position === undefined ? WHOLE : Number(position) };
  const isThere =
    tail === undefined
      ? seq <= (await readEndOfLog(db))
      : (await readIdAt(db, place))?.endsWith(tail) === true;
  if (isThere) return place;
  throw invalid(
    `The audit log does not have the entry ${number}, after which it should continue: the database was restored or lost entries, ` +
      'or this is another installation. Look at the newest entries, and continue after one that you know.',
  );
}

async function cursorAt(db: Queryable, place: FollowedPlace): Promise<string> {
  const id = await readIdAt(db, place);
  return id === undefined ? `${place.seq}` : cursorOf(place, id);
}

function cursorOf({ seq, position }: FollowedPlace, id: string): string {
  const tail = id.slice(-12);
  return /^[0-9a-f]{12}$/.test(tail) ? `${seq}-${position}-${tail}` : `${seq}`;
}

/** The first entries, up to the one that reaches the size of a page. */
function cut<Entry extends NamedAuditEntry>(entries: readonly Entry[]): readonly Entry[] {
  let size = 0;
  const end = entries.findIndex((entry) => {
    size += sizeOf(entry);
    return size > AUDIT_PAGE_SIZE;
  });
  return end === -1 ? entries : entries.slice(0, end + 1);
}
