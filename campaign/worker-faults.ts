import type { Chance } from '../simulation/chance.ts';
import { now } from './clock.ts';
import type { Fault } from './faults.ts';
import type { Fleet, FleetNode } from './fleet-node.ts';
import type { World } from './world.ts';

/** Trouble that befalls the workers of a node, and not their supervisor. */
export const WORKER_FAULTS: readonly Fault[] = [
  { kind: 'worker killed', run: async ({ fleet }, random) => killWorkers(fleet, random, 1) },
  { kind: 'two workers killed', run: async ({ fleet }, random) => killWorkers(fleet, random, 2) },
  { kind: 'a worker killed each second', run: killEachSecond },
  {
    kind: 'worker frozen',
    run: async ({ fleet }, random) => {
      const pids = random.pick(fleet.nodes).workerPids();
      if (pids.length === 0) return;
      const pid = random.pick(pids);
      signal(pid, 'SIGSTOP');
      await Bun.sleep(random.between(300, 7_000));
      signal(pid, 'SIGCONT');
    },
  },
];

/** How many workers {@link killEachSecond} kills. */
const DEATHS = 40;

/** Kills workers for so long that a fleet may want to hold them back, and records for how long nothing answered. */
async function killEachSecond({ fleet, recorder }: World, random: Chance): Promise<void> {
  const node = random.pick(fleet.nodes);
  const watching = new AbortController();
  const watched = watchHealth(node, (silence) => recorder.silence(silence), watching.signal);
  for (let deaths = 0; deaths < DEATHS; deaths += 1) {
    const pids = node.workerPids();
    if (pids.length > 0) signal(random.pick(pids), 'SIGKILL');
    await Bun.sleep(1_000);
  }
  watching.abort();
  await watched;
}

/** Asks `/healthz` again and again until `signal` aborts, and reports every time in which nothing answered. */
async function watchHealth(
  { name, url }: FleetNode,
  report: (silence: { node: string; from: number; ms: number }) => void,
  signal: AbortSignal,
): Promise<void> {
  let from = now();
  while (!signal.aborted) {
    const answers = await fetch(`${url}/healthz`, { signal: AbortSignal.timeout(1_000) }).then(
      async (answer) => {
        await answer.body?.cancel();
        return answer.ok;
      },
      () => false,
    );
    const at = now();
    if (answers || signal.aborted) {
      report({ node: name, from, ms: at - from });
      from = at;
    }
    await Bun.sleep(100);
  }
}

function killWorkers(fleet: Fleet, random: Chance, count: number): void {
  const pids = random.shuffle(random.pick(fleet.nodes).workerPids());
  for (const pid of pids.slice(0, count)) signal(pid, 'SIGKILL');
}

function signal(pid: number, name: 'SIGKILL' | 'SIGSTOP' | 'SIGCONT'): void {
  try {
    process.kill(pid, name);
  } catch {
    // It has ended by itself, or because it did not answer.
  }
}
