import type { Cursor, LogRow } from '../../domain/change-log.ts';
import { encodeMessage } from './framing.ts';
import { type LogScope, rowIn } from './scope.ts';

/** A row of the backlog. */
export interface BacklogRow {
  readonly row: LogRow;
  /** The name of its environment, if it has one. */
  readonly environmentName: string | undefined;
}

/** What one row takes besides its payload, in bytes: about. */
const ROW_BYTES = 300;

/**
 * The newest rows of the log in memory, without gaps, bounded in bytes. It ends at the read plane's cursor. Followers
 * read it by position, so that each of them costs nothing here.
 */
export class LogBacklog {
  readonly #maxBytes: number;
  #rows: BacklogRow[] = [];
  /** Index of the first row that is kept; those before it are removed in bulk. */
  #first = 0;
  #bytes = 0;
  /** The cursor in front of the first row. */
  #start: Cursor | undefined;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Bytes that the rows take. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Forgets everything; the rows after `cursor` come next. */
  restart(cursor: Cursor): void {
    this.#rows = [];
    this.#first = 0;
    this.#bytes = 0;
    this.#start = cursor;
  }

  /** Adds the next row; the oldest ones make room for it. */
  append(row: BacklogRow): void {
    this.#rows.push(row);
    this.#bytes += bytesOf(row);
    while (this.#bytes > this.#maxBytes) this.#dropFirst();
    if (this.#first < 1000 || this.#first < this.#rows.length / 2) return;
    this.#rows.splice(0, this.#first);
    this.#first = 0;
  }

  /** Whether the rows after this cursor are all here: the same epoch, and the same change at its place. */
  continues(cursor: Cursor): boolean {
    const start = this.#start;
    if (start === undefined || cursor.epoch !== start.epoch) return false;
    const changeId = cursor.seq === start.seq ? start.changeId : this.after(cursor.seq - 1)?.row.changeId;
    return changeId === cursor.changeId;
  }

  /** The row after `seq`; `undefined` at the end, and where it is not kept. */
  after(seq: number): BacklogRow | undefined {
    const start = this.#start;
    if (start === undefined || seq < start.seq) return undefined;
    return this.#rows[this.#first + seq - start.seq];
  }

  /** Whether the row after `seq`, if it exists, is still here. */
  holds(seq: number): boolean {
    return this.#start !== undefined && seq >= this.#start.seq;
  }

  #dropFirst(): void {
    const first = this.#rows[this.#first];
    if (first === undefined || this.#start === undefined) return;
    this.#bytes -= bytesOf(first);
    this.#first++;
    const { seq, changeId } = first.row;
    this.#start = { epoch: this.#start.epoch, seq, changeId };
  }
}

/**
 * Rows as messages, encoded once for all followers of a scope that are about as far behind. The oldest messages make room
 * for new ones.
 */
export class EncodedRows {
  readonly #maxBytes: number;
  readonly #messages = new Map<string, Uint8Array>();
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Bytes that the messages take: more than the bound only where a single one does. */
  get bytes(): number {
    return this.#bytes;
  }

  /** The message with a row for a scope of that name. */
  of(next: BacklogRow, scope: LogScope, scopeName: string): Uint8Array {
    const name = `${next.row.seq} ${scopeName}`;
    const known = this.#messages.get(name);
    if (known !== undefined) return known;
    const message = encodeMessage({ type: 'row', row: rowIn(scope, next) });
    for (const [oldest, { length }] of this.#messages) {
      if (this.#bytes + ROW_BYTES + message.length <= this.#maxBytes) break;
      this.#messages.delete(oldest);
      this.#bytes -= ROW_BYTES + length;
    }
    this.#messages.set(name, message);
    this.#bytes += ROW_BYTES + message.length;
    return message;
  }

  /** Forgets everything. */
  clear(): void {
    this.#messages.clear();
    this.#bytes = 0;
  }
}

/** About what a row takes. */
function bytesOf({ row }: BacklogRow): number {
  return ROW_BYTES + row.payload.length;
}
