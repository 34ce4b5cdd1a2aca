import type { Actor, AuditEntry } from '../domain/audit.ts';
import type { ChangePayload, LogRow } from '../domain/change-log.ts';
import type { WriteTransaction } from './database.ts';
import { insertRows } from './rows.ts';

/** Sources of times and ids, injected so that tests are exact. */
export interface Sources {
  /** Epoch milliseconds. */
  readonly now: () => number;
  /** Unique across processes. */
  readonly newId: () => string;
}

/** A change-log row without its place in the log. */
export type NewLogRow = {
  readonly [K in LogRow['kind']]: Pick<LogRow, 'projectId' | 'environmentId' | 'revision'> & {
    readonly kind: K;
    readonly payload: ChangePayload[K];
  };
}[LogRow['kind']];

/** An audit entry without its place in the log. */
export type NewAuditEntry = Omit<AuditEntry, 'id' | 'seq' | 'operation' | 'actor' | 'ip' | 'note' | 'at'>;

const LOG_COLUMNS = 'seq change_id kind project_id environment_id revision payload actor at'.split(' ');
const AUDIT_COLUMNS = (
  'id seq operation_seq position actor ip note action project_id environment_id ' + 'target before after at'
).split(' ');

/**
 * The rows that one operation adds to the change log and the audit log. They are gathered while the operation runs and
 * written at its end, because the end of the log is locked from then until commit.
 */
export class Journal {
  readonly #actor: Actor;
  readonly #sources: Sources;
  readonly #rows: NewLogRow[] = [];
  readonly #entries: { readonly entry: NewAuditEntry; readonly logIndex: number }[] = [];
  readonly #firstId: string;

  /** An empty journal of an operation by `actor`. */
  constructor(actor: Actor, sources: Sources) {
    this.#actor = actor;
    this.#sources = sources;
    this.#firstId = sources.newId();
  }

  /** The actor's name. */
  get actor(): string {
    return this.#actor.name;
  }

  /** Whether nothing has been added so far. */
  get isEmpty(): boolean {
    return this.#entries.length === 0;
  }

  /** Adds a row of the change log with the audit entries that belong to it. */
  change(row: NewLogRow, entries: readonly NewAuditEntry[]): void {
    this.#rows.push(row);
    for (const entry of entries) this.audit(entry);
  }

  /**
   * Adds an audit entry that belongs to the change before it. An operation with audit entries only gets one row of its
   * own in the change log, so that every operation has its place there.
   */
  audit(entry: NewAuditEntry): void {
    this.#entries.push({ entry, logIndex: Math.max(0, this.#rows.length - 1) });
  }

  /**
   * A statement and its parameter that find this journal's transaction once it has committed: its first row has an id
   * of its own.
   */
  get proof(): { readonly text: string; readonly id: string } {
    return { text: 'SELECT change_id AS id FROM change_log WHERE change_id = $1', id: this.#firstId };
  }

  /** Writes everything and wakes the followers. Returns the last row's `seq`; `undefined` when no row was written. */
  async write(transaction: WriteTransaction): Promise<number | undefined> {
    const [first] = this.#entries;
    if (first === undefined) return undefined;
    if (this.#rows.length === 0) this.#rows.push(this.#ownRow(first.entry));
    const count = this.#rows.length;
    // The lock on this one row puts all commits in one order.
    const [end] = await transaction.query<{ seq: number }>(
      'UPDATE feed SET seq = seq + $1 WHERE id = 1 RETURNING seq',
      [count],
    );
    if (end === undefined) throw new Error('the end of the log is missing: the schema was never migrated');
    await this.#writeRows(transaction, end.seq - count);
    await transaction.wake(end.seq);
    return end.seq;
  }

  #ownRow({ projectId = '' }: NewAuditEntry): NewLogRow {
    const actions = [...new Set(this.#entries.map(({ entry }) => entry.action))];
    return { kind: 'records.changed', projectId, payload: { actions } };
  }

  async #writeRows(transaction: WriteTransaction, seqBefore: number): Promise<void> {
    const at = this.#sources.now();
    const { name, ip = null, note = null } = this.#actor;
    const idAt = (index: number) => (index === 0 ? this.#firstId : this.#sources.newId());
    await insertRows(transaction, {
      table: 'change_log',
      columns: LOG_COLUMNS,
      rows: this.#rows.map((row, index) => [
        seqBefore + 1 + index,
        idAt(index),
        row.kind,
        row.projectId,
        row.environmentId ?? null,
        row.revision ?? null,
        JSON.stringify(row.payload),
        name,
        at,
      ]),
    });
    await insertRows(transaction, {
      table: 'audit_log',
      columns: AUDIT_COLUMNS,
      rows: this.#entries.map(({ entry, logIndex }, index) => [
        idAt(index),
        seqBefore + 1 + logIndex,
        seqBefore + this.#rows.length,
        index,
        name,
        ip,
        note,
        entry.action,
        entry.projectId ?? null,
        entry.environmentId ?? null,
        entry.target,
        entry.before ?? null,
        entry.after ?? null,
        at,
      ]),
    });
  }
}
