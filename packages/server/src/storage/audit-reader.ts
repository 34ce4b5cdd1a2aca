import { type AuditEntry, PEOPLE_NOUNS } from '../domain/audit.ts';
import type { AuditedOperation, AuditFilter } from '../domain/store.ts';
import type { Parameter, Queryable } from './database.ts';
import { type NullableColumns, withoutNulls } from './rows.ts';
import { likeText, spellings } from './search.ts';

const COLUMNS = `id, seq, COALESCE(operation_seq, seq) AS operation, actor, ip, note, action, project_id AS "projectId", environment_id AS "environmentId",
  target, before, after, at`;

/**
 * Audit entries, newest first. The last change is complete even beyond `limit`, so that paging by `beforeSeq`
 * skips nothing.
 */
export async function readAudit(queryable: Queryable, filter: AuditFilter): Promise<readonly AuditEntry[]> {
  const { where, parameters } = conditions(filter);
  const limit = `$${parameters.length + 1}`;
  const oldest = `SELECT min(seq) FROM (SELECT seq FROM audit_log ${where} ORDER BY seq DESC LIMIT ${limit}) AS page`;
  const rows = await queryable.query<NullableColumns<AuditEntry>>(
    `SELECT ${COLUMNS} FROM audit_log ${where} ${where === '' ? 'WHERE' : 'AND'} seq >= (${oldest})
      ORDER BY seq DESC, at DESC, position DESC`,
    [...parameters, filter.limit],
  );
  return rows.map(withoutNulls<AuditEntry>);
}

/** The whole operation that wrote row `seq`; `undefined` when it has no entry. */
export async function readOperation(
  queryable: Queryable,
  seq: number,
): Promise<AuditedOperation | undefined> {
  const [found] = await queryable.query<{ last: number }>(
    'SELECT COALESCE(operation_seq, seq) AS last FROM audit_log WHERE seq = $1 LIMIT 1',
    [seq],
  );
  if (found === undefined) return undefined;
  const rows = await queryable.query<NullableColumns<AuditEntry>>(
    `SELECT ${COLUMNS} FROM audit_log WHERE operation_seq = $1 OR (seq = $1 AND operation_seq IS NULL)
      ORDER BY position`,
    [found.last],
  );
  const entries = rows.map(withoutNulls<AuditEntry>);
  const first = Math.min(...entries.map((entry) => entry.seq));
  const revisions = await queryable.query<{ id: string; revision: number }>(
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

function conditions(filter: AuditFilter): { where: string; parameters: Parameter[] } {
  const texts: string[] = [];
  const parameters: Parameter[] = [];
  const add = (condition: string, value: Parameter | undefined) => {
    if (value === undefined) return;
    parameters.push(value);
    const suffix = condition.endsWith('LIKE') ? ` ESCAPE '\\'` : '';
    texts.push(`${condition} $${parameters.length}${suffix}`);
  };
  add('project_id =', filter.projectId);
  add('environment_id =', filter.environmentId);
  add('target =', filter.target);
  add('seq <', filter.beforeSeq);
  add('actor =', filter.actor);
  add('at >=', filter.since);
  add('at <', filter.until);
  if (filter.withoutPeople === true) {
    texts.push(...PEOPLE_NOUNS.map((noun) => `action NOT LIKE '${noun}.%'`));
  }
  if (filter.action !== undefined) {
    // A noun alone means all its actions.
    if (filter.action.includes('.')) add('action =', filter.action);
    else add(`action LIKE`, `${likeText(filter.action)}.%`);
  }
  if (filter.text !== undefined) {
    const matches = spellings(filter.text).flatMap((words) => {
      parameters.push(`%${likeText(words)}%`);
      const columns = ['target', 'actor', `COALESCE(note, '')`];
      return columns.map((column) => `lower(${column}) LIKE $${parameters.length} ESCAPE '\\'`);
    });
    texts.push(`(${matches.join(' OR ')})`);
  }
  return { where: texts.length === 0 ? '' : `WHERE ${texts.join(' AND ')}`, parameters };
}
