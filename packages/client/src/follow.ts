import { createBackoff } from './backoff.ts';
import type { Followed } from './connection.ts';
import { FlagsError, isRefusal } from './errors.ts';
import { NO_FLAGS, readFlags } from './flags.ts';
import { readRevision, toSafeError } from './request.ts';
import { followStream } from './stream.ts';

/** Says that a stream was left on purpose: its node is behind, or another tab takes it. Foreign code cannot throw it. */
const LEFT = {};

/** Follows the stream; a page shares it with its other tabs. If that part cannot be loaded, each tab has its own. */
const followFromHere: typeof followStream = async (...stream) => {
  const tabs = 'document' in globalThis && (await import('./tabs.ts').catch(() => {}));
  await (tabs ? tabs.followInPage(followStream, LEFT, ...stream) : followStream(...stream));
};

/**
 * Keeps a connection's map new until the function that it returns is called. There are two ways, and each has its own
 * waits: whatever a server says about one of them, as `Retry-After` or 401, never stops the other.
 *
 * The stream brings each change at once. It is *live* when its last map is the newest one: that takes a frame or, from a
 * server that promises no first frame, an answer of REST asked for after the stream was opened. A stream that ends is
 * opened again, after the back-off.
 *
 * REST is asked while the stream is not live: a second after the start, and then at intervals. In the mode `poll` there is
 * no stream.
 */
