import { CLOCK_TOLERANCE_MS } from '../../domain/clock.ts';
import { checkKindOfValues, readableNamedValues } from '../../domain/named-values.ts';
import { detailsOf, detailsRecord, type Flag, type FlagDetails } from '../../domain/project.ts';
import { RawJson, writeJson } from '../../domain/raw-json.ts';
import type { Queryable, Statement } from '../../storage/database.ts';
import type { Journal } from '../../storage/journal.ts';
import { IS_SELDOM, PROJECT_BY_NAME } from '../../storage/places.ts';
import {
  type ArchivedStates,
  byText,
  chunks,
  type Insert,
  insertions,
  type NullableColumns,
  type PageOf,
  pageRows,
  parseArchivedStates,
  parseTextList,
  placeholders,
  runAll,
  withoutNulls,
  writeArchivedStates,
} from '../../storage/rows.ts';
import type { Tx } from '../../storage/tx.ts';

const SELECT = `SELECT project_id AS "projectId", key, description, tags, owner, permanent,
  value_kind AS "valueKind", named_values AS "namedValues", created_at AS "createdAt", archived_at AS "archivedAt" FROM flags`;

type FlagRow = NullableColumns<Omit<Flag, 'tags' | 'permanent'>> & {
  readonly tags: unknown;
  readonly permanent: number;
};

/** Flag keys that one statement names at most. */
const KEYS_PER_STATEMENT = 500;

/** No ON CONFLICT: when another writer was first, the work must run again and see what that one wrote. */
const INSERT: Insert = {
  table: 'flags',
  columns: [
    'project_id',
    'key',
    'description',
    'tags',
    'owner',
    'permanent',
    'value_kind',
    'named_values',
    'created_at',
  ],
};

/** The flags of a project, by key. With `page`, one flag more than it takes at most. */
export async function readFlags(
  db: Queryable,
  projectId: string,
  page?: PageOf<readonly [key: string]>,
): Promise<readonly Flag[]> {
  const select = `${SELECT} WHERE project_id = $1`;
  const rows = await pageRows<FlagRow>(db, select, projectId, { order: ['key'], page });
  return byText(rows.map(toFlag), ({ key }) => key);
}

/** One flag. */
export async function readFlag(db: Queryable, projectId: string, key: string): Promise<Flag | undefined> {
  const [row] = await db.query<FlagRow>(`${SELECT} WHERE project_id = $1 AND key = $2`, [projectId, key]);
  return row && toFlag(row);
}

/** The flags with these keys, by key. */
export async function readFlagsNamed(
  db: Queryable,
  projectId: string,
  keys: readonly string[],
): Promise<ReadonlyMap<string, Flag>> {
  const flags = new Map<string, Flag>();
  for (const some of chunks(keys, KEYS_PER_STATEMENT)) {
    const text = `${SELECT} WHERE project_id = $1 AND key IN (${placeholders(some.length, 1)})`;
    const rows = await db.query<FlagRow>(text, [projectId, ...some]);
    for (const row of rows) flags.set(row.key, toFlag(row));
  }
  return flags;
}

function toFlag({ tags, permanent, ...row }: FlagRow): Flag {
  const record = withoutNulls<Omit<Flag, 'tags' | 'permanent'>>(row);
  const namedValues = readableNamedValues(record.namedValues);
  return { ...record, tags: parseTextList(tags), permanent: permanent !== 0, namedValues };
}

/** Reads which of these flags the project has, and since when they are archived. */
export function selectFlags(project: string, keys: readonly string[]): Statement {
  return {
    text: `SELECT key, archived_at AS "archivedAt" FROM flags
      WHERE project_id = ${PROJECT_BY_NAME} AND key IN (${placeholders(keys.length, 1)})`,
    parameters: [project, ...keys],
  };
}

/** The states of an archived flag, by environment id; empty for a flag that is not archived. */
export async function readArchivedStates(
  db: Queryable,
  { projectId, key }: Pick<Flag, 'projectId' | 'key'>,
): Promise<ArchivedStates> {
  const archived = await archivedStates(db, 'project_id = $1 AND key = $2', projectId, key);
  return archived.get(key) ?? new Map();
}

/** The states of all archived flags of the project, by key. */
export function readAllArchivedStates(
  db: Queryable,
  projectId: string,
): Promise<ReadonlyMap<string, ArchivedStates>> {
  return archivedStates(db, 'project_id = $1 AND archived_at IS NOT NULL', projectId);
}

/**
 * Without those of an environment that was made again since: they are of an earlier one, whose id it has. That is removed
 * when an environment is made again, but was not by older versions, and a flag that is created again brings it back.
 */
async function archivedStates(
  db: Queryable,
  condition: string,
  ...parameters: readonly [projectId: string, ...string[]]
): Promise<ReadonlyMap<string, ArchivedStates>> {
  const flags = await db.query<{ key: string; states: string | null; at: number | null }>(
    `SELECT key, archived_states AS states, archived_at AS at FROM flags WHERE ${condition}`,
    parameters,
  );
  const madeAgain = await db.query<{ id: string; createdAt: number }>(
    // The expression makes both engines begin with the few deletions. The clocks alone would take a date that was wrong.
    `SELECT id, created_at AS "createdAt" FROM environments WHERE project_id = $1 AND EXISTS (
      SELECT 1 FROM audit_log WHERE action = 'environment.deleted' AND ${IS_SELDOM} AND environment_id || '' = environments.id)`,
    [parameters[0]],
  );

  return new Map(
    flags.map(({ key, states, at }) => {
      const kept = new Map(parseArchivedStates(states ?? undefined));
      for (const { id, createdAt } of madeAgain)
        if (createdAt > (at ?? 0) + CLOCK_TOLERANCE_MS) kept.delete(id);
      return [key, kept];
    }),
  );
}

