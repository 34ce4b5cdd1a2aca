import { childOf } from './abort.ts';
import { FlagsError } from './errors.ts';
import { FlagStore, type MapChange } from './flag-store.ts';
import type { ParsedFlags } from './flags.ts';
import { type ClientStatus, Health } from './health.ts';
import { pollForever } from './poll-loop.ts';
import { toSafeError } from './request.ts';
import { loadFlags } from './rest.ts';
import type { Offer, Verdict } from './revision-gate.ts';
import { StreamLoop } from './stream-loop.ts';
import type { Target } from './target.ts';

/** A client's ear on its connection. None of these may throw. */
export interface ConnectionListener {
  onMap(change: MapChange): void;
  onStatus(status: ClientStatus): void;
  onError(error: FlagsError): void;
}

/** How a load ended. */
export interface LoadResult {
  /** Whether the map at hand is now at least as new as the moment of asking. */
  readonly isCurrent: boolean;
  readonly error?: FlagsError;
}

/** The newest map of one environment and the work that keeps it new. Clients with the same target share one. */
export class Connection {
  readonly target: Target;
  readonly store: FlagStore;
  readonly health: Health;
  readonly listeners = new Set<ConnectionListener>();
  /** Whether a stream is open that has delivered. */
  isLive = false;
  /** The last failure, until something succeeds. */
  lastError: FlagsError | undefined;
  readonly #closing = new AbortController();
  readonly #rejected = new Set<string>();
  #isStarted = false;

  constructor(target: Target) {
    this.target = target;
    this.store = new FlagStore(target.platform.now, (change) => this.#each((ear) => ear.onMap(change)));
    this.health = new Health(target.platform.setTimer, (status) => this.#each((ear) => ear.onStatus(status)));
  }

  /** Aborted when the connection is closed. */
  get signal(): AbortSignal {
    return this.#closing.signal;
  }

  /** Begins to follow the environment; a manual one only loads when it is asked to. */
  start(): void {
    if (this.#isStarted) return;
    this.#isStarted = true;
    const { mode } = this.target;
    if (mode === 'stream') void new StreamLoop(this).run();
    else if (mode === 'poll') void pollForever(this);
  }

  /** Loads all flags once. Never rejects; failures are reported, unless they only repeat `known`. */
  async load(known?: FlagsError): Promise<LoadResult> {
    const askedAt = this.store.tick();
    const { controller, release } = childOf(this.signal);
    try {
      const answer = await loadFlags(this.target, controller, this.store.etag);
      const { parsed, isStale } = answer;
      const isSighting = this.target.mode !== 'stream' && !isStale;
      const verdict = parsed ? this.offer(parsed, { ...answer, askedAt, isSighting }) : 'take';
      const isCurrent = !isStale && verdict !== 'keep';
      if (!this.isLive) this.#vouch(isCurrent);
      return { isCurrent: isCurrent || this.isLive };
    } catch (thrown) {
      const error = toSafeError(this.target, thrown, 'GET /v1/flags failed');
      if (error.code !== known?.code) this.report(error);
      return { isCurrent: false, error };
    } finally {
      controller.abort();
      release();
    }
  }

  /** Offers a map to the store and reports what is wrong with it. */
  offer(parsed: ParsedFlags, offer: Offer & { readonly etag?: string | undefined }): Verdict {
    const verdict = this.store.offer(parsed, offer);
    if (verdict !== 'keep') this.lastError = undefined;
    if (verdict === 'reset')
      this.report(
        new FlagsError(
          'revision_reset',
          'the revisions of the service restarted lower; its map was accepted',
        ),
      );
    for (const flagKey of parsed.rejected) {
      if (this.#rejected.has(flagKey)) continue;
      this.#rejected.add(flagKey);
      this.report(
        new FlagsError('invalid_response', 'a flag came in a shape that is not understood', { flagKey }),
      );
    }
    return verdict;
  }

  /** Tells every client of a failure. */
  report(error: FlagsError): void {
    if (this.signal.aborted) return;
    if (error.code !== 'revision_reset' && !error.flagKey) this.lastError = error;
    this.#each((ear) => ear.onError(error));
  }

  /** Ends everything: requests, timers, loops. Safe to call twice. */
  close(): void {
    this.#closing.abort(new FlagsError('client_closed', 'the client was closed', { retryable: false }));
    this.health.close();
    this.listeners.clear();
  }

  /** A one-off answer vouches for the map for a while only. */
  #vouch(isCurrent: boolean): void {
    const { health, target } = this;
    if (isCurrent || health.status === 'connecting' || health.status === 'failed') health.confirm();
    if (target.mode !== 'manual') health.lapse(target.staleAfterMs + 2 * target.pollIntervalMs);
  }

  #each(tell: (ear: ConnectionListener) => void): void {
    for (const ear of [...this.listeners]) tell(ear);
  }
}
