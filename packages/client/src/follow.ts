import { createBackoff, HEALTHY_MS } from './backoff.ts';
import type { Connection } from './connection.ts';
import { FlagsError } from './errors.ts';
import { readFlags } from './flags.ts';
import { isRefusal, toSafeError } from './request.ts';
import { followStream } from './stream.ts';

/** How long a stream may take to deliver the map before REST is asked for it, at the start. */
export const FIRST_POLL_MS = 1_000;
/** The same, after a stream was lost that had delivered. */
export const NEXT_POLL_MS = 5_000;
/** While there is no stream, REST is asked at least this often. */
export const MAX_FALLBACK_MS = 30_000;
/** After REST has been refused (a wrong key, an unknown environment), it is asked so much later. */
export const REFUSED_POLL_MS = 240_000;
/** How long to stay with a node that is behind before trying another: this, and up to half as much again. */
export const BEHIND_MS = 4_000;

/** Says that a stream was left on purpose: its node is behind, or another tab takes it. */
const LEFT = null;

/** Follows the stream; a page shares it with its other tabs. If that part cannot be loaded, each has its own. */
const followFromHere: typeof followStream = async (...stream) => {
  const tabs = 'document' in globalThis && (await import('./tabs.ts').catch(() => {}));
  await (tabs ? tabs.followInPage(followStream, ...stream) : followStream(...stream));
};

/**
 * Keeps a connection's map new for ever: a stream, and REST while there is none; or REST alone in the mode `poll`.
 * Gives the function that ends it.
 *
 * A stream is *live* once the map at hand is at least as new as the stream's beginning. That takes a first frame, or,
 * from a server that sends none, an answer of REST asked for after the stream was opened.
 */
export function follow(connection: Connection): () => void {
  const { target } = connection;
  const { platform, pollIntervalMs } = target;
  const { now, setTimer, random } = platform;
  const isPolling = target.mode === 'poll';
  const backoff = createBackoff(random);
  let isEnded = false;
  let cancelPoll: (() => void) | undefined;
  let cancelRetry = () => {};
  let cancelBehind: (() => void) | undefined;
  /** Streams opened so far, and the number of the one that is open, 0 while none is. */
  let opened = 0;
  let open = 0;
  let streamError: FlagsError | undefined;
  let hasPolled = false;
  let hasPollFailed = false;

  const stopPolling = () => {
    cancelPoll?.();
    cancelPoll = undefined;
  };
  const pollIn = (ms: number) => {
    stopPolling();
    if (!isEnded) cancelPoll = setTimer(poll, ms);
  };
  /** A tenth more or less, so that clients spread; minutes after a refusal. */
  const interval = (error?: FlagsError) =>
    (error && isRefusal(error)
      ? REFUSED_POLL_MS
      : isPolling
        ? pollIntervalMs
        : Math.min(pollIntervalMs, MAX_FALLBACK_MS) * 0.9) *
    (0.9 + random() / 5);
  const live = () => {
    connection.isLive = hasPolled = true;
    streamError = undefined;
    stopPolling();
    connection.confirm();
  };

  /** Asks REST; never rejects. */
  const poll = async () => {
    const stream = open;
    cancelPoll = undefined;
    hasPolled = true;
    const error = await connection.load(streamError);
    if (isEnded || connection.isLive) return;
    hasPollFailed = !!error;
    if (isPolling) {
      if (!error) backoff.reset();
      const retryMs = error ? backoff.next(error, isRefusal(error)) : interval();
      pollIn(error && !error.retryInMs && !isRefusal(error) ? Math.min(retryMs, interval()) : retryMs);
    } else if (connection.isCurrent && stream && stream === open) live();
    // The stream may have asked for another poll meanwhile.
    else if (!cancelPoll) pollIn(Math.max(error?.retryInMs ?? 0, interval(error)));
    // Last, as in `lose`: whoever is told may close the client, and that ends the timers there are.
    if (error && (streamError || isPolling)) connection.fail();
  };

  /** Opens a stream, follows it to its end, and comes back; never rejects. */
  const attempt = async () => {
    const controller = connection.begin();
    let openedAt: number | undefined;
    let frames = 0;
    let thrown: unknown;
    try {
      await followFromHere(target, controller, {
        onOpen: (revision) => {
          openedAt = now();
          open = ++opened;
          if (revision === undefined) pollIn(0); // no first frame is promised
        },
        onFrame: (data, revision) => {
          const parsed = readFlags(data);
          if (!parsed) throw new FlagsError('invalid_response', 'it is not a flag map');
          const verdict = connection.offer(parsed, { revision, isSighting: frames++ === 0 });
          if (verdict === 'keep')
            cancelBehind ??= setTimer(() => controller.abort(LEFT), BEHIND_MS * (1 + random() / 2));
          else {
            stopBehind();
            live();
          }
        },
        onRetry: (ms) => {
          backoff.firstMs = Math.min(Math.max(ms, 100), MAX_FALLBACK_MS);
        },
      });
    } catch (reason) {
      thrown = reason;
    }
    stopBehind();
    connection.end(controller);
    const wasLive = connection.isLive;
    connection.isLive = false;
    open = 0;
    if (!isEnded) lose(thrown, wasLive, openedAt === undefined ? -1 : now() - openedAt);
  };
  const stopBehind = () => {
    cancelBehind?.();
    cancelBehind = undefined;
  };
  /** Draws the consequences of a stream's end (nothing was thrown: the server closed it). */
  const lose = (thrown: unknown, wasLive: boolean, openForMs: number) => {
    connection.lapse(target.staleAfterMs);
    if (thrown === LEFT) {
      if (!cancelPoll) pollIn(interval());
      cancelRetry = setTimer(attempt, 0);
      return;
    }
    const isHealthy = openForMs >= HEALTHY_MS;
    const closed = thrown ?? new FlagsError('stream_error', 'the server closed the stream');
    const error = toSafeError(target, closed, openForMs < 0 ? 'network_error' : 'stream_error');
    streamError = error;
    // Silence was slow enough by itself to begin again quickly.
    if (isHealthy || (openForMs >= 0 && error.code === 'timeout')) backoff.reset();
    const retryInMs = error.retryInMs ?? 0;
    if (!hasPolled) pollIn(retryInMs);
    else if (retryInMs) pollIn(Math.max(retryInMs, interval()));
    else if (!cancelPoll) pollIn(wasLive ? NEXT_POLL_MS : interval());
    cancelRetry = setTimer(attempt, backoff.next(error, isRefusal(error)));
    // A stream that held and is then closed has done its work: servers restart.
    if (!isHealthy || thrown !== undefined) connection.report(error);
    if (hasPollFailed) connection.fail();
  };

  if (isPolling) void poll();
  else {
    pollIn(FIRST_POLL_MS);
    void attempt();
  }
  return () => {
    isEnded = true;
    stopPolling();
    stopBehind();
    cancelRetry();
  };
}