/** Inserts the flag, or replaces its details. No revision, no frame. `invalid_argument` for named values of another kind. */
export async function storeFlag(tx: Tx, flag: Flag): Promise<void> {
  const known = await readFlag(tx, flag.projectId, flag.key);
  if (known === undefined) return insertFlags(tx, [flag]);
  const before = detailsText(known);
  const after = detailsText(flag);
  if (before === after) return;
  checkKindOfValues(flag);

  const { projectId, key, description, tags, owner, permanent, valueKind, namedValues } = flag;
  await tx.query(
    `UPDATE flags SET description = $3, tags = $4, owner = $5, permanent = $6, value_kind = $7, named_values = $8
      WHERE project_id = $1 AND key = $2`,
    [projectId, key, description, JSON.stringify(tags), owner, permanent ? 1 : 0, valueKind, namedValues],
  );
  tx.journal.audit({ action: 'flag.updated', projectId, target: key, before, after });
}

/** Inserts flags that the project does not have, many per statement; otherwise as {@link storeFlag}. */
export async function insertFlags(tx: Tx, flags: readonly Flag[]): Promise<void> {
  await runAll(tx, insertingFlags(flags));
  for (const flag of flags) noteCreated(tx.journal, flag);
}

/** The statements that insert these flags; {@link noteCreated} notes it. */
export function insertingFlags(flags: readonly Flag[]): Generator<Statement> {
  // In one order, also for groups of state writers, so that none waits for the other.
  const sorted = flags.toSorted((a, b) => (a.key < b.key ? -1 : 1));
  for (const flag of sorted) checkKindOfValues(flag);
  const rows = sorted.map((flag) => [
    flag.projectId,
    flag.key,
    flag.description,
    JSON.stringify(flag.tags),
    flag.owner,
    flag.permanent ? 1 : 0,
    flag.valueKind,
    flag.namedValues,
    flag.createdAt,
  ]);
  return insertions(INSERT, rows);
}

/** Notes that a flag was created. */
export function noteCreated(journal: Journal, flag: FlagDetails & Pick<Flag, 'projectId' | 'key'>): void {
  const { projectId, key } = flag;
  journal.audit({ action: 'flag.created', projectId, target: key, after: detailsText(flag) });
}

/** Inserts a flag that the project does not have, or no longer, with these states if it is archived. */
export async function insertWholeFlag(
  tx: Tx,
  flag: Flag,
  states: ArchivedStates,
  action: 'flag.created' | 'flag.recreated',
): Promise<void> {
  const { projectId, key, archivedAt } = flag;
  await runAll(tx, insertingFlags([flag]));
  if (archivedAt !== undefined) await setArchived(tx, flag, { at: archivedAt, states });
  tx.journal.audit({ action, projectId, target: key, after: wholeFlagText(flag, states) });
}

/**
 * Marks the flag as archived since `at` (epoch milliseconds) and keeps what its states were; the states themselves
 * must have been removed by `changeStates`.
 */
export async function storeArchived(
  tx: Tx,
  flag: Flag,
  archived: { readonly at: number; readonly states: ArchivedStates },
): Promise<void> {
  await setArchived(tx, flag, archived);
  tx.journal.audit({ action: 'flag.archived', projectId: flag.projectId, target: flag.key });
}

/** Ends the archiving of the flag and forgets what its states were. */
export async function storeRestored(tx: Tx, flag: Flag): Promise<void> {
  await setArchived(tx, flag, undefined);
  tx.journal.audit({ action: 'flag.restored', projectId: flag.projectId, target: flag.key });
}

async function setArchived(
  tx: Tx,
  { projectId, key }: Flag,
  archived: { readonly at: number; readonly states: ArchivedStates } | undefined,
): Promise<void> {
  const states = archived === undefined ? null : writeArchivedStates(archived.states);
  await tx.query(
    'UPDATE flags SET archived_at = $3, archived_states = $4 WHERE project_id = $1 AND key = $2',
    [projectId, key, archived?.at ?? null, states],
  );
}

/**
 * Removes the flag from the project; its states must have been removed by `changeStates`. The audit log keeps all that is
 * needed to create the flag again.
 */
export async function removeFlag(tx: Tx, flag: Flag): Promise<void> {
  const { projectId, key } = flag;
  const before = wholeFlagText(flag, await readArchivedStates(tx, flag));

  const deleted = await tx.query('DELETE FROM flags WHERE project_id = $1 AND key = $2 RETURNING key', [
    projectId,
    key,
  ]);
  if (deleted.length === 0) return;
  for (const table of ['flag_last_reads', 'rollout_plans'])
    await tx.query(
      `DELETE FROM ${table} WHERE flag_key = $2
        AND environment_id IN (SELECT id FROM environments WHERE project_id = $1)`,
      [projectId, key],
    );

  tx.journal.audit({ action: 'flag.deleted', projectId, target: key, before });
}

function detailsText(flag: FlagDetails): string {
  return writeJson(detailsRecord(detailsOf(flag)));
}

function wholeFlagText(flag: Flag, states: ArchivedStates): string {
  const { createdAt, archivedAt } = flag;
  return writeJson({
    ...detailsRecord(detailsOf(flag)),
    createdAt,
    archivedAt,
    ...(archivedAt === undefined ? {} : { archivedStates: new RawJson(writeArchivedStates(states)) }),
  });
}
