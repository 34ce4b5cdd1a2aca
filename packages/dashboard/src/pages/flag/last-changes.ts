import type { AuditEntryRecord } from '../../api/audit.ts';

/** The newest change of a flag's state in each environment, by the environment's name. `entries` are newest first. */
export function lastChanges(entries: readonly AuditEntryRecord[]): ReadonlyMap<string, AuditEntryRecord> {
  const last = new Map<string, AuditEntryRecord>();
  for (const entry of entries) {
    const { action, environment } = entry;
    if (action !== 'flag.changed' || environment === undefined || last.has(environment)) continue;
    last.set(environment, entry);
  }
  return last;
}
