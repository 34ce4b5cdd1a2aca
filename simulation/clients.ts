import { KEEP_ALIVE_SECONDS } from '@halyard/protocol';
import { createClient } from '../packages/client/src/index.ts';
// The client loads it when it is refused for the first time: here at once, because loading takes real time.
import '../packages/client/src/refusal.ts';
import type { Chance } from './chance.ts';
import type { Checks } from './checks.ts';
import type { SimulatedFetch } from './globals.ts';
import type { Kernel } from './kernel.ts';
import type { Truth } from './truth.ts';

/** Settings of the clients: the shortest that they take, so that a history can see what comes after them. */
const [POLL_MS, STALE_AFTER_MS, TIMEOUT_MS] = [5_000, 2_000, 5_000] as const;

/** How old flags may be that a client calls ready: a silent stream, what the node admits, and what is on its way. */
const READY_MS = 3 * KEEP_ALIVE_SECONDS * 1_000 + STALE_AFTER_MS + TIMEOUT_MS + 3_500;

/** What a client of the library needs of the world. */
export interface ClientParts {
  readonly kernel: Kernel;
  readonly chance: Chance;
  readonly checks: Checks;
  readonly truth: Truth;
  readonly fetch: SimulatedFetch;
  readonly name: string;
  /** The name of the place that it asks. */
  readonly place: string;
  readonly environmentId: string;
  readonly environment: string;
  readonly key: string;
  readonly count: (what: string) => void;
}

/** A client of the library, and what its application reads. */
export class SimulatedClient {
  readonly #parts: ClientParts;
  readonly #client: ReturnType<typeof createClient>;
  #revision = -1;

  /** Must be made in a turn of the process that has it. */
  constructor(parts: ClientParts) {
    this.#parts = parts;
    const { fetch, place, environment, key, chance } = parts;
    this.#client = createClient({
      ...{ fetch, environment, apiKey: key, baseUrl: `http://${place}`, allowInsecureHttp: true },
      ...{ pollIntervalMs: POLL_MS, staleAfterMs: STALE_AFTER_MS, requestTimeoutMs: TIMEOUT_MS },
      ...{ logger: false, mode: chance.happens(0.3) ? 'poll' : 'stream' },
    });
    void this.#readAgain();
  }

  /** In the end it has the newest flags, and says so. */
  checkTheEnd(): void {
    const { checks, name, truth, kernel, environmentId } = this.#parts;
    const newest = truth.newest(environmentId, kernel.now);
    const { status, revision } = this.#client;
    const id = this.#client.getValue('counter', 0);
    if (status !== 'ready' || id !== newest?.id)
      checks.stuck(name, `${name} is ${status} at revision ${revision} in the end, which is not the newest`);
  }

  async #readAgain(): Promise<void> {
    const { kernel, chance, checks, name } = this.#parts;
    for (;;) {
      await new Promise<void>((resolve) => void kernel.after(chance.between(100, 500), resolve));
      try {
        this.#read();
      } catch (error) {
        checks.broken('client', name, `${name} threw ${error}`);
      }
    }
  }

  #read(): void {
    const { truth, kernel, count, environmentId } = this.#parts;
    const { status, revision = -1 } = this.#client;
    const id = this.#client.getValue('counter', 0);
    count(`client ${status}`);
    if (revision < this.#revision) this.#report(`went from revision ${this.#revision} to ${revision}`);
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
    const newest = truth.newest(environmentId, kernel.now - READY_MS, kernel.now);
    if (status === 'ready' && write.lostAt === undefined && newest !== undefined && newest.seq > write.seq)
      this.#report(`is ready at revision ${revision}; ${newest.revision} is older than ${READY_MS} ms`);
  }

  #report(what: string): void {
    const { checks, name } = this.#parts;
    checks.broken('client', name, `${name} ${what}`);
  }
}
