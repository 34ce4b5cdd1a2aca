import { readFileSync } from 'node:fs';
import { type CpuWait, READERS } from './checker/history.ts';
import { now } from './clock.ts';
import type { Fleet, FleetNode } from './fleet-node.ts';

/** Time between two samples, in milliseconds. */
const EVERY_MS = 500;

/** How many times longer than promised anything may take on a busy machine. */
const LONGEST_FACTOR = 5;

/**
 * How long the processes of nodes, and this one, waited for a processor. That is the machine's delay, not theirs, so time
 * limits do not count it. On systems without that figure it is 0.
 */
class CpuWaits {
  readonly #nodes: readonly FleetNode[];
  readonly #waited = new Map<number, number>();
  #from = now();

  constructor({ nodes }: Pick<Fleet, 'nodes'>) {
    this.#nodes = nodes;
    this.take();
  }

  /** The waits since the last call, of each node and of the readers alone. */
  take(): readonly CpuWait[] {
    const [from, until] = [this.#from, now()];
    this.#from = until;
    const ours = this.#since(process.pid);
    const waitOf = (node: string, ms: number) => ({ node, from, ms: Math.min(until - from, ms) });
    return [
      waitOf(READERS, ours),
      ...this.#nodes.map((node) => {
        const waits = [node.process.pid, ...node.workerPids()].map((pid) => this.#since(pid));
        return waitOf(node.name, Math.max(ours, ...waits));
      }),
    ];
  }

  #since(pid: number): number {
    const waited = waitedMs(pid);
    const before = this.#waited.get(pid) ?? 0;
    this.#waited.set(pid, waited);
    return waited - before;
  }
}

/** Records the waits of a fleet until `signal` aborts. */
export async function recordCpuWaits(
  fleet: Fleet,
  record: (wait: CpuWait) => void,
  signal: AbortSignal,
): Promise<void> {
  const waits = new CpuWaits(fleet);
  while (!signal.aborted) {
    await Bun.sleep(EVERY_MS);
    for (const wait of waits.take()) if (wait.ms > 0) record(wait);
  }
}

/** Calls `look` until it is done, for `withinMs` at most, not counting waits for a processor. Returns whether it was done. */
export async function untilDone(
  fleet: Fleet,
  look: () => Promise<boolean>,
  withinMs: number,
): Promise<boolean> {
  const waits = new CpuWaits(fleet);
  const latest = now() + LONGEST_FACTOR * withinMs;
  for (let deadline = now() + withinMs; now() < Math.min(deadline, latest); ) {
    if (await look()) return true;
    await Bun.sleep(100);
    deadline += Math.max(...waits.take().map(({ ms }) => ms));
  }
  return false;
}

/** How long the main thread of a process has waited so far. */
function waitedMs(pid: number): number {
  try {
    return Number(readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')[1]) / 1e6;
  } catch {
    // The process has ended, or the system has no such file.
    return 0;
  }
}
