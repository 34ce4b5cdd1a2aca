import { defined } from '@halyard/protocol';
import type { Cursor, LogHead, LogPage, LogRow, LogSession, Snapshot } from '../../domain/change-log.ts';
import { StorageError, StoreOutage } from '../../domain/errors.ts';
import { ClockOffset } from './clock-offset.ts';
import type { MessageReader } from './framing.ts';
import {
  type EndMessage,
  type EndReason,
  type HeartbeatMessage,
  type HelloMessage,
  type LogMessage,
  LogProtocolError,
  SILENCE_MS,
  type SnapshotEndMessage,
} from './messages.ts';
import { SnapshotBuilder } from './snapshot-parts.ts';

/** How often the silence is measured, in milliseconds. */
const CHECK_MS = 500;

/** Bytes of rows that wait for the follower before no more are read from the socket. */
const MAX_WAITING_BYTES = 8 * 1024 * 1024;

/** Bounds of what an upstream may send, however broken or hostile it is. */
export interface SessionLimits {
  /** Text of a snapshot, in bytes. */
  readonly snapshotBytes: number;
  /** Text of rows that wait, in bytes: more than any backlog has, because before the first heartbeat none is taken. */
  readonly rowsBytes: number;
  /** Longest until the first heartbeat, in milliseconds: a follower that is not current must not wait forever. */
  readonly catchUpMs: number;
}

const LIMITS: SessionLimits = {
  snapshotBytes: 512 * 1024 * 1024,
  rowsBytes: 256 * 1024 * 1024,
  catchUpMs: 600_000,
};

/** The first and the longest pause between two questions for the upstream's time, in milliseconds. */
const [FIRST_CLOCK_MS, LAST_CLOCK_MS] = [500, 10_000];

/** The steps of a session. */
type Stage = 'hello' | 'snapshot' | 'rows';

/** The step to which a message belongs; absent for one that may come at any time. */
const STAGES: Readonly<Record<LogMessage['type'], Stage | undefined>> = {
  hello: 'hello',
  snapshot: 'snapshot',
  'snapshot-end': 'snapshot',
  row: 'rows',
  heartbeat: 'rows',
  end: undefined,
};

/** Parts of a {@link RemoteSession}. */
export interface RemoteSessionOptions {
  readonly reader: Pick<ReadableStreamDefaultReader<Uint8Array>, 'read'>;
  readonly messages: MessageReader;
  /** When the request was sent, on this process's monotonic clock. */
  readonly begunAt: number;
  /** Ends the connection. */
  readonly canceled: AbortController;
  /** The cursor that the upstream was asked to continue at. */
  readonly from: Cursor | undefined;
  readonly limits?: Partial<SessionLimits> | undefined;
  /** Asks for the time on the clock of the stream of that name; `undefined` if it is not known. */
  readonly askTime: (stream: string) => Promise<number | undefined>;
}

/** One connection to an upstream: receives its messages in order and hands them to the follower. */
export class RemoteSession implements LogSession {
  readonly #options: RemoteSessionOptions;
  readonly #limits: SessionLimits;
  readonly #hello = Promise.withResolvers<HelloMessage>();
  readonly #snapshot = Promise.withResolvers<Snapshot>();
  readonly #current = Promise.withResolvers<void>();
  readonly #timer: Timer;
  #clockTimer: Timer | undefined;
  #stage: Stage = 'hello';
  readonly #parts = new SnapshotBuilder();
  #epoch = '';
  /** Names what the upstream gives. */
  #scope = '';
  /** Where this session began, and where its rows end. */
  #base: Cursor | undefined;
  /** Whether the follower is where the session began: at its own cursor, or because it has the snapshot. */
  #isJoined = false;
  #seq = 0;
  #snapshotBytes = 0;
  #rows: LogRow[] = [];
  #waitingBytes = 0;
  #isCurrent = false;
  #room: PromiseWithResolvers<void> | undefined;
  readonly #clock: ClockOffset;
  #provenAt = Number.NEGATIVE_INFINITY;
  #heardAt = performance.now();
  #wake: () => void = () => {};
  #onLost: ((cause: Error) => void) | undefined;
  #lost: Error | undefined;
  #isClosed = false;

