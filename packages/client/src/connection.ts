import type { FlagMap } from '@halyard/protocol';
import { FlagsError } from './errors.ts';
import { NO_FLAGS, type ParsedFlags, reconcile } from './flags.ts';
import { follow } from './follow.ts';
import { toSafeError } from './request.ts';
import { loadFlags } from './rest.ts';
import { createRevisionGate, type Offer, type Verdict } from './revision-gate.ts';
import type { Target } from './target.ts';

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
  /** Whether a stream is open that has delivered. */
  isLive: boolean;
  /** The revision of the map at hand, if the server numbers its maps. */
  revision(): number | undefined;
  /** Begins to follow the environment; a manual one only loads when it is asked to. Further calls do nothing. */
  start(): void;
  /** Loads all flags once; gives the error, if any. Never rejects; reports failures, unless they only repeat `known`. */
  load(known?: FlagsError): Promise<FlagsError | undefined>;
  /** Loads because the application asks; calls at the same time share a load. One that succeeds ends the back-off. */
  refresh(): Promise<FlagsError | undefined>;
  /** Whether the last load, or the stream, left the newest flags. */
  isCurrent: boolean;
  /** Offers a map, which is taken unless the one at hand is newer, and reports what is wrong with it. */
  offer(parsed: ParsedFlags, offer: Offer, etag?: string | null): Verdict;
  /** The map is current, and stays so until `lapse`. */
  confirm(): void;
  /** Nothing vouches for the map any more: unless confirmed, it is stale in `ms`. Counts from the first call. */
  lapse(ms: number): void;
  /** The first load failed, unless there has been one. */
  fail(): void;
  /** Tells every client of a failure. */
  report(error: FlagsError): void;
  /** Makes a controller for one request, which `close` aborts. */
  begin(): AbortController;
  /** Ends a request. */
  end(controller: AbortController): void;
  /** Ends everything: requests, timers, loops. */
  close(): void;
}

/** Makes a connection; it does nothing yet. */
export function createConnection(target: Target): Connection {
  const { platform, mode, staleAfterMs, pollIntervalMs } = target;
  const gate = createRevisionGate(platform.now);
  const ears = new Set<Ear>();
  const requests = new Set<AbortController>();
  const rejected = new Set<string>();
  let etag: string | null | undefined;
  let cancelLapse: (() => void) | undefined;
  let stop: (() => void) | undefined;
  let refreshing: Promise<FlagsError | undefined> | undefined;
  const isManual = mode === 'manual';

  const update = () => {
    for (const ear of [...ears]) ear.onUpdate();
  };
  const become = (status: ClientStatus) => {
    if (status === self.status || self.status === 'closed') return;
    self.status = status;
    update();
  };
  const self: Connection = {
    target,
    ears,
    flags: undefined,
    status: 'connecting',
    error: undefined,
    isLive: false,
    isCurrent: false,
    revision: gate.known,
    start: () => {
      if (isManual || self.status === 'closed') return;
      stop ??= follow(self);
      // The application's `fetch` may close the client that asks.
      if ((self.status as ClientStatus) === 'closed') stop(); // the compiler takes it for what it was
    },
    refresh: () => {
      const before = self.error;
      refreshing ??= self.load().then((error) => {
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
    load: async (known) => {
      const askedAt = gate.tick();
      const controller = self.begin();
      let error: FlagsError | undefined;
      try {
        const { parsed, revision, isStale, etag: tag } = await loadFlags(target, controller, etag);
        const isSighting = !self.isLive && !isStale;
        const verdict = parsed && self.offer(parsed, { revision, askedAt, isSighting }, tag);
        const isCurrent = !isStale && verdict !== 'keep';
        self.isCurrent = isCurrent || self.isLive;
        if (!self.isLive) {
          // An answer vouches for the map for a while only.
          if (isCurrent) self.confirm();
          else if (isManual) become('stale');
          if (!isManual) self.lapse(staleAfterMs + 2 * pollIntervalMs);
        }
      } catch (thrown) {
        error = toSafeError(target, thrown, 'network_error');
        self.isCurrent = false;
        // Nothing asks again by itself, so this is the only chance to say that the map has aged.
        if (isManual) become(self.flags ? 'stale' : 'failed');
        if (error.code !== known?.code) self.report(error);
      }
      self.end(controller);
      return error;
    },
    offer: (parsed, offer, tag) => {
      const verdict = gate.judge(offer);
      if (verdict === 'keep') return verdict;
      const { flags } = reconcile(self.flags ?? NO_FLAGS, parsed.flags);
      const isNew = flags !== self.flags;
      self.flags = flags;
      self.error = undefined;
      etag = tag;
      // With the first map, listeners hear that the client is ready before they hear of the flags.
      if (self.status === 'connecting' || self.status === 'failed') self.status = 'ready';
      if (isNew) update();
      if (verdict === 'reset') self.report(new FlagsError('revision_reset', 'the revisions restarted lower'));
      for (const flagKey of parsed.rejected)
        if (rejected.size < rejected.add(flagKey).size)
          self.report(new FlagsError('invalid_response', 'it is not a flag state', { flagKey }));
      return verdict;
    },
    confirm: () => {
      cancelLapse?.();
      cancelLapse = undefined;
      become('ready');
    },
    lapse: (ms) => {
      if (self.status === 'ready') cancelLapse ??= platform.setTimer(() => become('stale'), ms);
    },
    fail: () => {
      if (self.status === 'connecting') become('failed');
    },
    report: (error) => {
      if (self.status === 'closed') return;
      if (!error.flagKey) self.error = error;
      for (const ear of [...ears]) ear.onError(error);
    },
    begin: () => {
      const controller = new AbortController();
      requests.add(controller);
      return controller;
    },
    end: (controller) => {
      controller.abort();
      requests.delete(controller);
    },
    close: () => {
      become('closed');
      cancelLapse?.();
      stop?.();
      for (const controller of requests) controller.abort();
    },
  };
  return self;
}
