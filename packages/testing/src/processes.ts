import { readdirSync, readFileSync } from 'node:fs';
import { until } from './waiting.ts';

/**
 * Kills the server process and all of its children at the same moment, as a crash of the machine would, and waits
 * until they have ended.
 */
export async function killTree(pid: number): Promise<void> {
  const processes = [pid, ...childrenOf(pid)];
  for (const id of processes) signal(id, 'SIGKILL');
  await until('every process of the server is dead', () => !processes.some(isAlive));
}

/** Whether there is a process of that id that has not ended. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !isZombie(pid);
  } catch {
    // No such process.
    return false;
  }
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // It ended by itself in between.
  }
}

/** The ids of the processes that a process has started and that have not ended. */
export function childrenOf(pid: number): readonly number[] {
  if (process.platform !== 'linux') {
    const listing = Bun.spawnSync(['ps', '-A', '-o', 'pid=,ppid=']).stdout.toString();
    const pairs = listing.split('\n').map((line) => line.trim().split(/\s+/).map(Number));
    return pairs.flatMap(([child, parent]) => (parent === pid && child !== undefined ? [child] : []));
  }
  return readdirSync('/proc')
    .map(Number)
    .filter((id) => {
      const stat = statOf(id);
      return stat?.parent === pid && stat.state !== 'Z';
    });
}

function isZombie(pid: number): boolean {
  return process.platform === 'linux' && statOf(pid)?.state === 'Z';
}

/** From `/proc/<pid>/stat`: `pid (any name) state parent …`. */
function statOf(pid: number): { state: string; parent: number } | undefined {
  if (!Number.isInteger(pid)) return undefined;
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const [state = '', parent] = text.slice(text.lastIndexOf(')') + 2).split(' ');
    return { state, parent: Number(parent) };
  } catch {
    // It ended by itself in between.
    return undefined;
  }
}
