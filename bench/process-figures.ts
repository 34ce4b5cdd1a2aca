import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { sum } from './statistics.ts';

/** The kernel reports processor time in ticks of a hundredth of a second. A figure must cover many of them. */
export const TICK_MS = 10;

/** Processor time that processes have used so far, all threads, in milliseconds; `NaN` where there is no `/proc`. */
export function cpuTimeMs(...pids: readonly number[]): number {
  return sum(
    pids.map((pid) => {
      const text = read(`/proc/${pid}/stat`);
      // The second field is a name in brackets and may hold spaces; the times are the 14th and 15th field.
      const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
      return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
    }),
  );
}

/** The result of some work, how long it took, and the processor time of some processes during it, in milliseconds. */
export interface Metered<T> {
  readonly result: T;
  readonly tookMs: number;
  readonly cpuMs: number;
}

/** Does the work and looks at the processor time of these processes before and after. */
export async function metered<T>(pids: readonly number[], work: () => Promise<T>): Promise<Metered<T>> {
  const [cpuBefore, before] = [cpuTimeMs(...pids), performance.now()];
  const result = await work();
  return { result, tookMs: performance.now() - before, cpuMs: cpuTimeMs(...pids) - cpuBefore };
}

/** The share of a core that processes use with nothing to do. */
export async function idleShare(pids: readonly number[], seconds: number): Promise<number> {
  const { cpuMs, tookMs } = await metered(pids, () => Bun.sleep(seconds * 1000));
  return cpuMs / tookMs;
}

/** Memory of processes that is in use, in bytes; `NaN` where there is no `/proc`. */
export function residentBytes(...pids: readonly number[]): number {
  return sum(pids.map((pid) => statusField(pid, 'VmRSS') * 1024));
}

/** Of {@link residentBytes}, what no file holds: the processes' own, which they share with no other. */
export function ownBytes(...pids: readonly number[]): number {
  return sum(pids.map((pid) => statusField(pid, 'RssAnon') * 1024));
}

/** Does the work: the memory of a process before it, and the most during it, in bytes; `NaN` where there is no `/proc`. */
export async function withPeak<T>(pid: number, work: () => Promise<T>) {
  const before = residentBytes(pid);
  try {
    writeFileSync(`/proc/${pid}/clear_refs`, '5');
  } catch {
    // Not Linux, or not allowed: the peak is that since its start.
  }
  const result = await work();
  return { result, before, peak: statusField(pid, 'VmHWM') * 1024 };
}

/** How often the threads of a process have gone to sleep so far: each time something woke them before. `NaN` where there is no `/proc`. */
export function wakeUps(pid: number): number {
  try {
    const threads = readdirSync(`/proc/${pid}/task`).map((thread) => `${pid}/task/${thread}`);
    return sum(threads.map((thread) => statusField(thread, 'voluntary_ctxt_switches') || 0));
  } catch {
    // As in `read`.
    return Number.NaN;
  }
}

/** Memory of processes that share much of it, each byte counted once; `NaN` where that cannot be read. */
export function proportionalBytes(pids: readonly number[]): number {
  const sizes = pids.map((pid) => Number(/^Pss:\s+(\d+) kB$/m.exec(read(`/proc/${pid}/smaps_rollup`))?.[1]));
  // Some may have ended since they were listed.
  const known = sizes.filter((size) => !Number.isNaN(size));
  return known.length === 0 ? Number.NaN : sum(known) * 1024;
}

/** Memory of processes once their garbage collectors had their chance: the smallest of several samples, in bytes. */
export async function settledBytes(pids: readonly number[]): Promise<number> {
  let smallest = Number.POSITIVE_INFINITY;
  for (let sample = 0; sample < 8; sample++) {
    await Bun.sleep(500);
    smallest = Math.min(smallest, residentBytes(...pids));
  }
  return smallest;
}

/** Does the work, and returns by how much the {@link settledBytes} have grown for each of so many. */
export async function bytesOfEach<T>(pids: readonly number[], count: number, work: () => Promise<T>) {
  const before = await settledBytes(pids);
  const result = await work();
  return { result, each: ((await settledBytes(pids)) - before) / count };
}

function statusField(process: number | string, name: string): number {
  return Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(read(`/proc/${process}/status`))?.[1]);
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    // Not Linux, or the process has ended: the figure is unknown.
    return '';
  }
}
