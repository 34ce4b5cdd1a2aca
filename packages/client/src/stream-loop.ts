import { childOf, sleep } from './abort.ts';
import { Backoff, HEALTHY_MS } from './backoff.ts';
import type { Connection } from './connection.ts';
import { FlagsError } from './errors.ts';
import { readFlags } from './flags.ts';
import { isRefusal, toSafeError } from './request.ts';
import { followStream, SILENT } from './stream.ts';

/** How long a stream may take to deliver the map before REST is asked for it, at the start. */
export const FIRST_POLL_MS = 1_000;
/** The same, after a stream was lost that had delivered. */
export const NEXT_POLL_MS = 5_000;
/** While there is no stream, REST is asked at least this often. */
export const MAX_POLL_INTERVAL_MS = 30_000;
/** How long to stay with a node that is behind before trying another: this, and up to half as much again. */
export const BEHIND_MS = 4_000;

/** How a stream may end beside breaking: left on purpose because its node is behind, or closed by the server. */
const BEHIND = Symbol('behind');
const CLOSED = Symbol('closed');

/**
 * Keeps a stream open for ever, and asks REST while there is none.
 *
 * A stream is *live* once the map at hand is at least as new as the stream's beginning. That takes a first frame, or,
 * from a server that sends none, an answer of REST asked for after the stream was opened.
 */
export class StreamLoop {
  readonly #connection: Connection;
  readonly #backoff: Backoff;
  #streams = 0;
  /** The number of the stream that is open, 0 while none is. */
  #open = 0;
  #cancelPoll: (() => void) | undefined;
  /** What the last stream failed with, and the first poll. */
  #streamError: FlagsError | undefined;
  #firstPoll: 'due' | 'asked' | 'failed' = 'due';

  constructor(connection: Connection) {
    this.#connection = connection;
    this.#backoff = new Backoff(connection.target.platform.random);
  }

  /** Runs until the connection is closed. Never rejects. */
  async run(): Promise<void> {
    const { target, signal } = this.#connection;
    this.#pollIn(FIRST_POLL_MS);
    while (!signal.aborted) {
      const delayMs = await this.#attempt();
      await sleep(target.platform, delayMs, signal);
    }
    this.#stopPolling();
  }

  /** Opens a stream and follows it to its end. Gives the milliseconds to wait before the next one. */
  async #attempt(): Promise<number> {
    const { target, signal } = this.#connection;
    const { now, setTimer, random } = target.platform;
    const { controller, release } = childOf(signal);
    let openedAt: number | undefined;
    let nextRevision: number | undefined;
    let frames = 0;
    let cancelBehind: (() => void) | undefined;
    let thrown: unknown;
    try {
      await followStream(target, controller, {
        onOpen: (revision) => {
          openedAt = now();
          nextRevision = revision;
          this.#open = ++this.#streams;
          if (revision === undefined) this.#pollIn(0); // no first frame is promised
        },
        onFrame: (data) => {
          const parsed = readFlags(data);
          if (!parsed) throw new FlagsError('invalid_response', 'a frame holds no flag map');
          const verdict = this.#connection.offer(parsed, {
            revision: nextRevision,
            isSighting: frames++ === 0,
          });
          if (nextRevision !== undefined) nextRevision++;
          if (verdict !== 'keep') {
            cancelBehind?.();
            this.#live();
          } else cancelBehind ??= setTimer(() => controller.abort(BEHIND), BEHIND_MS * (1 + random() / 2));
        },
        onRetry: (ms) => {
          this.#backoff.firstMs = Math.min(Math.max(ms, 100), MAX_POLL_INTERVAL_MS);
        },
      });
      thrown = CLOSED;
    } catch (reason) {
      thrown = reason;
    }
    cancelBehind?.();
    controller.abort();
    release();
    const wasLive = this.#connection.isLive;
    this.#connection.isLive = false;
    this.#open = 0;
    if (signal.aborted) return 0;
    return this.#lose(thrown, { wasLive, openForMs: openedAt === undefined ? -1 : now() - openedAt });
  }

  /** Draws the consequences of a stream's end. Gives the milliseconds to wait. */
  #lose(thrown: unknown, { wasLive, openForMs }: { wasLive: boolean; openForMs: number }): number {
    const { target, health } = this.#connection;
    health.lapse(target.staleAfterMs);
    if (thrown === BEHIND) {
      if (!this.#cancelPoll) this.#pollIn(this.#interval());
      return 0;
    }
    const isHealthy = openForMs >= HEALTHY_MS;
    if (isHealthy || thrown === SILENT) this.#backoff.reset();
    const error = this.#errorOf(thrown, openForMs);
    this.#streamError = error;
    // A stream that held and is then closed has done its work: servers restart.
    if (!(isHealthy && thrown === CLOSED)) this.#connection.report(error);
    const retryAfterMs = error.retryInMs ?? 0;
    if (isRefusal(error)) {
      this.#stopPolling();
      health.fail();
    } else if (this.#firstPoll === 'due') this.#pollIn(retryAfterMs);
    else {
      if (this.#firstPoll === 'failed') health.fail();
      if (retryAfterMs) this.#pollIn(Math.max(retryAfterMs, this.#interval()));
      else if (!this.#cancelPoll) this.#pollIn(wasLive ? NEXT_POLL_MS : this.#interval());
    }
    return this.#backoff.next({ isRefusal: isRefusal(error), retryAfterMs });
  }

  #errorOf(thrown: unknown, openForMs: number): FlagsError {
    if (thrown === CLOSED) return new FlagsError('stream_error', 'the server closed the stream');
    if (thrown === SILENT) return new FlagsError('stream_error', 'no sign of life for three heartbeats');
    const code = openForMs < 0 ? 'network_error' : 'stream_error';
    return toSafeError(this.#connection.target, thrown, 'the stream broke', code);
  }

  #live(): void {
    this.#connection.isLive = true;
    this.#firstPoll = 'asked';
    this.#streamError = undefined;
    this.#stopPolling();
    this.#connection.health.confirm();
  }

  #interval(): number {
    const { pollIntervalMs, platform } = this.#connection.target;
    return Math.min(pollIntervalMs, MAX_POLL_INTERVAL_MS) * (0.8 + platform.random() / 5);
  }

  #stopPolling(): void {
    this.#cancelPoll?.();
    this.#cancelPoll = undefined;
  }

  /** Asks REST in `ms` milliseconds, and again every interval until there is a stream that delivers. */
  #pollIn(ms: number): void {
    this.#stopPolling();
    const { target } = this.#connection;
    this.#cancelPoll = target.platform.setTimer(() => void this.#poll(), ms);
  }

  async #poll(): Promise<void> {
    const connection = this.#connection;
    const stream = this.#open;
    this.#cancelPoll = undefined;
    this.#firstPoll = 'asked';
    const { isCurrent, error } = await connection.load(this.#streamError);
    if (connection.signal.aborted || connection.isLive) return;
    if (error) {
      this.#firstPoll = 'failed';
      if (this.#streamError) connection.health.fail();
    }
    if (isCurrent && stream > 0 && stream === this.#open) this.#live();
    // The stream may have asked for another poll meanwhile; and a refusal is the stream's to retry, slowly.
    else if (!this.#cancelPoll && !(error && isRefusal(error)))
      this.#pollIn(Math.max(error?.retryInMs ?? 0, this.#interval()));
  }
}
