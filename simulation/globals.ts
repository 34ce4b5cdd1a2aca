import systemFiles from 'node:fs';
import fileSystem from 'node:fs/promises';
import type { Disk } from './disk.ts';
import type { Kernel } from './kernel.ts';

/** Asks a server of the simulated world. */
export type SimulatedFetch = (url: string, init: RequestInit) => Promise<Response>;

/** A timer that is as the runtime's. */
class VirtualTimer {
  readonly #arm: () => () => void;
  #cancel: () => void;

  constructor(arm: () => () => void) {
    this.#arm = arm;
    this.#cancel = arm();
  }

  cancel(): void {
    this.#cancel();
  }

  refresh(): this {
    this.#cancel();
    this.#cancel = this.#arm();
    return this;
  }

  ref(): this {
    return this;
  }

  unref(): this {
    return this;
  }

  hasRef(): boolean {
    return false;
  }

  close(): this {
    this.#cancel();
    return this;
  }

  [Symbol.toPrimitive](): number {
    return 0;
  }
}

/** What the product asks of files. */
const FILE_CALLS = ['mkdir', 'readdir', 'readFile', 'open', 'rename', 'rm'] as const;

/** How many files a process has open. */
const OPEN_FILES = 20;

/** Everything of the runtime that is simulated. */
export interface SimulatedRuntime {
  readonly kernel: Kernel;
  readonly fetch: SimulatedFetch;
  /** The files of the process whose turn it is. */
  readonly files: () => Disk['files'];
}

/**
 * Puts the clocks, timers, turns, random numbers, files and `fetch` of the runtime under a kernel. Returns what puts the
 * runtime's own back. One history at a time.
 */
export function takeOver({ kernel, fetch, files }: SimulatedRuntime): () => void {
  const set = (timer: VirtualTimer): void => timer.cancel();
  const timeout = (work: (...values: unknown[]) => void, ms = 0, ...values: unknown[]) =>
    new VirtualTimer(() => kernel.after(Math.max(1, ms), () => work(...values)));
  const interval = (work: () => void, ms: number) => {
    let stop: () => void = () => {};
    const next = (): void => {
      stop = kernel.after(Math.max(1, ms), () => {
        next();
        work();
      });
    };
    return new VirtualTimer(() => {
      next();
      return () => stop();
    });
  };
  const clear = (timer: unknown): void => {
    if (timer instanceof VirtualTimer) set(timer);
  };

  const changes: [object, string, unknown][] = [
    [globalThis, 'setTimeout', timeout],
    [globalThis, 'setInterval', interval],
    [globalThis, 'setImmediate', (work: () => void) => new VirtualTimer(() => kernel.after(0, work))],
    [globalThis, 'clearTimeout', clear],
    [globalThis, 'clearInterval', clear],
    [globalThis, 'clearImmediate', clear],
    [globalThis, 'fetch', fetch],
    [performance, 'now', () => kernel.monotonicMs()],
    [Date, 'now', () => kernel.wallMs()],
    [Math, 'random', () => kernel.chance.next()],
    [crypto, 'randomUUID', () => kernel.chance.hex()],
    [Bun, 'sleep', (ms: number) => new Promise<void>((resolve) => void timeout(() => resolve(), ms))],
    [AbortSignal, 'timeout', (ms: number) => abortAfter(timeout, ms)],
    // Each process looks once a second how many files it has open.
    [systemFiles, 'statSync', () => ({ size: OPEN_FILES })],
    ...FILE_CALLS.map((name): [object, string, unknown] => [
      fileSystem,
      name,
      // Each takes what its counterpart takes.
      (...values: [never, never]) => files()[name](...values),
    ]),
  ];
  const before = changes.map(([home, name]) => Reflect.get(home, name));
  // Assigned, not defined: some of them cannot be configured, but all can be written.
  for (const [home, name, value] of changes) Reflect.set(home, name, value);
  return () => {
    for (const [index, [home, name]] of changes.entries()) Reflect.set(home, name, before[index]);
  };
}

function abortAfter(timeout: (work: () => void, ms: number) => unknown, ms: number): AbortSignal {
  const controller = new AbortController();
  timeout(() => controller.abort(new DOMException('The operation timed out.', 'TimeoutError')), ms);
  return controller.signal;
}
