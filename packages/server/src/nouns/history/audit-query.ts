import { AUDIT_PAGE_SIZE, type AuditEntry, type ReferencePlace, sizeOf } from '../../domain/audit.ts';
import type { Parameter, Queryable } from '../../storage/database.ts';
import { beforeLastRow, COMMON_ACTION, IS_SELDOM, NOT_ABOUT_PEOPLE } from '../../storage/places.ts';
import { type NullableColumns, withoutNulls } from '../../storage/rows.ts';
import { likeText, spellings } from '../../storage/search.ts';

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

/** The place of an entry in the audit log: its `seq`, time and position in its operation, all descending. */
export type AuditPlace = readonly [seq: number, at: number, position: number];

/** Some audit entries. */
export interface AuditPage {
  readonly entries: readonly AuditEntry[];
  /** Where to continue; absent at the end of the log. There may be more although the page is not full. */
  readonly next?: AuditPlace;
}

/** Which audit entries to read. */
export interface AuditFilter {
  /** Leaves out entries about people and their credentials. */
  readonly withoutPeople?: boolean;
  /** Only entries of these projects; absent: of all, and of none. */
  readonly projectIds?: readonly string[];
  readonly projectId?: string;
  readonly environmentId?: string;
  readonly target?: string;
  /** The whole name, as in `operator:ada@example.com`. */
  readonly actor?: string;
  /** A whole action such as `flag.archived`, or a noun alone: `flag`. */
  readonly action?: string;
  /** Found in the target, the actor or the note; upper and lower case are equal. */
  readonly text?: string;
  /** Epoch milliseconds: from `since`, before `until`. */
  readonly since?: number;
  readonly until?: number;
  /** Only entries with a smaller `seq`; for paging. */
  readonly beforeSeq?: number;
  /** Only entries after this place, which is older. */
  readonly after?: AuditPlace;
  /** Entries at most, except that the last `seq` is always complete, so that paging skips nothing. */
  readonly limit: number;
}

const COLUMNS = `id, seq, COALESCE(operation_seq, seq) AS operation, actor, ip, note, action, project_id AS "projectId", environment_id AS "environmentId",
  target, before, after, at`;

const ORDER = 'ORDER BY seq DESC, at DESC, position DESC';

/** Rows that one page looks through at most for filters that no index answers. */
const SCANNED_ROWS = 20_000;

/** Entries that complete the last change of a page at most. */
const MORE_ENTRIES = 10_000;

/** How far the clocks of nodes that write to one log may be apart at most, in milliseconds. */
const CLOCK_SKEW_MS = 86_400_000;

type PlaceRow = Pick<AuditEntry, 'seq' | 'at'> & { readonly position: number };
type AuditRow = NullableColumns<AuditEntry> & PlaceRow;

