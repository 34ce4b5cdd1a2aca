import type { Cursor, LogHead, LogPage, LogRow, Snapshot } from '../packages/server/src/domain/change-log.ts';

/** The tables, at one moment. Never changed: each commit makes others. */
export interface Tables {
  readonly projects: ReadonlyMap<string, Snapshot['projects'][number]>;
  readonly environments: ReadonlyMap<string, Snapshot['environments'][number]>;
  readonly states: ReadonlyMap<string, ReadonlyMap<string, string>>;
  readonly keys: ReadonlyMap<string, Snapshot['keys'][number]>;
  readonly relays: ReadonlyMap<string, Snapshot['relays'][number]>;
}

/** A row, and the tables after it. */
export interface Commit {
  readonly row: LogRow;
  readonly after: Tables;
}

const NO_TABLES: Tables = {
  projects: new Map(),
  environments: new Map(),
  states: new Map(),
  keys: new Map(),
  relays: new Map(),
};

/** The log and the tables as one server has them at one moment. */
export class LogCopy {
  readonly epoch: string;
  /** How many rows there are, pruned ones included. */
  readonly length: number;
  /** How many of the oldest rows are gone. */
  readonly pruned: number;
  readonly #commits: readonly Commit[];

  /** `commits` may only grow from now on. */
  constructor(epoch: string, commits: readonly Commit[], pruned: number) {
    this.epoch = epoch;
    this.length = commits.length;
    this.pruned = pruned;
    this.#commits = commits;
  }

  /** Without a change id where even the last row was pruned. */
  get end(): Cursor {
    return { epoch: this.epoch, seq: this.length, changeId: this.idAt(this.length) ?? '' };
  }

  get tables(): Tables {
    return this.#last?.after ?? NO_TABLES;
  }

  get #last(): Commit | undefined {
    return this.#commits[this.length - 1];
  }

  /** The change id of a row; `undefined` where there is none, or not any longer. */
  idAt(seq: number): string | undefined {
    if (seq === 0) return '';
    return seq <= this.pruned || seq > this.length ? undefined : this.#commits[seq - 1]?.row.changeId;
  }

  /** Whether this log is of the cursor's epoch, and has its row or had it. */
  holds({ epoch, seq, changeId }: Cursor): boolean {
    const found = this.idAt(seq);
    return epoch === this.epoch && seq <= this.length && (found === undefined || found === changeId);
  }

  head(seq: number | undefined): Omit<LogHead, 'pushed'> {
    const changeId = seq === undefined ? undefined : this.idAt(seq);
    return { epoch: this.epoch, seq: this.length, ...(changeId === undefined ? {} : { changeId }) };
  }

  read(afterSeq: number, most: number): LogPage {
    const from = Math.max(afterSeq, this.pruned);
    const rows = this.#commits.slice(from, Math.min(from + most, this.length)).map(({ row }) => row);
    const afterId = this.idAt(afterSeq);
    return {
      rows,
      isLast: rows.length < most,
      ...(rows.length === 0 ? {} : { epoch: this.epoch }),
      ...(afterId === undefined || afterSeq === 0 || rows.length === 0 ? {} : { afterId }),
    };
  }

  snapshot(): Snapshot {
    const { projects, environments, states, keys, relays } = this.tables;
    return {
      cursor: this.end,
      projects: [...projects.values()],
      environments: [...environments.values()],
      states: [...states].flatMap(([environmentId, flags]) =>
        [...flags].map(([flagKey, state]) => ({ environmentId, flagKey, state })),
      ),
      keys: [...keys.values()],
      relays: [...relays.values()],
    };
  }
}
