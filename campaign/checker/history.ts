/**
 * The record of a fleet of nodes that was written to, read from and broken. The checker judges this and nothing
 * else; it knows no server code. Times are epoch milliseconds with fractions, all from one process.
 */
export interface History {
  /** The flag that every write sets to its own id, so that any map shows which write it ends with. */
  readonly counterFlag: string;
  /** Every environment, by `project/environment`, as it was before the first write. */
  readonly environments: ReadonlyMap<string, Base>;
  readonly writes: readonly Write[];
  readonly streams: readonly StreamSession[];
  /** Streams that only say that something has changed (OFREP). */
  readonly eventStreams: readonly EventSession[];
  /** What programs with our client libraries showed. Absent where there were none. */
  readonly clients?: readonly ClientView[];
  readonly reads: readonly Read[];
  readonly endedKeys: readonly EndedKey[];
  /** When nodes said that they had lost the log. */
  readonly losses: readonly Loss[];
  /** When nodes, or the readers, waited for a processor; in order of time. Absent where it was not recorded. */
  readonly cpuWaits?: readonly CpuWait[];
  /** Restarts of nodes whose source was there all the time. Absent where there was none. */
  readonly restarts?: readonly Restart[];
  /** Times in which a node answered nothing while its workers were killed. Absent where there was none. */
  readonly silences?: readonly Silence[];
  /** Objects that a pointer of published files named, and that were not there. Absent where there was none. */
  readonly missingObjects?: readonly MissingObject[];
  /** Processes that ended on their own. */
  readonly crashes: readonly Crash[];
  /** The state in every source after the last change, when all faults were off and time to converge had passed. */
  readonly finals: readonly Final[];
  /** The committed changes in the audit log, in its order; absent when it was not read. */
  readonly audit?: readonly AuditedWrite[];
  /** When the recording ended. */
  readonly endedAt: number;
}

/** An environment before the first write. */
export interface Base {
  readonly revision: number;
  /** JSON text of the flag map. */
  readonly content: string;
}

/** One step of a write: a flag's new state as JSON text, or `null` where it is removed. */
export type Operation = readonly [flagKey: string, state: string | null];

/** One change that a writer asked for. */
export interface Write {
  /** Unique over all environments; the value of the counter flag. */
  readonly id: number;
  readonly node: string;
  readonly environment: string;
  /** Includes the counter flag. */
  readonly operations: readonly Operation[];
  readonly startedAt: number;
  readonly finishedAt: number;
  /**
   * `acknowledged`: it is committed at `revision`; `refused`: it must never appear (a 4xx); `unknown`: a 5xx or no
   * answer, both outcomes are allowed, but only one of them everywhere.
   */
  readonly outcome: 'acknowledged' | 'refused' | 'unknown';
  /** The environment's revision in the writer's answer. */
  readonly revision?: number;
  /** The write was to happen only directly after this revision (`If-Match` on the counter, which every write sets). */
  readonly expected?: number;
}

/** One opened stream, from its request to its end. */
export interface StreamSession<Sent extends { readonly at: number } = Frame> {
  readonly id: string;
  /** The client that reconnects: one reader has many sessions. */
  readonly reader: string;
  readonly node: string;
  /** Which of the node's processes sends it; absent where there is only one. */
  readonly process?: string;
  readonly environment: string;
  readonly key: string;
  readonly requestedAt: number;
  readonly openedAt: number;
  /** `X-Flags-Revision` of the answer: the revision of the first frame. */
  readonly revision: number;
  readonly frames: readonly Sent[];
  /** Absent when the stream was open until the end of the recording. */
  readonly ended?: { readonly at: number; readonly how: 'closed' | 'cut' | 'reset' | 'left' };
}

/** One frame as it was received. */
export interface Frame {
  readonly at: number;
  /** JSON text of the flag map. Equal texts should be one string, to save memory and parsing. */
  readonly content: string;
  /** The revisions that the event named, where the reader made the map of changes. */
  readonly change?: { readonly from: number | null; readonly to: number };
}

/** A stream of events that carry no map. */
export interface EventSession extends StreamSession<ChangeEvent> {
  /** The id of the last event that the reader had, if it said so. */
  readonly lastEventId?: number;
}

/** One event as it was received. */
export interface ChangeEvent {
  readonly at: number;
  /** Its id. */
  readonly revision: number;
  /** Whether it asked the reader to read again; an opening need not. */
  readonly asksToRead: boolean;
}

/** What one program with a client library showed of one environment, from its first map to the end. */
export interface ClientView {
  readonly reader: string;
  readonly environment: string;
  readonly sightings: readonly ClientSighting[];
}

/** The counter flag in a client, when it had changed. */
export interface ClientSighting {
  readonly at: number;
  /** Its value, the write that it names; absent where the client says only that the flag is off. */
  readonly writeId?: number;
  /** The revision of the client's flags. */
  readonly revision: number;
}

/** One REST read, or one attempt to open a stream that was refused. */
export interface Read {
  readonly kind: 'read' | 'bulk' | 'stream';
  readonly node: string;
  /** Which of the node's processes answered; absent where there is only one. */
  readonly process?: string;
  readonly environment: string;
  readonly key: string;
  readonly requestedAt: number;
  readonly answeredAt: number;
  readonly status: number;
  /** `X-Flags-Revision` of a 200 or 304. */
  readonly revision?: number;
  /** JSON text of the flag map of a 200. */
  readonly content?: string;
  /** The revision of the event that caused it. */
  readonly after?: number;
  /** Whether the answer said, with `X-Flags-Stale`, that it may be old. */
  readonly freshness: 'current' | 'stale';
  /** The seconds of `X-Flags-Stale`; absent in an answer that calls itself current. */
  readonly ageSeconds?: number;
}

/** A key that ceased to be valid. */
export interface EndedKey {
  readonly key: string;
  readonly cause: 'revoked' | 'expired';
  /** From here on a refusal is right: when the revocation was asked for, or the expiry. */
  readonly mayEndAt: number;
  /** From here on a grant is wrong: when the revocation was acknowledged, or the expiry. */
  readonly endedAt: number;
}

/** A node's own statement that it lost the log. */
export interface Loss {
  readonly node: string;
  readonly at: number;
}

/** The name in place of a node's when only the readers waited for a processor. */
export const READERS = 'readers';

/** A time in which a node, or its readers, waited for a processor. */
export interface CpuWait {
  readonly node: string;
  readonly from: number;
  readonly ms: number;
}

/** A node that was stopped and started again while its source was there. */
export interface Restart {
  readonly node: string;
  readonly stoppedAt: number;
  readonly readyAt: number;
}

/** A time in which nothing of a node answered. */
export interface Silence {
  readonly node: string;
  readonly from: number;
  readonly ms: number;
}

/** An object that a pointer named, and that was not there. */
export interface MissingObject {
  readonly environment: string;
  readonly at: number;
  readonly object: string;
}

/** A process that ended by itself. */
export interface Crash {
  readonly node: string;
  readonly at: number;
  /** Its exit code, and the last it wrote. */
  readonly story: string;
}

/** The state of an environment at the end, in one source. */
export interface Final {
  readonly source: string;
  readonly environment: string;
  readonly revision: number;
  /** JSON text of the flag map. */
  readonly content: string;
}

/** One committed change in the audit log. */
export interface AuditedWrite {
  /** The id of the write, from the note that its writer sent along. */
  readonly id: number;
  /** The place in the log of all changes: commit order. */
  readonly seq: number;
}
