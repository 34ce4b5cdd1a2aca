import { milliseconds } from './format.ts';
import type { Machine } from './machine.ts';
import { Worker } from './worker.ts';
import type { Pace, ProbeResult, RequestCommands } from './workers/requests.ts';

/** How often a read is sent while something else is done: often enough to meet a stall of a few milliseconds. */
const READS_PER_SECOND = 500;

/** What was done, how long it took, and what reads waited in the meantime. */
export interface Watched<T> {
  readonly result: T;
  readonly tookMs: number;
  readonly reads: ProbeResult;
}

/** Reads a flag at a steady pace, on connections of its own, while something else keeps the server busy. */
export class ReadProbe implements AsyncDisposable {
  readonly #worker: Worker<RequestCommands>;
  readonly #target: Pick<Pace, 'url' | 'headers'>;

  /** `target` is the read, with the headers it needs. */
  constructor(machine: Machine, { url, headers }: Pick<Pace, 'url' | 'headers'>) {
    this.#worker = new Worker(machine, 'requests.ts', 'load');
    this.#target = { url, headers };
  }

  /** Does the work, and reads from before it begins until after it has ended. */
  async during<T>(work: () => Promise<T>, perSecond = READS_PER_SECOND): Promise<Watched<T>> {
    await this.#worker.ask('begin', { ...this.#target, perSecond });
    // The work begins among reads, not with their first.
    await Bun.sleep(10);
    const start = performance.now();
    try {
      const result = await work();
      const tookMs = performance.now() - start;
      return { result, tookMs, reads: await this.#worker.ask('end') };
    } catch (error) {
      await this.#worker.ask('end');
      throw error;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#worker[Symbol.asyncDispose]();
  }
}

/** `6.93 ms (max 15.9 ms)` */
export function waits({ p99Ms, maxMs }: Pick<ProbeResult, 'p99Ms' | 'maxMs'>): string {
  return `${milliseconds(p99Ms)} (max ${milliseconds(maxMs)})`;
}

/** The number of {@link waits} that is compared. */
export function p99Of({ p99Ms }: Pick<ProbeResult, 'p99Ms'>): number {
  return p99Ms;
}
