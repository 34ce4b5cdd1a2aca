import type { AuditEntry } from '../domain/audit.ts';
import type { AuditFilter } from '../domain/store.ts';
import { type NullableColumns, withoutNulls } from './columns.ts';
import type { Parameter, Queryable } from './database.ts';

const COLUMNS = `id, seq, actor, ip, note, action, project_id AS "projectId", environment_id AS "environmentId",
  target, before, after, at`;

/**
 * Audit entries, newest first. The last change is given whole even beyond `limit`, so that paging by `beforeSeq`
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

function conditions(filter: AuditFilter): { where: string; parameters: Parameter[] } {
  const texts: string[] = [];
  const parameters: Parameter[] = [];
  const add = (condition: string, value: Parameter | undefined) => {
    if (value === undefined) return;
    parameters.push(value);
    texts.push(`${condition} $${parameters.length}`);
  };
  add('project_id =', filter.projectId);
  add('environment_id =', filter.environmentId);
  add('target =', filter.target);
  add('seq <', filter.beforeSeq);
  return { where: texts.length === 0 ? '' : `WHERE ${texts.join(' AND ')}`, parameters };
}