  constructor(options: RemoteSessionOptions) {
    this.#options = options;
    this.#limits = { ...LIMITS, ...options.limits };
    this.#clock = new ClockOffset(options.begunAt);
    for (const { promise } of [this.#hello, this.#snapshot, this.#current])
      promise.catch(() => {
        // Callers get the error; here it must not count as unhandled.
      });
    this.#timer = setInterval(() => this.#checkSilence(), CHECK_MS);
    this.#timer.unref();
  }

  /** Begins to receive; resolves with the first message. */
  begin(): Promise<HelloMessage> {
    void this.#receive();
    return this.#hello.promise;
  }

  /** Whether rows follow from the cursor of the follower on. */
  get continues(): boolean {
    return this.#base !== undefined && this.#base === this.#options.from;
  }

  /** Resolves with the first proof that the log ends here. */
  get current(): Promise<void> {
    return this.#current.promise;
  }

  /** Whether there was such a proof. */
  get wasCurrent(): boolean {
    return this.#isCurrent;
  }

  async head(seq?: number): Promise<LogHead> {
    await this.#current.promise;
    if (this.#lost !== undefined) throw this.#lost;
    // Rows after a snapshot continue no cursor but the snapshot's, even where both are at one place of the log.
    const base = this.#isJoined ? this.#base : undefined;
    const changeId = base?.seq === seq ? base?.changeId : undefined;
    const end = { epoch: this.#epoch, seq: this.#seq, ...defined({ changeId }) };
    return { ...end, pushed: true, provenAt: this.#provenAt };
  }

  async read(afterSeq: number): Promise<LogPage> {
    if (this.#lost !== undefined) throw this.#lost;
    const rows = this.#rows.filter(({ seq }) => seq > afterSeq);
    this.#rows = [];
    this.#waitingBytes = 0;
    this.#room?.resolve();
    const page = { epoch: this.#epoch, rows, isLast: true };
    return this.#isCurrent ? { ...page, provenAt: this.#provenAt } : page;
  }

  /** The snapshot that this session began with, once it is complete. */
  async snapshot(): Promise<Snapshot> {
    if (this.continues) throw new StoreOutage('the upstream continued instead of sending a snapshot');
    const snapshot = await this.#snapshot.promise;
    this.#isJoined = true;
    return snapshot;
  }

  onWake(listener: () => void): void {
    this.#wake = listener;
  }

  onLost(listener: (cause: Error) => void): void {
    this.#onLost = listener;
    if (this.#lost !== undefined) listener(this.#lost);
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    clearInterval(this.#timer);
    clearTimeout(this.#clockTimer);
    this.#room?.resolve();
    this.#options.canceled.abort();
    this.#failWaiting(new StoreOutage('the session to the upstream has ended'));
  }

  async #receive(): Promise<void> {
    const { reader, messages } = this.#options;
    try {
      while (!this.#isClosed) {
        const { done, value } = await reader.read();
        if (this.#isClosed) return;
        if (done) throw new StoreOutage('the upstream ended the connection');
        this.#heardAt = performance.now();

        let hasNews = false;
        for (const message of messages.read(value)) {
          this.#take(message, messages.lastBytes);
          hasNews ||= message.type === 'row' || message.type === 'heartbeat';
        }
        if (hasNews) this.#wake();

        await this.#waitForRoom();
      }
    } catch (cause) {
      this.#lose(describe(cause));
    }
  }

  #take(message: LogMessage, bytes: number): void {
    const stage = STAGES[message.type];
    if (stage !== undefined && stage !== this.#stage)
      throw new LogProtocolError(`its message ${message.type} is out of order`);

    switch (message.type) {
      case 'hello':
        this.#begin(message);
        break;
      case 'snapshot':
        this.#snapshotBytes += bytes;
        if (this.#snapshotBytes > this.#limits.snapshotBytes)
          throw new LogProtocolError('it sends a snapshot without an end');
        this.#parts.add(message);
        break;
      case 'snapshot-end':
        this.#endSnapshot(message);
        break;
      case 'row':
        this.#takeRow(message.row, bytes);
        break;
      case 'heartbeat':
        this.#takeHeartbeat(message);
        break;
      case 'end':
        throw ended(message);
    }
  }

  #endSnapshot(end: SnapshotEndMessage): void {
    const { epoch, seq, changeId } = end.cursor;
    const cursor = { epoch, seq, changeId, scope: this.#scope };
    const snapshot = this.#parts.finish({ ...end, cursor });
    this.#beginRows(cursor);
    this.#snapshot.resolve(snapshot);
  }

  #begin(hello: HelloMessage): void {
    this.#epoch = hello.epoch;
    this.#scope = hello.scope;
    this.#stage = 'snapshot';
    const { from } = this.#options;
    if (hello.continues && from === undefined)
      throw new LogProtocolError('it continues although nothing was asked to be continued');
    if (hello.continues && from !== undefined) {
      if (from.scope !== hello.scope) throw new LogProtocolError('it continues in another scope');
      this.#beginRows(from);
      this.#isJoined = true;
    }
    if (hello.stream !== undefined) void this.#compareClocks(hello.stream, FIRST_CLOCK_MS);
    this.#hello.resolve(hello);
  }

  /** Asks for the time now, and again after longer and longer pauses. */
  async #compareClocks(stream: string, pauseMs: number): Promise<void> {
    const askedAt = performance.now();
    const sentMs = await this.#options.askTime(stream);
    if (this.#isClosed) return;
    if (sentMs !== undefined) this.#clock.answered(askedAt, sentMs);
    const next = () => void this.#compareClocks(stream, Math.min(2 * pauseMs, LAST_CLOCK_MS));
    this.#clockTimer = setTimeout(next, pauseMs);
    this.#clockTimer.unref();
  }

  #beginRows(base: Cursor): void {
    if (base.epoch !== this.#epoch) throw new LogProtocolError('it sends another history than it announced');
    this.#base = base;
    this.#seq = base.seq;
    this.#stage = 'rows';
  }

  #takeRow(row: LogRow, bytes: number): void {
    if (row.seq !== this.#seq + 1) throw new LogProtocolError(`its row ${row.seq} follows row ${this.#seq}`);
    this.#seq = row.seq;
    this.#rows.push(row);
    this.#waitingBytes += bytes;
    if (this.#waitingBytes > this.#limits.rowsBytes)
      throw new LogProtocolError('it sends rows without an end');
  }

  #takeHeartbeat({ seq, sentMs, ageMs }: HeartbeatMessage): void {
    if (seq !== this.#seq) throw new LogProtocolError(`its log ends at ${seq}, and its rows at ${this.#seq}`);
    this.#provenAt = this.#clock.sentAt(performance.now(), sentMs) - ageMs;
    this.#isCurrent = true;
    this.#current.resolve();
  }

  /** While many rows wait for the follower, no more are read: the upstream's own bound then applies. */
  async #waitForRoom(): Promise<void> {
    while (this.#isCurrent && this.#waitingBytes > MAX_WAITING_BYTES && !this.#isClosed) {
      this.#room = Promise.withResolvers();
      await this.#room.promise;
      this.#room = undefined;
      this.#heardAt = performance.now();
    }
  }

  #checkSilence(): void {
    if (!this.#isCurrent && performance.now() - this.#options.begunAt > this.#limits.catchUpMs) {
      this.#lose(new StoreOutage('the upstream did not send all that it has in time'));
      return;
    }
    if (this.#room !== undefined || performance.now() - this.#heardAt < SILENCE_MS) return;
    // After a pause of this process, what has arrived is read first.
    setTimeout(() => {
      if (this.#room === undefined && performance.now() - this.#heardAt >= SILENCE_MS)
        this.#lose(new StoreOutage('the upstream has been silent'));
    }, 10).unref();
  }

  #lose(cause: Error): void {
    if (this.#isClosed) return;
    this.#lost = cause;
    this.#failWaiting(cause);
    this.close();
    this.#onLost?.(cause);
  }

  #failWaiting(cause: Error): void {
    this.#lost ??= cause;
    for (const { reject } of [this.#hello, this.#snapshot, this.#current]) reject(cause);
  }
}

/** Why the upstream ended the stream, in words. */
const END_REASONS: Readonly<Record<Exclude<EndReason, 'revoked'>, string>> = {
  lost: 'it lost its own log',
  stopping: 'it stops',
  slow: 'this node took its messages too slowly',
};

function ended({ reason }: EndMessage): Error {
  if (reason === 'revoked') return new StorageError('the relay token was revoked');
  // A newer upstream may have reasons that this version does not know.
  const words = Object.hasOwn(END_REASONS, reason) ? END_REASONS[reason] : 'for a reason of its own';
  return new StoreOutage(`the upstream ended the stream: ${words}`);
}

function describe(cause: unknown): Error {
  if (cause instanceof StoreOutage || cause instanceof StorageError) return cause;
  if (cause instanceof LogProtocolError)
    return new StorageError(`The upstream cannot be followed: ${cause.message}.`, { cause });
  return new StoreOutage('the connection to the upstream broke', { cause });
}
