import { Management, type NodeProcess, temporaryFolder } from '@halyard/testing';
import { ENVIRONMENT, fillNode, flagKey, PROJECT } from '../fixture.ts';
import { milliseconds, percent } from '../format.ts';
import { startLoadMaker } from '../load.ts';
import { cpuTimeMs } from '../process-figures.ts';
import { ReadProbe } from '../reads-wait.ts';
import { median } from '../statistics.ts';
import { Worker } from '../worker.ts';
import type { KeyUserCommands } from '../workers/key-user.ts';
import type { Dimension, Figure, Scale, Size } from './dimension.ts';
import { addKeys } from './fill-file.ts';
import {
  managementCost,
  memory,
  readCost,
  singleRead,
  startCost,
  startGuarded,
  watchedFigure,
} from './measure.ts';

const SIZES = [10, 1_000, 100_000];
const QUICK_SIZES = [10, 1_000, 10_000];
const FLAGS = 100;
const IDLE_SECONDS = 5;
const CHANGES = 15;
/** Housekeeping notes the use of keys every 30 seconds. */
const NOTED_WITHIN_SECONDS = 35;

/** Project keys: reads, lists, making and revoking, and the note of their use. */
export async function measureKeys(scale: Scale): Promise<readonly Dimension[]> {
  const sizes: Size[] = [];
  const counts = scale.isQuick ? QUICK_SIZES : SIZES;
  for (const count of counts) {
    scale.say(`scale: ${count} keys`);
    sizes.push(await measureSize(scale, count, count === counts.at(-1)));
  }
  return [
    {
      title: 'Project keys',
      input: 'Keys',
      sizes,
      remark:
        'The keys are written into the file of the stopped node; a note of their use is awaited at the last size only.',
    },
  ];
}

async function measureSize(scale: Scale, count: number, isLast: boolean): Promise<Size> {
  using folder = temporaryFolder();
  const filled = await startGuarded(scale.machine, { dataFolder: folder.path });
  const { adminToken } = filled;
  const { headers } = await fillNode(filled, FLAGS).finally(() => filled.stop());
  const secrets = Array.from({ length: count - 1 }, (_, n) => `proj_live_${String(n).padStart(43, 'k')}`);
  // They all expire, which is the harder case: not within this measurement.
  addKeys(folder.path, secrets, Date.now() + 86_400_000);
  const start = await startCost(scale.machine, folder.path, headers);
  const node = await startGuarded(scale.machine, { dataFolder: folder.path, adminToken });
  try {
    await using load = await startLoadMaker(scale.machine);
    await using probe = await ReadProbe.start(scale.machine, singleRead(node, { headers }));
    const idle = await idleCost(node.pid);
    const own = await makeAndRevoke(node);
    const figures: Record<string, Figure> = {
      start,
      memory: memory(node.pid),
      'idle, of a core': idle,
      'one flag (CPU)': await readCost(load, node, singleRead(node, { headers })),
      ...own,
      'list of keys': await managementCost(node, probe, `/api/projects/${PROJECT}/keys`),
      '/metrics': await managementCost(node, probe, '/metrics'),
      ...(isLast && !scale.isQuick && { 'use of all noted': await noteUse(scale, node.url, secrets, probe) }),
    };
    return { input: count, label: String(count), figures };
  } finally {
    await node.stop();
  }
}

async function idleCost(pid: number): Promise<Figure> {
  const before = cpuTimeMs(pid);
  await Bun.sleep(IDLE_SECONDS * 1000);
  const share = (cpuTimeMs(pid) - before) / (IDLE_SECONDS * 1000);
  return { text: percent(share), judged: [{ value: share, floor: 0.03 }] };
}

async function makeAndRevoke(node: NodeProcess): Promise<Record<string, Figure>> {
  const management = new Management(node);
  const [making, revoking] = [[] as number[], [] as number[]];
  for (let n = 0; n < CHANGES; n++) {
    let before = performance.now();
    const { id } = await management.createKey(PROJECT, [ENVIRONMENT], { name: `made ${n}` });
    making.push(performance.now() - before);
    before = performance.now();
    await management.revokeKey(id);
    revoking.push(performance.now() - before);
  }
  const figure = (times: readonly number[]): Figure => ({
    text: milliseconds(median(times)),
    judged: [{ value: median(times), floor: 4 }],
  });
  return { 'making one': figure(making), 'revoking one': figure(revoking) };
}

/** Reads with every key once, then waits until the next note of their use has been written. */
async function noteUse(
  { machine }: Scale,
  url: string,
  secrets: readonly string[],
  probe: ReadProbe,
): Promise<Figure> {
  await using user = await Worker.start<KeyUserCommands>(machine, 'key-user.ts', 'load');
  await user.ask('run', { url: `${url}/v1/flags/${flagKey(1)}?env=${ENVIRONMENT}`, secrets });
  return watchedFigure(await probe.during(() => Bun.sleep(NOTED_WITHIN_SECONDS * 1000)));
}