export function follow(connection: Followed): () => void {
  /** How long the first stream may take to bring the map before REST is asked for it. */
  const FIRST_POLL_MS = 1_000;
  /** The same for the stream that follows a live one. */
  const NEXT_POLL_MS = 5_000;
  /** While there is no stream, REST is asked at least this often. */
  const MAX_FALLBACK_MS = 30_000;
  /** After REST has refused the key or the environment, it is asked so much later. */
  const REFUSED_POLL_MS = 240_000;
  /** How long to stay with a node that is behind before trying another: this, and up to half as much again. */
  const BEHIND_MS = 4_000;
  /** A stream that was open for this long makes the next failure a first one. */
  const HEALTHY_MS = 60_000;

  const { target } = connection;
  const { pollIntervalMs, note } = target;
  const { now, setTimer, random } = target.platform;
  const isPolling = target.mode === 'poll';
  const backoff = createBackoff(random);
  let isEnded = false;

  let cancelPoll: (() => void) | undefined;
  /** Whether REST failed the last time; `undefined` until it is asked. */
  let hasFailed: boolean | undefined;
  /** When REST may be asked again, by its own `Retry-After`. */
  let restAt = 0;

  /** Stands for the stream that is open, if any. */
  let stream: object | undefined;
  /** Why the last stream ended, until one is live again. */
  let streamError: FlagsError | undefined;
  /** Whether there was a stream: after that, the process stays alive for the next one. */
  let hadStream = false;
  let cancelOpen: (() => void) | undefined;
  let cancelLeave: (() => void) | undefined;

  const stopPolling = () => {
    cancelPoll?.();
    cancelPoll = undefined;
  };
  /** Asks REST in `ms`, but not before the time that REST itself has named. */
  const pollIn = (ms: number) => {
    stopPolling();
    if (!isEnded) cancelPoll = setTimer(poll, Math.max(ms, restAt - now()));
  };
  /** How long until REST is asked again: a tenth more or less, so that clients spread. */
  const interval = (error?: FlagsError) =>
    (isRefusal(error)
      ? REFUSED_POLL_MS
      : isPolling
        ? pollIntervalMs
        : Math.min(pollIntervalMs, MAX_FALLBACK_MS) * 0.9) *
    (0.9 + random() / 5);
  /** How long until REST is asked again in the mode `poll`, where only REST brings flags: failures lengthen the wait. */
  const pause = (error?: FlagsError) => {
    if (!error) backoff.startAgain();
    const delayMs = error ? backoff.delayAfter(error) : interval();
    return error?.retryInMs || isRefusal(error) ? delayMs : Math.min(delayMs, interval());
  };

  /** Asks REST, and plans the next time; never rejects. */
  const poll = async () => {
    const asked = stream;
    cancelPoll = undefined;
    hasFailed ??= false;

    const error = await connection.askRest(streamError);
    restAt = now() + (error?.retryInMs ?? 0);
    if (isEnded || connection.isLive) return;

    const isRepeated = hasFailed;
    hasFailed = !!error;
    if (isPolling) pollIn(pause(error));
    else if (connection.isCurrent && asked && asked === stream) live();
    // The stream may have asked for another poll since, which came before REST's own delay was known.
    else if (!cancelPoll || error?.retryInMs) pollIn(interval(error));

    // A stream that is open may bring nothing for ever, so REST's second failure in a row is enough by itself.
    if (error && (isPolling || streamError || isRepeated)) connection.giveUp();
  };

  const live = () => {
    connection.isLive = true;
    hasFailed = false;
    streamError = undefined;
    stopPolling();
    connection.confirm();
  };
  const stay = () => {
    cancelLeave?.();
    cancelLeave = undefined;
  };

  /** Opens a stream, follows it to its end, and plans the next one; never rejects. */
  const open = async () => {
    const controller = connection.beginRequest();
    let openedAt = 1 / 0;
    /** The map that the stream has brought, to which its next change is made, and its revision. */
    let base = NO_FLAGS;
    let held: unknown = NO_FLAGS;
    let thrown: unknown;
    try {
      await followFromHere(target, controller, {
        onOpen: (revision) => {
          openedAt = now();
          stream = {};
          hadStream = true;
          note(`stream opened, revision ${revision}`);
          if (revision === undefined) pollIn(0); // no first frame is promised
        },
        onMapChange: ({ from, to, set, removed }) => {
          if (from === null) base = NO_FLAGS;
          else if (from !== held) throw new FlagsError('stream_error', 'a change is missing');

          const revision = readRevision(to);
          const parsed = readFlags(set, base, removed);
          const verdict = connection.offer(parsed, revision, held === NO_FLAGS);
          held = revision ?? parsed;
          base = parsed.flags;
          if (verdict === 'keep')
            cancelLeave ??= setTimer(() => controller.abort(LEFT), BEHIND_MS * (1 + random() / 2));
          else {
            stay();
            live();
          }
          return base;
        },
        onRetry: (ms) => {
          backoff.firstMs = Math.min(Math.max(ms, 100), MAX_FALLBACK_MS);
        },
      });
    } catch (reason) {
      thrown = reason;
    }

    stay();
    connection.endRequest(controller);
    note('stream ended');
    const wasLive = connection.isLive;
    connection.isLive = false;
    stream = undefined;
    if (!isEnded) lose(thrown, wasLive, now() - openedAt);
  };

  /** Handles the end of a stream. Nothing was thrown if the server closed it in good order. */
  const lose = (thrown: unknown, wasLive: boolean, openForMs: number) => {
    connection.lapse(target.staleAfterMs);
    if (thrown === LEFT) {
      if (!cancelPoll) pollIn(interval());
      cancelOpen = setTimer(open, 0, true);
      return;
    }

    const ended = thrown ?? new FlagsError('stream_error', 'the stream ended');
    const error = toSafeError(target, ended, openForMs < 0 ? 'network_error' : 'stream_error');
    streamError = error;

    if (hasFailed === undefined) pollIn(0);
    else if (!cancelPoll) pollIn(wasLive ? NEXT_POLL_MS : interval());

    // Silence was slow enough by itself to begin again quickly.
    if (openForMs >= HEALTHY_MS || (openForMs >= 0 && error.code === 'timeout')) backoff.startAgain();
    cancelOpen = setTimer(open, backoff.delayAfter(error), hadStream);

    // Listeners come last: one may close the client, which ends the timers that exist by then. A long stream
    // that the server closes is not an error.
    if (openForMs < HEALTHY_MS || thrown !== undefined) connection.report(error);
    if (hasFailed) connection.giveUp();
  };

  if (isPolling) void poll();
  else {
    pollIn(FIRST_POLL_MS);
    void open();
  }
  return () => {
    isEnded = true;
    stopPolling();
    stay();
    cancelOpen?.();
  };
}
