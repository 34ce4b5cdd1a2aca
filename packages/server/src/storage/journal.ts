import { defined } from '@halyard/protocol';
import type { Actor, AuditEntry } from '../domain/audit.ts';
import type { ChangePayload, CommittedRows, LogRow } from '../domain/change-log.ts';
import type { AuthorCheck } from './author-check.ts';
import type { WriteTransaction } from './database.ts';
import { type NewestStretch, repeatedAfter, SAME_CHANGE } from './newest-stretch.ts';
import { type Insert, type InsertColumn, insertions } from './rows.ts';

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

/** The end of the log. The transaction has locked and moved it before it inserts rows. */
const END = '(SELECT seq FROM feed WHERE id = 1) AS log_end';

/** A number of the log, given as its distance from the end. */
const fromEnd = (name: string): InsertColumn => ({
  name,
  value: (given) => `log_end.seq - ${given(name)}`,
});

const number = (name: string): InsertColumn => ({ name, value: (given) => given(name) });

const LOG: Insert = {
  table: 'change_log',
  beside: END,
  columns: [
    fromEnd('seq'),
    ...'change_id kind project_id environment_id'.split(' '),
    number('revision'),
    ...'payload actor'.split(' '),
    number('at'),
  ],
};

const AUDIT: Insert = {
  table: 'audit_log',
  beside: END,
  columns: [
    fromEnd('seq'),
    fromEnd('operation_seq'),
    {
      name: 'repeated',
      value: (given) =>
        repeatedAfter(given('repeated'), {
          seq: `log_end.seq - ${given('seq')}`,
          environment: given('environment_id'),
          actor: given('actor'),
        }),
    },
    'id',
    number('position'),
    ...'actor ip note reference action project_id environment_id target before after'.split(' '),
    number('at'),
  ],
};

// The lock on this one row puts all commits in one order.
const LOCK_END = 'UPDATE feed SET seq = seq + $1 WHERE id = 1';

/** Reads the end, and `more` columns with it. */
const readEnd = (more: string) =>
  `SELECT epoch, seq, (SELECT change_id FROM change_log WHERE change_log.seq = feed.seq - $1) AS "idBefore"${more}
  FROM feed WHERE id = 1`;

/** The end of the log with the rows that are being added, and the change id of the row before them. */
interface LogEnd {
  readonly epoch: string;
  readonly seq: number;
  readonly idBefore: string | null;
}

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

  /** What has been added so far. */
  get entries(): readonly NewAuditEntry[] {
    return this.#entries.map(({ entry }) => entry);
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

  /** The rows for the change log, without their `seq`. At least one, unless the journal is empty. */
  logRows(at: number): Omit<LogRow, 'seq'>[] {
    const [first] = this.#entries;
    if (this.#rows.length === 0 && first !== undefined) this.#rows.push(this.#ownRow(first.entry));
    return this.#rows.map(({ kind, projectId, environmentId, revision, payload }, index) => ({
      changeId: this.#idAt(index),
      kind,
      projectId,
      ...defined({ environmentId, revision }),
      payload: JSON.stringify(payload),
      actor: this.#actor.name,
      at,
    }));
  }

  /** The rows for the audit log; `rowsAfter` rows of the change log follow the last one of this journal. */
  auditRows(
    at: number,
    { rowsAfter, stretch }: { readonly rowsAfter: number; readonly stretch: NewestStretch },
  ) {
    const { name, ip = null, note = null, reference = null } = this.#actor;
    const last = this.#rows.length - 1;
    const known = new Set<string>();

    return this.#entries.map(({ entry, logIndex }, index) => {
      // The entries of one row of the log are in one stretch.
      const place = `${logIndex} ${entry.environmentId}`;
      const isRepeated = entry.environmentId !== undefined && known.has(place);
      known.add(place);

      return [
        rowsAfter + last - logIndex,
        rowsAfter,
        (isRepeated ? SAME_CHANGE : stretch.find({ environmentId: entry.environmentId, actor: name })) ??
          null,
        this.#idAt(index),
        index,
        name,
        ip,
        note,
        reference,
        entry.action,
        entry.projectId ?? null,
        entry.environmentId ?? null,
        entry.target,
        entry.before ?? null,
        entry.after ?? null,
        at,
      ];
    });
  }

  /** Notes what was committed, where the last row of the log has this number. */
  noteIn(stretch: NewestStretch, lastSeq: number): void {
    const last = this.#rows.length - 1;
    for (const { entry, logIndex } of this.#entries)
      stretch.note({ environmentId: entry.environmentId, actor: this.actor }, lastSeq - last + logIndex);
  }

  #idAt(index: number): string {
    return index === 0 ? this.#firstId : this.#sources.newId();
  }

  #ownRow({ projectId = '' }: NewAuditEntry): NewLogRow {
    const actions = [...new Set(this.#entries.map(({ entry }) => entry.action))];
    return { kind: 'records.changed', projectId, payload: { actions } };
  }
}

/** Journals that are written at the end of a transaction. */
export interface Appended {
  /** The change id of the first row: it is in the log once the transaction has committed, and only then. */
  readonly firstId: string;
  /** The last `seq` of each journal, where the first row has this one. */
  seqs(first: number): readonly number[];
  /** The rows, once the transaction has committed. */
  committed(): CommittedRows;
}

/**
 * Writes journals at the end of the log, one after the other, just before COMMIT, and wakes the followers, if their authors still
 * have their rights then. None is empty, and there is at least one.
 */
export function appendToLog(
  transaction: WriteTransaction,
  journals: readonly Journal[],
  {
    author,
    now,
    stretch,
  }: { readonly author: AuthorCheck; readonly now: () => number; readonly stretch: NewestStretch },
): Appended {
  const at = now();
  const rowsOf = journals.map((journal) => journal.logRows(at));
  const rows = rowsOf.flat();
  const count = rows.length;

  let end: LogEnd | undefined;
  transaction.atCommit({ text: LOCK_END, parameters: [count] });
  // A statement of its own: what waited for the lock sees the rows of the one that held it, revocations among them.
  const rights = author.columns(2);
  const text = readEnd(rights.text === '' ? '' : `, ${rights.text}`);
  transaction.atCommit({ text, parameters: [count, ...rights.parameters] }, ([row]) => {
    author.verify(row);
    // `LogEnd`: the columns of the statement.
    end = row as LogEnd | undefined;
  });

  const logRows = rows.map((row, index) => [
    ...[count - 1 - index, row.changeId, row.kind, row.projectId, row.environmentId ?? null],
    ...[row.revision ?? null, row.payload, row.actor, row.at],
  ]);
  for (const statement of insertions(LOG, logRows)) transaction.atCommit(statement);

  let written = 0;
  const ends = rowsOf.map((own) => {
    written += own.length;
    return written;
  });
  const auditRows = journals.flatMap((journal, index) =>
    journal.auditRows(at, { rowsAfter: count - (ends[index] ?? 0), stretch }),
  );
  for (const statement of insertions(AUDIT, auditRows)) transaction.atCommit(statement);
  transaction.wake();

  return {
    firstId: rows[0]?.changeId ?? '',
    seqs: (first) => ends.map((own) => first + own - 1),
    committed: () => {
      if (end === undefined) throw new Error('the end of the log is missing: the schema was never migrated');
      const before = end.seq - count;
      for (const [index, journal] of journals.entries()) journal.noteIn(stretch, before + (ends[index] ?? 0));
      return {
        after: { epoch: end.epoch, seq: before, changeId: end.idBefore ?? '' },
        rows: rows.map((row, index) => ({ seq: before + 1 + index, ...row })),
      };
    },
  };
}
