/** The kind of a change-log row. Only `flags.changed` creates a revision and a frame. */
export type ChangeKind = keyof ChangePayload;

/** One row of the change log: the truth that every node follows, in order of `seq`, without gaps. */
export interface LogRow {
  readonly seq: number;
  /** Random; distinguishes two histories that reuse a `seq` after a lossy failover. */
  readonly changeId: string;
  readonly kind: ChangeKind;
  readonly projectId: string;
  /** Present on environment and flag rows. */
  readonly environmentId?: string;
  /** Present on `flags.changed`: the revision this change made. */
  readonly revision?: number;
  /** JSON text whose shape depends on `kind`; see {@link ChangePayload}. */
  readonly payload: string;
  /** The actor's name, as in the audit log; empty in rows of old versions. */
  readonly actor: string;
  /** Epoch milliseconds of the commit, by the writer's clock; never used for order. */
  readonly at: number;
}

/** The parsed `payload`, per kind. */
export interface ChangePayload {
  'project.created': { readonly name: string };
  /** Whether clients are asked to report reads. */
  'project.updated': { readonly usage: boolean };
  'project.deleted': Record<string, never>;
  'environment.created': { readonly name: string; readonly revision: number };
  'environment.deleted': Record<string, never>;
  /** State texts are JSON strings inside the JSON, so that their own bytes are not reinterpreted. */
  'flags.changed': readonly (readonly [flagKey: string, state: string | null])[];
  /** The whole record: one with a known digest takes the place of what was known, as when a key is given an end. */
  'key.created': {
    readonly id: string;
    readonly digest: string;
    readonly environments: readonly string[];
    readonly expiresAt?: number;
  };
  'key.revoked': { readonly id: string; readonly digest: string };
  'relay.created': StoredRelay;
  'relay.revoked': { readonly id: string; readonly digest: string };
  /** Records that are not served: descriptions, tokens, operators. Screens then reload. */
  'records.changed': { readonly actions: readonly string[] };
}

/** What a row changes: its kind, and the payload that goes with that kind. */
export type Change = {
  [Kind in ChangeKind]: { readonly kind: Kind; readonly payload: ChangePayload[Kind] };
}[ChangeKind];

/** Parses the payload of a row. Throws a `SyntaxError`. */
export function parseChange({ kind, payload }: LogRow): Change {
  // Only `storage/journal.ts` writes rows, and its types pair each kind with its payload.
  return { kind, payload: JSON.parse(payload) } as Change;
}

/** The audit actions of a row that changed nothing but records; empty for any other row. */
export function recordActions({ kind, payload }: Pick<LogRow, 'kind' | 'payload'>): readonly string[] {
  if (kind !== 'records.changed') return [];
  const { actions }: ChangePayload['records.changed'] = JSON.parse(payload);
  return actions;
}

/** A follower's position in the log. */
export interface Cursor {
  /** Names one history of the database; a restore begins a new one. */
  readonly epoch: string;
  readonly seq: number;
  /** `changeId` of row `seq`; empty while the log is empty. */
  readonly changeId: string;
  /** Names what the source gives, where that may be a part of the log; a cursor continues in its own scope only. */
  readonly scope?: string;
}

/** A project as nodes know it. */
export interface ServedProject {
  readonly id: string;
  readonly name: string;
  /** Whether clients are asked to report reads. */
  readonly usage?: boolean;
}

/** The whole state at one point of the log, as stored. `unknown` marks columns that may be damaged. */
export interface Snapshot {
  /** The end of the log in this snapshot: follow it from here. */
  readonly cursor: Cursor;
  readonly projects: readonly ServedProject[];
  /** Those that exist now. */
  readonly environments: readonly {
    readonly id: string;
    readonly projectId: string;
    readonly name: string;
    readonly revision: number;
  }[];
  readonly states: readonly {
    readonly environmentId: string;
    readonly flagKey: string;
    /** JSON text of a flag state. */
    readonly state: unknown;
  }[];
  /** Every key, also revoked and expired ones. */
  readonly keys: readonly StoredKey[];
  /** The relay tokens that have not been revoked. */
  readonly relays: readonly StoredRelay[];
}

/** A relay token as nodes know it, from the log or a snapshot. Absent lists: all. */
export interface StoredRelay {
  readonly id: string;
  readonly digest: string;
  readonly projects?: readonly string[];
  readonly environments?: readonly string[];
}