/** Writes a condition, and its values with `add`, which returns their place in the statement. */
type Condition = (add: (value: Parameter) => string) => string;

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

  const { indexed, others } = await conditions(db, filter);
  const rows = await select<AuditRow>(db, (add) => {
    const scan = `SELECT * FROM audit_log ${where(indexed, add)} ${ORDER} LIMIT ${add(SCANNED_ROWS)}`;
    const found = `FROM (${scan}) AS scanned ${where(others, add)}`;
    return `SELECT ${COLUMNS}, position ${found} ${ORDER} LIMIT ${add(limit + 1)}`;
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
          `SELECT ${COLUMNS}, position FROM audit_log ${where(more, add)} ${ORDER} LIMIT ${add(MORE_ENTRIES)}`,
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

function select<Row>(db: Queryable, write: (add: (value: Parameter) => string) => string): Promise<Row[]> {
  const parameters: Parameter[] = [];
  const text = write((value) => `$${parameters.push(value)}`);
  return db.query<Row>(text, parameters);
}

function where(conditions: readonly Condition[], add: (value: Parameter) => string): string {
  return conditions.length === 0 ? '' : `WHERE ${conditions.map((write) => write(add)).join(' AND ')}`;
}

function toEntry({ position: _, ...row }: AuditRow): AuditEntry {
  return withoutNulls<AuditEntry>(row);
}

function placeOf({ seq, at, position }: PlaceRow): AuditPlace {
  return [seq, at, position];
}

function isAfter([seq, at, position]: AuditPlace): Condition {
  return (add) => `(seq, at, position) < (${add(seq)}, ${add(at)}, ${add(position)})`;
}

/** The whole operation that wrote row `seq`; `undefined` when it has no entry. */
export async function readOperation(db: Queryable, seq: number): Promise<AuditedOperation | undefined> {
  const [found] = await db.query<{ last: number }>(
    'SELECT COALESCE(operation_seq, seq) AS last FROM audit_log WHERE seq = $1 LIMIT 1',
    [seq],
  );
  if (found === undefined) return undefined;

  const rows = await db.query<NullableColumns<AuditEntry>>(
    `SELECT ${COLUMNS} FROM audit_log WHERE seq = $1 OR (${beforeLastRow('$1')})
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

/** The conditions that one index answers together with the order, and the others. */
async function conditions(
  db: Queryable,
  filter: AuditFilter,
): Promise<{ readonly indexed: readonly Condition[]; readonly others: readonly Condition[] }> {
  const { projectId, environmentId, target, actor, action, text, since, until, beforeSeq, after } = filter;
  const equal = (column: string, value: string | undefined): Condition[] =>
    value === undefined ? [] : [(add) => `${column} = ${add(value)}`];
  const wholeAction = action?.includes('.') ? action : undefined;
  const isCommon = wholeAction === COMMON_ACTION;

  // The first is likely to leave the fewest rows; the target has an index together with its project.
  const choices = [
    projectId === undefined
      ? []
      : [...equal('target', target), ...(target === undefined ? [] : equal('project_id', projectId))],
    equal('environment_id', environmentId),
    equal('actor', actor),
    wholeAction === undefined || isCommon ? [] : [...equal('action', wholeAction), () => IS_SELDOM],
    equal('project_id', projectId),
  ];
  const chosen = choices.find((choice) => choice.length > 0) ?? [];

  const [from, before] = [await seqAt(db, since, -CLOCK_SKEW_MS), await seqAt(db, until, CLOCK_SKEW_MS)];
  // SQLite uses the index for the order only with a condition on it, and only the first of two bounds on one side.
  const first = from ?? (chosen.length > 0 ? undefined : 0);
  const ends = [before, beforeSeq, after && after[0] + 1].filter((end) => end !== undefined);

  const indexed = [
    ...chosen,
    ...(first === undefined ? [] : [((add) => `seq >= ${add(first)}`) satisfies Condition]),
    ...(ends.length === 0 ? [] : [((add) => `seq < ${add(Math.min(...ends))}`) satisfies Condition]),
    ...(after === undefined ? [] : [isAfter(after)]),
  ];

  const others: Condition[] = [
    ...choices.filter((choice) => choice !== chosen).flat(),
    ...(projectId === undefined ? equal('target', target) : []),
    ...(isCommon ? equal('action', wholeAction) : []),
    ...(since === undefined ? [] : [((add) => `at >= ${add(since)}`) satisfies Condition]),
    ...(until === undefined ? [] : [((add) => `at < ${add(until)}`) satisfies Condition]),
    // A noun alone means all its actions.
    ...(action === undefined || wholeAction !== undefined
      ? []
      : [((add) => `action LIKE ${add(`${likeText(action)}.%`)} ESCAPE '\\'`) satisfies Condition]),
    ...(filter.withoutPeople === true ? [() => NOT_ABOUT_PEOPLE] : []),
    ...(filter.projectIds === undefined ? [] : [isInOneOf(filter.projectIds)]),
    ...(text === undefined ? [] : [isFoundIn(text)]),
  ];
  return { indexed, others };
}

function isInOneOf(projectIds: readonly string[]): Condition {
  return (add) => `project_id IN (${projectIds.map(add).join(', ')})`;
}

function isFoundIn(text: string): Condition {
  return (add) => {
    const matches = spellings(text).flatMap((words) => {
      const pattern = add(`%${likeText(words)}%`);
      const columns = ['target', 'actor', `COALESCE(note, '')`];
      return columns.map((column) => `lower(${column}) LIKE ${pattern} ESCAPE '\\'`);
    });
    return `(${matches.join(' OR ')})`;
  };
}

/**
 * The first `seq` whose entry is from `time` (epoch milliseconds, plus `slackMs`) or later. Times grow along the log, but
 * for the clocks of its writers, so that a search by halves finds it without an index of times.
 */
async function seqAt(db: Queryable, time: number | undefined, slackMs: number): Promise<number | undefined> {
  if (time === undefined) return undefined;
  const [ends] = await db.query<{ first: number | null; last: number | null }>(
    'SELECT (SELECT min(seq) FROM audit_log) AS first, (SELECT max(seq) FROM audit_log) AS last',
  );

  let low = ends?.first ?? 0;
  let high = (ends?.last ?? 0) + 1;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const [found] = await db.query<{ seq: number; at: number }>(
      'SELECT seq, at FROM audit_log WHERE seq >= $1 ORDER BY seq LIMIT 1',
      [middle],
    );
    if (found === undefined || found.at >= time + slackMs) high = middle;
    else low = found.seq + 1;
  }
  return low;
}
