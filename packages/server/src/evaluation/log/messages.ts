import type { Cursor, LogRow, Snapshot } from '../../domain/change-log.ts';

/** The path of the log, with the version of the protocol in it. (docs/decisions/0017-log-protocol.md) */
export const LOG_PATH = '/log/v1';

/** The path that takes the reports of followers. */
export const REPORTS_PATH = '/log/v1/reports';

/** The path that tells the time on the clock of a stream. */
export const CLOCK_PATH = '/log/v1/clock';

/** The media type of the log's messages. */
export const LOG_TYPE = 'application/vnd.halyard.log';

/** The version of the protocol. */
export const LOG_VERSION = 1;

/** The error code of a node that lacks rows which a follower has. */
export const BEHIND = 'behind';

/** The error code of a node from which enough followers load their state. */
export const BUSY = 'busy';

/** Milliseconds between two heartbeats of an idle log. */
export const HEARTBEAT_MS = 1000;

/** A source that sent nothing for this long counts as lost, in milliseconds. */
export const SILENCE_MS = 3000;

/** The first message. */
export interface HelloMessage {
  readonly type: 'hello';
  readonly version: number;
  readonly epoch: string;
  /** Names what the follower gets: a cursor continues only where this is the same. */
  readonly scope: string;
  /** Whether rows follow from the follower's own cursor on; otherwise a snapshot comes first. */
  readonly continues: boolean;
  /** Names this stream, for {@link CLOCK_PATH}; absent from older nodes. */
  readonly stream?: string;
}

/** Some records of a snapshot, in any number of parts. */
export interface SnapshotMessage {
  readonly type: 'snapshot';
  readonly projects?: Snapshot['projects'];
  readonly environments?: Snapshot['environments'];
  /** States of one environment: flag key and state text. */
  readonly states?: readonly [environmentId: string, states: readonly (readonly [string, string])[]];
  readonly keys?: Snapshot['keys'];
  readonly relays?: Snapshot['relays'];
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

/** The upstream did not keep to the protocol. The message completes "The upstream cannot be followed: …". */
export class LogProtocolError extends Error {
  override readonly name = 'LogProtocolError';
}

type Members = Readonly<Record<string, unknown>> & { readonly type?: unknown };

/** Whether a value is of some shape. */
type Check = (value: unknown) => boolean;

const isText: Check = (value) => typeof value === 'string';
/** A name that goes into the address of the next request, or is kept for long. */
const isName: Check = (value) => typeof value === 'string' && value.length <= 200;
const isCount: Check = (value) => typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
const isMilliseconds: Check = (value) => typeof value === 'number' && value >= 0;
const isTexts: Check = (value) => Array.isArray(value) && value.every(isText);
const isPair: Check = (value) => isTexts(value) && (value as unknown[]).length === 2;

function optional(check: Check): Check {
  return (value) => value === undefined || check(value);
}

function listOf(check: Check): Check {
  return optional((value) => Array.isArray(value) && value.every(check));
}

function record(checks: Readonly<Record<string, Check>>): Check {
  const entries = Object.entries(checks);
  return (value) =>
    typeof value === 'object' &&
    value !== null &&
    entries.every(([name, check]) => check((value as Members)[name]));
}

const cursorCheck = record({ epoch: isName, seq: isCount, changeId: isName, scope: optional(isName) });

/** Whether a value that was sent is a cursor. */
export function isCursor(value: unknown): value is Cursor {
  return cursorCheck(value);
}

const isRow = record({
  seq: isCount,
  changeId: isName,
  // A newer upstream may have kinds that this version does not serve; they move the cursor.
  kind: isText,
  projectId: isText,
  environmentId: optional(isText),
  revision: optional(isCount),
  payload: isText,
  actor: isText,
  at: isCount,
});

const CHECKS: Readonly<Record<LogMessage['type'], Check>> = {
  hello: record({
    version: isCount,
    epoch: isName,
    scope: isName,
    continues: (value) => typeof value === 'boolean',
    stream: optional(isName),
  }),
  snapshot: record({
    projects: listOf(record({ id: isText, name: isText })),
    environments: listOf(record({ id: isText, projectId: isText, name: isText, revision: isCount })),
    states: optional(
      (value) =>
        Array.isArray(value) && value.length === 2 && isText(value[0]) && listOf(isPair)(value[1] ?? 0),
    ),
    keys: listOf(record({ id: isText, projectId: isText, digest: isText, environments: isTexts })),
    relays: listOf(
      record({ id: isText, digest: isText, projects: optional(isTexts), environments: optional(isTexts) }),
    ),
  }),
  'snapshot-end': record({ cursor: isCursor, records: isCount }),
  row: record({ row: isRow }),
  heartbeat: record({ seq: isCount, sentMs: isMilliseconds, ageMs: isMilliseconds }),
  end: record({ reason: isText }),
};

/** Accepts a message. Members that it does not know are ignored; anything else throws a {@link LogProtocolError}. */
export function parseMessage(raw: unknown): LogMessage {
  const type = typeof raw === 'object' && raw !== null ? (raw as Members).type : undefined;
  if (typeof type !== 'string' || !Object.hasOwn(CHECKS, type) || !CHECKS[type as LogMessage['type']](raw)) {
    const name = typeof type === 'string' ? JSON.stringify(type.slice(0, 40)) : 'without a type';
    throw new LogProtocolError(`it sent a message ${name} that this version cannot read`);
  }
  // Every member has been checked.
  return raw as LogMessage;
}
