import { readdirSync, readFileSync, writeFileSync } from 'node:fs';

/** The kernel counts processor time in ticks of a hundredth of a second. */
const TICK_MS = 10;

/** Processor time a process has used so far, all threads, in milliseconds; `NaN` where there is no `/proc`. */
export function cpuTimeMs(pid: number): number {
  const text = read(`/proc/${pid}/stat`);
  // The second field is a name in brackets and may hold spaces; the times are the 14th and 15th field.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
}

/** Memory of a process that is in use, in bytes; `NaN` where there is no `/proc`. */
export function residentBytes(pid: number): number {
  return statusField(pid, 'VmRSS') * 1024;
}

/** Of {@link residentBytes}, what no file holds: the process's own, which it shares with no other. */
export function ownBytes(pid: number): number {
  return statusField(pid, 'RssAnon') * 1024;
}

/** Forgets the most memory a process has used so far, for {@link peakBytes}. */
export function resetPeak(pid: number): void {
  try {
    writeFileSync(`/proc/${pid}/clear_refs`, '5');
  } catch {
    // Not Linux, or not allowed: the peak is that since its start.
  }
}

/** The most memory a process has used since its start or the last {@link resetPeak}, in bytes; `NaN` where there is no `/proc`. */
export function peakBytes(pid: number): number {
  return statusField(pid, 'VmHWM') * 1024;
}

/** How often the threads of a process have gone to sleep so far: each time something woke them before. `NaN` where there is no `/proc`. */
export function wakeUps(pid: number): number {
  return sumOf(threadsOf(pid).map((thread) => statusField(thread, 'voluntary_ctxt_switches')));
}

/** Memory of processes that share much of it, each byte counted once; `NaN` where that cannot be read. */
export function proportionalBytes(pids: readonly number[]): number {
  const sizes = pids.map((pid) => Number(/^Pss:\s+(\d+) kB$/m.exec(read(`/proc/${pid}/smaps_rollup`))?.[1]));
  // Some may have ended since they were listed.
  const known = sizes.filter((size) => !Number.isNaN(size));
  return known.length === 0 ? Number.NaN : known.reduce((total, size) => total + size * 1024, 0);
}

/** Memory of processes once their garbage collectors had their chance: the smallest of several samples, in bytes. */
export async function settledBytes(pids: readonly number[]): Promise<number> {
  let smallest = Number.POSITIVE_INFINITY;
  for (let sample = 0; sample < 8; sample++) {
    await Bun.sleep(500);
    const sum = pids.reduce((total, pid) => total + residentBytes(pid), 0);
    smallest = Math.min(smallest, sum);
  }
  return smallest;
}

/** The ids of a process's threads, as `<pid>/task/<thread>`. */
function threadsOf(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/task`).map((thread) => `${pid}/task/${thread}`);
  } catch {
    // As in `read`.
    return [];
  }
}

function sumOf(figures: readonly number[]): number {
  return figures.length === 0 ? Number.NaN : figures.reduce((sum, each) => sum + (each || 0), 0);
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
