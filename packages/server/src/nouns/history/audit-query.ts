import { defined } from '@halyard/protocol';
import { AUDIT_PAGE_SIZE, type AuditEntry, type ReferencePlace, sizeOf } from '../../domain/audit.ts';
import type { Queryable } from '../../storage/database.ts';
import { beforeLastRow } from '../../storage/places.ts';
import { type NullableColumns, withoutNulls } from '../../storage/rows.ts';
import {
  type AuditFilter,
  type AuditPlace,
  type Condition,
  isAfter,
  type Search,
  searchesFor,
  select,
  where,
} from './audit-search-query.ts';

/** One operation as recorded in the audit log. */
export interface AuditedOperation {
  /** Of its last change-log row. */
  readonly seq: number;
  /** In the order in which it was done; at least one. */
  readonly entries: readonly AuditEntry[];
  /** The revision it made of each environment, by environment id, as long as the change log reaches back to it. */
  readonly revisions: ReadonlyMap<string, number>;
}

/** An operation that was committed. */
export interface MadeChange {
  /** The number of the change. */
  readonly seq: number;
  /** Epoch milliseconds. */
  readonly at: number;
}

/** Some audit entries. */
export interface AuditPage<Entry extends AuditEntry = AuditEntry> {
  readonly entries: readonly Entry[];
  /** Where to continue; absent at the end of the log. There may be more although the page is not full. */
  readonly next?: AuditPlace;
}

/** The columns of an {@link AuditEntry}. */
export const ENTRY_COLUMNS = `id, seq, COALESCE(operation_seq, seq) AS operation, actor, ip, note, action, project_id AS "projectId", environment_id AS "environmentId",
  target, before, after, at`;

const ORDER = 'ORDER BY seq DESC, at DESC, position DESC';

/** Rows that one page looks through at most for filters that no index answers. */
const SCANNED_ROWS = 20_000;

/** Entries that complete the last change of a page at most. */
const MORE_ENTRIES = 10_000;

type PlaceRow = Pick<AuditEntry, 'seq' | 'at'> & { readonly position: number };
type AuditRow = NullableColumns<AuditEntry> & PlaceRow;

/**
 * A page of audit entries, newest first. The last change is complete even beyond `limit`, so that paging by `beforeSeq`
 * skips nothing. The page is found through one index, and ends without being full once it has looked through
 * {@link SCANNED_ROWS}. Texts have no index: PostgreSQL's is an extension that may be missing, and SQLite's would make every
 * change write several times as much.
 */
export async function readAuditPage(db: Queryable, asked: AuditFilter): Promise<AuditPage> {
  const { limit, projectIds } = asked;
  if (projectIds?.length === 0) return { entries: [] };

  const [only] = projectIds ?? [];
  // One project has an index.
  const filter = only !== undefined && projectIds?.length === 1 ? { projectId: only, ...asked } : asked;

  const entries: AuditEntry[] = [];
  let size = 0;
  let end: AuditPlace | undefined;
  for (const search of await searchesFor(db, filter)) {
    const page = await readSearch(db, search, limit - entries.length);
    entries.push(...page.entries);
    size += page.entries.reduce((sum, entry) => sum + sizeOf(entry), 0);

    end = page.next ?? search.end;
    if (page.next !== undefined || entries.length >= limit || size > AUDIT_PAGE_SIZE) break;
  }
  return { entries, ...defined({ next: end }) };
}

/** A page of what one search finds. */
async function readSearch(db: Queryable, { indexed, others }: Search, limit: number): Promise<AuditPage> {
  const rows = await select<AuditRow>(db, (add) => {
    const scan = `SELECT * FROM audit_log ${where(indexed, add)} ${ORDER} LIMIT ${add(SCANNED_ROWS)}`;
    const found = `FROM (${scan}) AS scanned ${where(others, add)}`;
    return `SELECT ${ENTRY_COLUMNS}, position ${found} ${ORDER} LIMIT ${add(limit + 1)}`;
  });

  const last = rows[limit - 1];
  if (rows.length <= limit || last === undefined) {
    const short = cut(rows);
    if (short !== undefined) return short;
    if (others.length === 0) return { entries: rows.map(toEntry) };
    // The log has ended, or the rows that may be looked through.
    const [end] = await select<PlaceRow>(
      db,
      (add) =>
        `SELECT seq, at, position FROM audit_log ${where(indexed, add)} ${ORDER} LIMIT 1 OFFSET ${add(SCANNED_ROWS - 1)}`,
    );
    return { entries: rows.map(toEntry), ...(end && { next: placeOf(end) }) };
  }

  const page = rows.slice(0, limit);
  if (rows[limit]?.seq === last.seq) {
    const same: Condition = (add) => `seq = ${add(last.seq)}`;
    const more = [...indexed, ...others, same, isAfter(placeOf(last))];
    page.push(
      ...(await select<AuditRow>(
        db,
        (add) =>
          `SELECT ${ENTRY_COLUMNS}, position FROM audit_log ${where(more, add)} ${ORDER} LIMIT ${add(MORE_ENTRIES)}`,
      )),
    );
  }

  return cut(page) ?? { entries: page.map(toEntry), next: placeOf(page.at(-1) ?? last) };
}

/** The first rows of a page that is too large. */
function cut(rows: readonly AuditRow[]): AuditPage | undefined {
  let size = 0;
  for (const [index, row] of rows.entries()) {
    if (size > AUDIT_PAGE_SIZE)
      return { entries: rows.slice(0, index).map(toEntry), next: placeOf(rows[index - 1] ?? row) };
    size += sizeOf(toEntry(row));
  }
  return undefined;
}

function toEntry({ position: _, ...row }: AuditRow): AuditEntry {
  return withoutNulls<AuditEntry>(row);
}

function placeOf({ seq, at, position }: PlaceRow): AuditPlace {
  return [seq, at, position];
}

/** The whole operation that wrote row `seq`; `undefined` when it has no entry. */
export async function readOperation(db: Queryable, seq: number): Promise<AuditedOperation | undefined> {
  const [found] = await db.query<{ last: number }>(
    'SELECT COALESCE(operation_seq, seq) AS last FROM audit_log WHERE seq = $1 LIMIT 1',
    [seq],
  );
  if (found === undefined) return undefined;

  const rows = await db.query<NullableColumns<AuditEntry>>(
    `SELECT ${ENTRY_COLUMNS} FROM audit_log WHERE seq = $1 OR (${beforeLastRow('$1')})
      ORDER BY position`,
    [found.last],
  );
  const entries = rows.map(withoutNulls<AuditEntry>);

  const first = Math.min(...entries.map((entry) => entry.seq));
  const revisions = await db.query<{ id: string; revision: number }>(
    `SELECT environment_id AS id, revision FROM change_log
      WHERE seq >= $1 AND seq <= $2 AND revision IS NOT NULL ORDER BY seq`,
    [first, found.last],
  );

  return {
    seq: found.last,
    entries,
    revisions: new Map(revisions.map(({ id, revision }) => [id, revision])),
  };
}

/** The operations of `actor` under one of its references, oldest first. */
export function readOperationsUnder(
  db: Queryable,
  { actor, reference }: ReferencePlace,
): Promise<MadeChange[]> {
  return db.query<MadeChange>(
    `SELECT COALESCE(operation_seq, seq) AS seq, max(at) AS at FROM audit_log
      WHERE reference = $1 AND actor = $2 GROUP BY COALESCE(operation_seq, seq) ORDER BY 1`,
    [reference, actor],
  );
}
