import type { FlagMap } from '@halyard/protocol';
import { createBackoff } from './backoff.ts';
import { FlagsError, isRefusal } from './errors.ts';
import { NO_FLAGS, type ParsedFlags, readFlags, reconcile } from './flags.ts';
import { toSafeError } from './request.ts';
import { loadFlags } from './rest.ts';
import { createRevisionGate, type Offer } from './revision-gate.ts';
import { followStream } from './stream.ts';
import type { Target } from './target.ts';

/** Says that a stream was left on purpose: its node is behind, or another tab takes it. Foreign code cannot throw it. */
const LEFT = {};

/** Follows the stream; a page shares it with its other tabs. If that part cannot be loaded, each has its own. */
const followFromHere: typeof followStream = async (...stream) => {
  const tabs = 'document' in globalThis && (await import('./tabs.ts').catch(() => {}));
  await (tabs ? tabs.followInPage(followStream, LEFT, ...stream) : followStream(...stream));
};

/**
 * Where a client stands. `connecting`: no map yet, the first load is under way. `ready`: the map is current. `stale`:
 * the map may have aged, the connection is being restored. `failed`: the first load failed and there is still no map.
 */
export type ClientStatus = 'connecting' | 'ready' | 'stale' | 'failed' | 'closed';

/** A client's ear on its connection. None of these may throw. */
export interface Ear {
  /** The status or the map has changed. */
  onUpdate(): void;
  onError(error: FlagsError): void;
}

/** The newest map of one environment and the work that keeps it new. Clients with the same target share one. */
export interface Connection {
  readonly target: Target;
  readonly ears: Set<Ear>;
  /** `undefined` until the first map has come. */
  flags: FlagMap | undefined;
  status: ClientStatus;
  /** The last failure, until something succeeds. */
  error: FlagsError | undefined;
  /** Whether the last load, or the stream, left the newest flags. */
  isCurrent: boolean;
  /** The revision of the map at hand, if the server numbers its maps. */
  revision(): number | undefined;
  /** Begins to follow the environment; in the mode `manual` it does nothing. Further calls do nothing. */
  start(): void;
  /**
   * Loads because the application asks; calls at the same time share a load. Returns the error, if any. A load that
   * succeeds ends the back-off.
   */
  refresh(): Promise<FlagsError | undefined>;
  /** Ends everything: requests, timers, loops. Resolves when the last report of reads is over. */
  close(): Promise<void> | undefined;
}

/**
 * Creates a connection; it does nothing yet. Once started it keeps its map new for ever: a stream, and REST while there
 * is no stream; or REST alone in the mode `poll`.
 *
 * A stream is *live* once the map at hand is at least as new as the stream's beginning. That takes a first frame, or,
 * from a server that sends none, an answer of REST asked for after the stream was opened.
 */
