import { KEEP_ALIVE_SECONDS } from '@halyard/protocol';
import { createClient } from '../packages/client/src/index.ts';
// The client loads these when it is refused or reports for the first time: here at once, because loading takes real time.
import '../packages/client/src/refusal.ts';
import '../packages/client/src/usage.ts';
import type { Chance } from './chance.ts';
import type { Checks } from './checks.ts';
import type { Place } from './fleet.ts';
import type { SimulatedFetch } from './globals.ts';
import type { Kernel } from './kernel.ts';
import type { Link } from './link.ts';
import type { Truth } from './truth.ts';

/** Settings of the clients: the shortest that they take, so that a history can see what comes after them. */
const [POLL_MS, STALE_AFTER_MS, TIMEOUT_MS] = [5_000, 2_000, 5_000] as const;

/** How old flags may be that a client calls ready: what comes late, what the node admits, and what is on its way. */
const LATE_MS = STALE_AFTER_MS + TIMEOUT_MS + 3_500;

/** The same with a silent stream, and with polls, whose pauses vary. */
const READY_MS = { stream: 3 * KEEP_ALIVE_SECONDS * 1_000 + LATE_MS, poll: 1.5 * POLL_MS + LATE_MS } as const;

/** How long a new client may be without flags while its node answers reads: a second for the stream, and a request. */
const BLANK_MS = 3_000;

/** How long a client refuses revisions below one that it has seen. */
const KEEPS_MS = 75_000;

/** What a client of the library needs of the world. */
export interface ClientParts {
  readonly kernel: Kernel;
  readonly chance: Chance;
  readonly checks: Checks;
  readonly truth: Truth;
  readonly fetch: SimulatedFetch;
  readonly name: string;
  /** The place that it asks, and the way there. */
  readonly place: Place;
  readonly link: Link;
  readonly environmentId: string;
  readonly environment: string;
  readonly key: string;
  readonly count: (what: string) => void;
  /** Whether its node may refuse it a stream for ever. */
  readonly mayPoll: boolean;
  /** Whether the faults are over: from then on, none is started again. */
  readonly isSettled: () => boolean;
  /** Whether an epoch was lost that no process knows of any longer, so that revisions may go back: see `Database.lacksEpoch`. */
  readonly lacksEpoch: () => boolean;
}

/** An application with the client library: what it reads, and that it is started again now and then. */
export class SimulatedClient {
  readonly #parts: ClientParts;
  #client: ReturnType<typeof createClient>;
  #mode: 'poll' | 'stream' = 'stream';
  #revision = -1;
  /** When the client began; `undefined` once something failed on its way to flags. */
  #begunAt: number | undefined;

  /** Must be made in a turn of the process that has it. */
  constructor(parts: ClientParts) {
    this.#parts = parts;
    this.#client = this.#create();
    void this.#readAgain();
    void this.#restartAgain();
  }

  /** In the end it is ready; with `isNewest`, with the newest flags. */
  troubles(isNewest: boolean): { readonly name: string; readonly story: string }[] {
    const { name, truth, kernel, environmentId } = this.#parts;
    const { status, revision } = this.#client;
    const id = this.#client.getValue('counter', 0);
    // Where every process has forgotten what was lost, no epoch begins, and it keeps to the greater revision for a while.
    const lostAt = truth.writes.get(id)?.lostAt;
    if (lostAt !== undefined && kernel.now - lostAt < KEEPS_MS) return [];
    if (this.#parts.lacksEpoch()) return [];
    const isCurrent = !isNewest || id === truth.newest(environmentId, kernel.now)?.id;
    // A client that is refused a stream polls, and is stale in between.
    const isFine = status === 'ready' || (this.#parts.mayPoll && status === 'stale');
    if (isFine && isCurrent) return [];
    return [
      { name, story: `${name} is ${status} at revision ${revision} in the end, which is not the newest` },
    ];
  }

  #create(): ReturnType<typeof createClient> {
    const { kernel, fetch, place, environment, key, chance } = this.#parts;
    this.#begunAt = kernel.now;
    this.#mode = chance.happens(0.3) ? 'poll' : 'stream';
    return createClient({
      fetch,
      environment,
      apiKey: key,
      baseUrl: `http://${place.name}`,
      allowInsecureHttp: true,
      pollIntervalMs: POLL_MS,
      staleAfterMs: STALE_AFTER_MS,
      requestTimeoutMs: TIMEOUT_MS,
      logger: false,
      mode: this.#mode,
    });
  }

  async #restartAgain(): Promise<void> {
    for (;;) {
      await this.#pause(8_000, 40_000);
      if (this.#parts.isSettled()) return;
      await this.#client.close();
      this.#client = this.#create();
      this.#revision = -1;
    }
  }

  async #readAgain(): Promise<void> {
    const { checks, name } = this.#parts;
    for (;;) {
      await this.#pause(100, 500);
      try {
        this.#read();
        this.#checkBlank();
      } catch (error) {
        checks.broken('client', name, `${name} threw ${error}`);
      }
    }
  }

  #pause(fromMs: number, toMs: number): Promise<void> {
    const { kernel, chance } = this.#parts;
    return new Promise((resolve) => void kernel.after(chance.between(fromMs, toMs), resolve));
  }

  #read(): void {
    const { truth, kernel, count, environmentId, lacksEpoch } = this.#parts;
    const { status, revision = -1 } = this.#client;
    const id = this.#client.getValue('counter', 0);
    count(`client ${status}`);
    if (revision < this.#revision && !lacksEpoch())
      this.#report(`went from revision ${this.#revision} to ${revision}`);
    this.#revision = revision;
    if (id === 0) {
      if (status === 'ready') this.#report('is ready and has no flags');
      return;
    }

    const write = truth.writes.get(id);
    if (write?.environmentId !== environmentId || !Bun.deepEquals(this.#client.all(), write.flags)) {
      this.#report(`has a map that was never written, at revision ${revision}`);
      return;
    }
    const readyMs = READY_MS[this.#mode];
    const newest = truth.newest(environmentId, kernel.now - readyMs, kernel.now);
    if (status === 'ready' && write.lostAt === undefined && newest !== undefined && newest.seq > write.seq)
      this.#report(`is ready at revision ${revision}; ${newest.revision} is older than ${readyMs} ms`);
  }

  /** A node that answers reads leaves no new client without flags, whatever becomes of its stream. */
  #checkBlank(): void {
    const { kernel, place, link, checks, name } = this.#parts;
    if (this.#begunAt === undefined) return;
    const isHealthy = place.isListening && place.owner.pausedUntil === 0 && link.isClearSince(this.#begunAt);
    const isCurrent = kernel.see(place.owner, () => place.plane?.freshness.isCurrent) === true;
    const hasFlags = this.#client.getValue('counter', 0) !== 0;
    const isLate = kernel.now - this.#begunAt > BLANK_MS;
    const isWaiting = isHealthy && isCurrent && !hasFlags;
    if (isWaiting && !isLate) return;

    this.#begunAt = undefined;
    if (isWaiting)
      checks.broken('blank', name, `${name} has had no flags for ${BLANK_MS} ms, and its node answers`);
  }

  #report(what: string): void {
    const { checks, name } = this.#parts;
    checks.broken('client', name, `${name} ${what}`);
  }
}
