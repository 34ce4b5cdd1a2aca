import type { FlagMap } from '@halyard/protocol';
import { FlagsError } from './errors.ts';
import { NO_FLAGS, type ParsedFlags, reconcile } from './flags.ts';
import { follow } from './follow.ts';
import { toSafeError } from './request.ts';
import { createRevisionGate, type Verdict } from './revision-gate.ts';
import type { Target } from './target.ts';

/**
 * Where a client stands. `connecting`: no map yet, the first load is under way. `ready`: the map is current. `stale`:
 * the map may be out of date, and the client is reconnecting. `failed`: the first load failed and there is still no map.
 */
export type ClientStatus = 'connecting' | 'ready' | 'stale' | 'failed' | 'closed';

/** The callbacks of one client. Neither may throw. */
export interface ConnectionListener {
  /** The status or the map has changed. */
  onUpdate(): void;
  onError(error: FlagsError): void;
}

/** The newest map of one environment and the work that keeps it new. Clients with the same target share one. */
export interface Connection {
  readonly target: Target;
  readonly listeners: Set<ConnectionListener>;
  /** `undefined` until the first map has come. */
  flags: FlagMap | undefined;
  status: ClientStatus;
  /** The last failure, until something succeeds. */
  error: FlagsError | undefined;
  /** Whether the last load, or the stream, left the newest flags. */
  isCurrent: boolean;
  /** Whether a stream is live: then the map is current whatever REST answers. */
  isLive: boolean;
  /** The revision of the map at hand, if the server numbers its maps. */
  revision(): number | undefined;
  /** Begins to follow the environment; in the mode `manual` it does nothing. Further calls do nothing. */
  startFollowing(): void;
  /**
   * Loads because the application asks; calls at the same time share a load. Returns the error, if any. A load that
   * succeeds ends the back-off.
   */
  refresh(): Promise<FlagsError | undefined>;
  /** Ends everything: requests, timers, loops. Resolves when the last report of reads is over. */
  close(): Promise<void> | undefined;
}

/** A connection, as the work that keeps its map new sees it. */
export interface Followed extends Connection {
  /** Marks the map current, until `lapse`. */
  confirm(): void;
  /** Marks the map stale in `ms`, counted from the first call, unless it is confirmed. */
  lapse(ms: number): void;
  /** Marks the first load as failed, unless there is a map. */
  giveUp(): void;
  /** Reports a failure to every client. */
  report(error: FlagsError): void;
  /**
   * Takes a map unless the one at hand is newer, and reports what is wrong with it: see {@link RevisionGate.judge}. Without a
   * map, the one at hand has that revision, too. Leaves in `parsed` the map as it is kept: what did not change is the same as before.
   */
  offer(
    parsed: ParsedFlags | undefined,
    revision: number | undefined,
    isSighting: boolean,
    askedAt?: number,
    etag?: string | null,
  ): Verdict;
  /** Asks REST for all flags. Returns the error, which is reported unless it only repeats `known`; never rejects. */
  askRest(known?: FlagsError): Promise<FlagsError | undefined>;
  /** Creates the controller of a request, which closing the connection aborts. */
  beginRequest(): AbortController;
  /** Ends a request. */
  endRequest(controller: AbortController): void;
}

/**
 * Creates a connection; it does nothing yet. Once started it keeps its map new for ever: by the stream, and by REST while
 * there is no stream; or by REST alone in the mode `poll`.
 */
export function createConnection(target: Target): Connection {
  const { note } = target;
  const { now, setTimer } = target.platform;
  const isManual = target.mode === 'manual';
  const gate = createRevisionGate(now);
  const requests = new Set<AbortController>();
  const rejected = new Set<string>();
  let etag: string | null | undefined;
  let cancelLapse: (() => void) | undefined;
  let stop: (() => void) | undefined;
  let refreshing: Promise<FlagsError | undefined> | undefined;

  const update = () => {
    for (const listener of [...self.listeners]) listener.onUpdate();
  };
  const become = (status: ClientStatus) => {
    if (isClosed() || status === self.status) return;
    self.status = status;
    update();
  };
  const isClosed = () => self.status === 'closed';

  const self: Followed = {
    target,
    listeners: new Set(),
    flags: undefined,
    status: 'connecting',
    error: undefined,
    isCurrent: false,
    isLive: false,
    revision: gate.known,

    confirm: () => {
      cancelLapse?.();
      cancelLapse = undefined;
      become('ready');
    },

    lapse: (ms) => {
      if (self.status === 'ready') cancelLapse ??= setTimer(() => become('stale'), ms);
    },

    giveUp: () => {
      if (self.status === 'connecting') become('failed');
    },

    report: (error) => {
      if (isClosed()) return;
      if (!error.flagKey) self.error = error;
      for (const listener of [...self.listeners]) listener.onError(error);
    },

    offer: (parsed, revision, isSighting, askedAt, tag) => {
      const verdict = gate.judge(revision, isSighting, askedAt);
      if (verdict === 'keep' || !parsed) return verdict;

      const before = self.flags;
      self.flags = parsed.flags = reconcile(before ?? NO_FLAGS, parsed.flags).flags;
      etag = tag;
      self.error = undefined;
      // With the first map, listeners hear how the client stands before they hear of the flags.
      if (!before && !isClosed()) self.status = isSighting ? 'ready' : 'stale';
      if (self.flags !== before) update();

      if (verdict === 'reset') self.report(new FlagsError('revision_reset', 'the revisions restarted lower'));
      for (const flagKey of parsed.rejected)
        if (rejected.size < rejected.add(flagKey).size)
          self.report(new FlagsError('invalid_response', 'it is not a flag state', { flagKey }));
      return verdict;
    },

    beginRequest: () => {
      const controller = new AbortController();
      requests.add(controller);
      return controller;
    },

    endRequest: (controller) => {
      controller.abort();
      requests.delete(controller);
    },

    askRest: async (known) => {
      const askedAt = gate.tick();
      const controller = self.beginRequest();
      let error: FlagsError | undefined;
      try {
        const {
          parsed,
          revision,
          isCurrent,
          freshMs,
          etag: tag,
        } = await target.loadMap(target, controller, etag);
        note(`flags loaded, revision ${revision}`);
        const isSighting = isCurrent && !self.isLive;
        const verdict = self.offer(parsed, revision, isSighting, askedAt, tag);
        const isConfirmed = isCurrent && verdict !== 'keep';
        self.isCurrent = isConfirmed || self.isLive;

        if (!self.isLive) {
          // An answer says that the map is current, but only for a while.
          if (isConfirmed) self.confirm();
          else if (isManual) become('stale');
          if (!isManual) self.lapse(freshMs);
        }
      } catch (thrown) {
        error = toSafeError(target, thrown, 'network_error');
        self.isCurrent = false;
        // Nothing asks again by itself, so this is the only chance to say that the map may be out of date.
        if (isManual) become(self.flags ? 'stale' : 'failed');
        if (error.code !== known?.code) self.report(error);
      }
      self.endRequest(controller);
      return error;
    },

    startFollowing: () => {
      if (isManual || isClosed()) return;
      stop ??= follow(self);
      // The application's `fetch` may close the client that asks.
      if (isClosed()) stop();
    },

    refresh: () => {
      const before = self.error;
      refreshing ??= self.askRest().then((error) => {
        refreshing = undefined;
        // The cause of the failure has passed: waiting for the next attempt has no point.
        if (before && !error && !requests.size) {
          stop?.();
          stop = undefined;
          self.startFollowing();
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