export function createConnection(target: Target): Connection {
  const { mode, staleAfterMs, pollIntervalMs, note } = target;
  const { now, setTimer, random } = target.platform;
  const gate = createRevisionGate(now);
  const ears = new Set<Ear>();
  const requests = new Set<AbortController>();
  const rejected = new Set<string>();
  const isManual = mode === 'manual';
  const isPolling = mode === 'poll';
  let etag: string | null | undefined;
  let stop: (() => void) | undefined;
  let refreshing: Promise<FlagsError | undefined> | undefined;
  let cancelLapse: (() => void) | undefined;
  /** Whether a stream is open that has delivered. */
  let isLive = false;

  const update = () => {
    for (const ear of [...ears]) ear.onUpdate();
  };
  const become = (status: ClientStatus) => {
    if (status === self.status || self.status === 'closed') return;
    self.status = status;
    update();
  };
  /** The map is current, and stays so until `lapse`. */
  const confirm = () => {
    cancelLapse?.();
    cancelLapse = undefined;
    become('ready');
  };
  /** Nothing vouches for the map any longer: unless confirmed, it is stale in `ms`. Counts from the first call. */
  const lapse = (ms: number) => {
    if (self.status === 'ready') cancelLapse ??= setTimer(() => become('stale'), ms);
  };
  /** The first load failed, unless one has succeeded. */
  const fail = () => {
    if (self.status === 'connecting') become('failed');
  };
  /** Reports a failure to every client. */
  const report = (error: FlagsError) => {
    if (self.status === 'closed') return;
    if (!error.flagKey) self.error = error;
    for (const ear of [...ears]) ear.onError(error);
  };
  /** Creates a controller for one request, which `close` aborts. */
  const begin = () => {
    const controller = new AbortController();
    requests.add(controller);
    return controller;
  };
  /** Ends a request. */
  const end = (controller: AbortController) => {
    controller.abort();
    requests.delete(controller);
  };
  /** Takes a map unless the one at hand is newer, and reports what is wrong with it. */
  const offer = (parsed: ParsedFlags, offered: Offer, tag?: string | null) => {
    const verdict = gate.judge(offered);
    if (verdict === 'keep') return verdict;
    const { flags } = reconcile(self.flags ?? NO_FLAGS, parsed.flags);
    const isNew = flags !== self.flags;
    self.flags = flags;
    self.error = undefined;
    etag = tag;
    // With the first map, listeners hear that the client is ready before they hear of the flags.
    if (self.status === 'connecting' || self.status === 'failed') self.status = 'ready';
    if (isNew) update();
    if (verdict === 'reset') report(new FlagsError('revision_reset', 'the revisions restarted lower'));
    for (const flagKey of parsed.rejected)
      if (rejected.size < rejected.add(flagKey).size)
        report(new FlagsError('invalid_response', 'it is not a flag state', { flagKey }));
    return verdict;
  };
  /** Loads all flags once; returns the error, if any. Never rejects; reports failures, unless they only repeat `known`. */
  const load = async (known?: FlagsError) => {
    const askedAt = gate.tick();
    const controller = begin();
    let error: FlagsError | undefined;
    try {
      const { parsed, revision, isStale, etag: tag } = await loadFlags(target, controller, etag);
      note(`flags loaded, revision ${revision}`);
      const isSighting = !isLive && !isStale;
      const verdict = parsed && offer(parsed, { revision, askedAt, isSighting }, tag);
      const isCurrent = !isStale && verdict !== 'keep';
      self.isCurrent = isCurrent || isLive;
      if (!isLive) {
        // An answer vouches for the map for a while only.
        if (isCurrent) confirm();
        else if (isManual) become('stale');
        if (!isManual) lapse(staleAfterMs + 2 * pollIntervalMs);
      }
    } catch (thrown) {
      error = toSafeError(target, thrown, 'network_error');
      self.isCurrent = false;
      // Nothing asks again by itself, so this is the only chance to say that the map has aged.
      if (isManual) become(self.flags ? 'stale' : 'failed');
      if (error.code !== known?.code) report(error);
    }
    end(controller);
    return error;
  };

  /** Follows the environment until the function it returns is called. */
  const follow = () => {
    /** How long a stream may take to deliver the map before REST is asked for it, at the start. */
    const FIRST_POLL_MS = 1_000;
    /** The same, after a stream was lost that had delivered. */
    const NEXT_POLL_MS = 5_000;
    /** While there is no stream, REST is asked at least this often. */
    const MAX_FALLBACK_MS = 30_000;
    /** After REST has been refused (a wrong key, an unknown environment), it is asked so much later. */
    const REFUSED_POLL_MS = 240_000;
    /** How long to stay with a node that is behind before trying another: this, and up to half as much again. */
    const BEHIND_MS = 4_000;

    /** A connection that held this long makes the next failure a first one. */
    const HEALTHY_MS = 60_000;
    const backoff = createBackoff(random);
    let isEnded = false;
    let cancelPoll: (() => void) | undefined;
    let cancelRetry = () => {};
    /** Once there was a stream, the process stays for the next one, as it did for the first. */
    let held = false;
    let cancelBehind: (() => void) | undefined;
    /** Stands for the stream that is open, if any. */
    let open: object | undefined;
    let streamError: FlagsError | undefined;
    let hasPolled = false;
    let hasPollFailed = false;
    /** When REST may be asked again, by its own `Retry-After`. */
    let restAt = 0;

    const stopPolling = () => {
      cancelPoll?.();
      cancelPoll = undefined;
    };
    /** Asks REST in `ms`, but not before the time that REST itself has named. What a stream names is not REST's. */
    const pollIn = (ms: number) => {
      stopPolling();
      if (!isEnded) cancelPoll = setTimer(poll, Math.max(ms, restAt - now()));
    };
    /** A tenth more or less, so that clients spread; minutes after a refusal. */
    const interval = (error?: FlagsError) =>
      (isRefusal(error)
        ? REFUSED_POLL_MS
        : isPolling
          ? pollIntervalMs
          : Math.min(pollIntervalMs, MAX_FALLBACK_MS) * 0.9) *
      (0.9 + random() / 5);
    const live = () => {
      isLive = hasPolled = true;
      streamError = undefined;
      stopPolling();
      confirm();
    };

    /** Asks REST; never rejects. */
    const poll = async () => {
      const stream = open;
      cancelPoll = undefined;
      hasPolled = true;
      const error = await load(streamError);
      restAt = now() + (error?.retryInMs ?? 0);
      if (isEnded || isLive) return;
      // A stream that is open may deliver nothing for ever, so the second failure in a row counts by itself.
      const hasFailed = error && (streamError || isPolling || hasPollFailed);
      hasPollFailed = !!error;
      if (isPolling) {
        if (!error) backoff.reset();
        const retryMs = error ? backoff.next(error) : interval();
        pollIn(error?.retryInMs || isRefusal(error) ? retryMs : Math.min(retryMs, interval()));
      } else if (self.isCurrent && stream && stream === open) live();
      // The stream may have asked for another poll since, which came before REST's own delay was known.
      else if (!cancelPoll || error?.retryInMs) pollIn(interval(error));
      // Last, as in `lose`: a listener may close the client, which ends the timers that exist by then.
      if (hasFailed) fail();
    };

    /** Opens a stream, follows it to its end, and comes back; never rejects. */
    const attempt = async () => {
      const controller = begin();
      let openedAt: number | undefined;
      let frames = 0;
      let thrown: unknown;
      try {
        await followFromHere(target, controller, {
          onOpen: (revision) => {
            openedAt = now();
            open = {};
            held = true;
            note(`stream opened, revision ${revision}`);
            if (revision === undefined) pollIn(0); // no first frame is promised
          },
          onFrame: (data, revision) => {
            const verdict = offer(readFlags(data), { revision, isSighting: frames++ === 0 });
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
      end(controller);
      note('stream ended');
      const wasLive = isLive;
      isLive = false;
      open = undefined;
      if (!isEnded) lose(thrown, wasLive, openedAt === undefined ? -1 : now() - openedAt);
    };
    const stopBehind = () => {
      cancelBehind?.();
      cancelBehind = undefined;
    };
    /** Draws the consequences of a stream's end (nothing was thrown: the server closed it). */
    const lose = (thrown: unknown, wasLive: boolean, openForMs: number) => {
      lapse(staleAfterMs);
      if (thrown === LEFT) {
        if (!cancelPoll) pollIn(interval());
        cancelRetry = setTimer(attempt, 0, true);
        return;
      }
      const isHealthy = openForMs >= HEALTHY_MS;
      const closed = thrown ?? new FlagsError('stream_error', 'the stream ended');
      const error = toSafeError(target, closed, openForMs < 0 ? 'network_error' : 'stream_error');
      streamError = error;
      // Silence was slow enough by itself to begin again quickly.
      if (isHealthy || (openForMs >= 0 && error.code === 'timeout')) backoff.reset();
      if (!hasPolled) pollIn(0);
      else if (!cancelPoll) pollIn(wasLive ? NEXT_POLL_MS : interval());
      cancelRetry = setTimer(attempt, backoff.next(error), held);
      // A stream that held and is then closed has done its work: servers restart.
      if (!isHealthy || thrown !== undefined) report(error);
      if (hasPollFailed) fail();
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
  };

  const self: Connection = {
    target,
    ears,
    flags: undefined,
    status: 'connecting',
    error: undefined,
    isCurrent: false,
    revision: gate.known,
    start: () => {
      if (isManual || self.status === 'closed') return;
      stop ??= follow();
      // The application's `fetch` may close the client that asks.
      if ((self.status as ClientStatus) === 'closed') stop(); // the compiler takes it for what it was
    },
    refresh: () => {
      const before = self.error;
      refreshing ??= load().then((error) => {
        refreshing = undefined;
        // The cause of the failure has passed: waiting for the next attempt has no point.
        if (before && !error && !requests.size) {
          stop?.();
          stop = undefined;
          self.start();
        }
        return error;
      });
      return refreshing;
    },
    close: () => {
      become('closed');
      cancelLapse?.();
      stop?.();
      for (const controller of requests) controller.abort();
      return target.lastReport?.then((send) => send?.());
    },
  };
  return self;
}
