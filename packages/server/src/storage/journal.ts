import type { Actor, AuditEntry } from '../domain/audit.ts';
import type { ChangePayload, LogRow } from '../domain/change-log.ts';
import type { WriteTransaction } from './database.ts';
import { insertRows } from './rows.ts';

/** Where times and ids come from; given from outside so that tests are exact. */
export interface Sources {
  /** Epoch milliseconds. */
  readonly now: () => number;
  /** A text that never comes twice, in any process. */
  readonly newId: () => string;
}

/** A change-log row before it has its place in the log. */
export type LogEntry = {
  readonly [K in LogRow['kind']]: Pick<LogRow, 'projectId' | 'environmentId' | 'revision'> & {
    readonly kind: K;
    readonly payload: ChangePayload[K];
  };
}[LogRow['kind']];

/** An audit entry before it has its place. */
export type Deed = Omit<AuditEntry, 'id' | 'seq' | 'operation' | 'actor' | 'ip' | 'note' | 'at'>;

const LOG_COLUMNS = 'seq, change_id, kind, project_id, environment_id, revision, payload, actor, at'.split(
  ', ',
);
const AUDIT_COLUMNS =
  'id, seq, operation_seq, position, actor, ip, note, action, project_id, environment_id, target, before, after, at'.split(
    ', ',
  );

/**
 * What one operation will leave in the change log and in the audit log. It is gathered while the operation runs and
 * written at its end, because the position in the feed is locked from then until commit.
 */
export class Journal {
  readonly #actor: Actor;
  readonly #sources: Sources;
  readonly #entries: LogEntry[] = [];
  readonly #deeds: { readonly deed: Deed; readonly logIndex: number }[] = [];
  readonly #firstId: string;

  /** An empty journal of what `actor` does. */
  constructor(actor: Actor, sources: Sources) {
    this.#actor = actor;
    this.#sources = sources;
    this.#firstId = sources.newId();
  }

  /** The name of who does it. */
  get actor(): string {
    return this.#actor.name;
  }

  /** Whether the operation has left nothing so far. */
  get isEmpty(): boolean {
    return this.#deeds.length === 0;
  }

  /** Notes a row of the change log with the deeds that it belongs to. */
  change(entry: LogEntry, deeds: readonly Deed[]): void {
    this.#entries.push(entry);
    for (const deed of deeds) this.deed(deed);
  }

  /**
   * Notes a deed that no read model follows. It counts to the change before it; an operation of such deeds only makes
   * one row of its own, so that every operation has its place in the log.
   */
  deed(deed: Deed): void {
    this.#deeds.push({ deed, logIndex: Math.max(0, this.#entries.length - 1) });
  }

  /**
   * The statement and parameter that tell whether this journal's transaction is there: what was written first has
   * an id of its own.
   */
  get proof(): { readonly text: string; readonly id: string } {
    return { text: 'SELECT change_id AS id FROM change_log WHERE change_id = $1', id: this.#firstId };
  }

  /** Writes it all and wakes the followers. Gives the last row's `seq`; `undefined` when no row was written. */
  async write(transaction: WriteTransaction): Promise<number | undefined> {
    const [first] = this.#deeds;
    if (first === undefined) return undefined;
    if (this.#entries.length === 0) this.#entries.push(this.#ownEntry(first.deed));
    const count = this.#entries.length;
    // The lock on this one row puts all commits in one order.
    const [feed] = await transaction.query<{ seq: number }>(
      'UPDATE feed SET seq = seq + $1 WHERE id = 1 RETURNING seq',
      [count],
    );
    if (feed === undefined) throw new Error('the feed has no row: the schema was never migrated');
    await this.#writeRows(transaction, feed.seq - count);
    await transaction.wake(feed.seq);
    return feed.seq;
  }

  #ownEntry({ projectId = '' }: Deed): LogEntry {
    const actions = [...new Set(this.#deeds.map(({ deed }) => deed.action))];
    return { kind: 'records.changed', projectId, payload: { actions } };
  }

  async #writeRows(transaction: WriteTransaction, seqBefore: number): Promise<void> {
    const at = this.#sources.now();
    const { name, ip = null, note = null } = this.#actor;
    const idAt = (index: number) => (index === 0 ? this.#firstId : this.#sources.newId());
    await insertRows(transaction, {
      table: 'change_log',
      columns: LOG_COLUMNS,
      rows: this.#entries.map((entry, index) => [
        seqBefore + 1 + index,
        idAt(index),
        entry.kind,
        entry.projectId,
        entry.environmentId ?? null,
        entry.revision ?? null,
        JSON.stringify(entry.payload),
        name,
        at,
      ]),
    });
    await insertRows(transaction, {
      table: 'audit_log',
      columns: AUDIT_COLUMNS,
      rows: this.#deeds.map(({ deed, logIndex }, index) => [
        idAt(index),
        seqBefore + 1 + logIndex,
        seqBefore + this.#entries.length,
        index,
        name,
        ip,
        note,
        deed.action,
        deed.projectId ?? null,
        deed.environmentId ?? null,
        deed.target,
        deed.before ?? null,
        deed.after ?? null,
        at,
      ]),
    });
  }
}
