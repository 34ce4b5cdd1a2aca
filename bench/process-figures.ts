import { readFileSync } from 'node:fs';

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
function residentBytes(pid: number): number {
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(read(`/proc/${pid}/status`))?.[1]) * 1024;
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

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    // Not Linux, or the process has ended: the figure is unknown.
    return '';
  }
}
