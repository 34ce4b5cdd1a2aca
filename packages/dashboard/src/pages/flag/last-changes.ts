import type { AuditEntryRecord } from '../../api/audit.ts';
import type { StateRecord } from '../../api/types.ts';

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

/** What a card tells of the newest change of its state. */
export interface CardChange {
  readonly at: string;
  /** As the audit log names them; absent where the server does not know. */
  readonly by?: string | undefined;
  readonly deed: 'Changed' | 'Removed';
  /** Its entry, once the history has it. */
  readonly entry?: AuditEntryRecord | undefined;
}

/** The newest change of a state: the record knows it best, the history adds why. `undefined` where there is none. */
export function newestChange(
  record: StateRecord | undefined,
  entry: AuditEntryRecord | undefined,
): CardChange | undefined {
  if (record === undefined)
    return entry === undefined ? undefined : { at: entry.at, by: entry.actor, deed: 'Removed', entry };
  const isKnown = entry !== undefined && entry.at >= record.updatedAt;
  return {
    at: record.updatedAt,
    by: record.updatedBy ?? (isKnown ? entry.actor : undefined),
    deed: 'Changed',
    entry: isKnown ? entry : undefined,
  };
}