/** A project key as stored. */
export interface StoredKey {
  readonly id: unknown;
  readonly projectId: unknown;
  readonly digest: unknown;
  /** JSON text of an array of environment names, or the array. */
  readonly environments: unknown;
  readonly expiresAt?: unknown;
  readonly revokedAt?: unknown;
}

/** Some rows of the change log, in order: as many as one read may take, counted in bytes. */
export interface LogPage {
  /** The history that these rows are of; absent where there is no row. */
  readonly epoch?: string;
  readonly rows: readonly LogRow[];
  /** Whether the log ended with these rows when they were read. */
  readonly isLast: boolean;
  /** The change id of the row before them, read with them; absent where that was pruned, and where sessions check it. */
  readonly afterId?: string;
  /** When these rows were last known to be all, on the monotonic clock of this process; absent where only a heartbeat tells. */
  readonly provenAt?: number;
}

/** Rows that a transaction of this process has just committed, in order and without gaps. */
export interface CommittedRows {
  /** The row before the first of them, seen under the lock on the end of the log. */
  readonly after: Cursor;
  readonly rows: readonly LogRow[];
}

/** The end of the log. */
export interface LogHead {
  readonly epoch: string;
  readonly seq: number;
  /** The change id of the row that was asked for, empty for row 0; absent when the log does not hold that row. */
  readonly changeId?: string;
  /** Whether wake-ups arrive; without them the follower polls. */
  readonly pushed: boolean;
  /** When this was the end of the log, on the monotonic clock of this process; absent: when it was asked for. */
  readonly provenAt?: number;
  /** Whether this is a copy, which may lack rows that were read elsewhere. */
  readonly isCopy?: boolean;
}

/** One session with the log: it carries the wake-ups, the heartbeat and the reads. */
export interface LogSession {
  /** The whole state now, or at the beginning of this session. */
  snapshot(): Promise<Snapshot>;
  /** The heartbeat, with the change id of row `seq`, of one moment. Rejects when the end of the log is not known. */
  head(seq?: number): Promise<LogHead>;
  /** The next rows after `seq`; at least one if it exists. */
  read(afterSeq: number): Promise<LogPage>;
  /**
   * Called whenever the log may have grown: a hint only. `committed`: rows of it that this process has just committed, so
   * that they need not be read. At most one callback.
   */
  onWake(callback: (committed?: CommittedRows) => void): void;
  /** Called once when the session is lost. At most one callback. */
  onLost(callback: (cause: Error) => void): void;
  /** Ends the session. Safe to call twice. */
  close(): void;
}

/** How a {@link LogSource} opens a session. */
export interface OpenOptions {
  /** Whether the follower needs a snapshot, although rows could follow its cursor. */
  readonly mustReload?: boolean;
  /** Aborted when the follower is closed. */
  readonly signal?: AbortSignal;
}

/** Where the read plane gets its log from: a database (`storage/change-log.ts`), or any other source that keeps these promises. */
export interface LogSource {
  /** Opens a session. `from`: where the follower is; a source that is not a database must know it now. */
  open(from?: Cursor, options?: OpenOptions): Promise<LogSession>;
  /**
   * Called when the log does not hold `lost`, which a follower has applied, or not even its epoch: the database was restored, or
   * failed over with a loss. Begins a new epoch, if no other follower has, so that numbers that are used twice are not
   * confused. Only databases do that.
   */
  beginEpochAfter?(lost: Cursor): Promise<void>;
  /** What other nodes are shown of the history; absent where the log is not offered to others. */
  readonly history?: LogHistory;
}

/** The history of a log, for the followers to which a node offers it. */
export interface LogHistory {
  /** The change id of a row as followers get it, with which they can prove later that the row was there. */
  seal(row: Cursor): string;
  /**
   * Whether the log has lost the row of a follower's cursor, which was once a part of it. If so, a new epoch begins, as
   * {@link LogSource.beginEpochAfter} says. A cursor that proves nothing is not lost.
   */
  hasLost(cursor: Cursor): Promise<boolean>;
  /** Whether the log has another epoch now than a node's own cursor. Rejects while that cannot be found out. */
  isOver(own: Cursor): Promise<boolean>;
}
