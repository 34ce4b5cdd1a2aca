import type { Cursor, LogRow, Snapshot } from '../../domain/change-log.ts';

/** The path of the log. Another version of the protocol is another path. (docs/decisions/0017-log-protocol.md) */
export const LOG_PATH = '/log/v1';

/** The path that takes the reports of followers. */
export const REPORTS_PATH = '/log/v1/reports';

/** The media type of the log's messages. */
export const LOG_TYPE = 'application/vnd.halyard.log';

/** The version of the protocol. */
export const LOG_VERSION = 1;

/** Milliseconds between two heartbeats of an idle log. */
export const HEARTBEAT_MS = 1000;

/** A source that sent nothing for this long counts as lost, in milliseconds. */
export const SILENCE_MS = 3000;

/** The first message. */
export interface HelloMessage {
  readonly type: 'hello';
  readonly version: number;
  readonly epoch: string;
  /** Whether rows follow from the follower's own cursor on; otherwise a snapshot comes first. */
  readonly continues: boolean;
}

/** Some records of a snapshot, in any number of parts. */
export interface SnapshotMessage {
  readonly type: 'snapshot';
  readonly projects?: Snapshot['projects'];
  readonly environments?: Snapshot['environments'];
  /** States of one environment: flag key and state text. */
  readonly states?: readonly [environmentId: string, states: readonly (readonly [string, string])[]];
  readonly keys?: Snapshot['keys'];
}

/** The end of a snapshot. */
export interface SnapshotEndMessage {
  readonly type: 'snapshot-end';
  readonly cursor: Cursor;
  /** How many records the parts had in all; a different number means that some are missing. */
  readonly records: number;
}

/** The next row of the log. Outside the follower's scope it has no contents. */
export interface RowMessage {
  readonly type: 'row';
  readonly row: LogRow;
}

/** Proof that the log has no further row. */
export interface HeartbeatMessage {
  readonly type: 'heartbeat';
  readonly seq: number;
  /** Milliseconds since the sender began this stream, on its monotonic clock. */
  readonly sentMs: number;
  /** Milliseconds since the sender itself was last proven current. */
  readonly ageMs: number;
}

/** The last message: why the source ends the stream. */
export interface EndMessage {
  readonly type: 'end';
  readonly reason: EndReason;
}

/** Why a source ends a follower's stream: its token was revoked, its own log was lost, it stops, or the follower is slow. */
export type EndReason = 'revoked' | 'lost' | 'stopping' | 'slow';

/** One message of the log. */
export type LogMessage =
  | HelloMessage
  | SnapshotMessage
  | SnapshotEndMessage
  | RowMessage
  | HeartbeatMessage
  | EndMessage;
