import { addKeys, keyOf } from '../fill-file.ts';
import { percent } from '../format.ts';
import { ENVIRONMENT, type FilledNode, PROJECT } from '../node.ts';
import { idleShare } from '../process-figures.ts';
import { median } from '../statistics.ts';
import { Worker } from '../worker.ts';
import type { RequestCommands } from '../workers/requests.ts';
import { type Dimension, eachCount, type Figure, type Figures, type Scale } from './dimension.ts';
import {
  figure,
  managementCost,
  measureFilled,
  memory,
  msFigure,
  readCost,
  type Side,
  watchedCost,
} from './measure.ts';

const LARGEST = 100_000;
const SIZES = { all: [10, 1_000, LARGEST], quick: [10, 1_000, 10_000] };
const FLAGS = 100;
const IDLE_SECONDS = 5;
const CHANGES = 15;
/** Housekeeping notes the use of keys every 30 seconds. */
const NOTED_WITHIN_SECONDS = 35;
const REMARK =
  'The keys are written into the file of the stopped node; a note of their use is awaited at the last size only.';

/** Project keys: reads, lists, making and revoking, and the note of their use. */
export async function measureKeys(scale: Scale): Promise<readonly Dimension[]> {
  const sizes = await eachCount(scale, 'keys', SIZES, (count) => {
    const secrets = Array.from({ length: count - 1 }, (_, n) => keyOf(n));
    const measure = (side: Side) => measureNode(scale, side, count === LARGEST ? secrets : []);
    return measureFilled(scale, FLAGS, measure, (file) => addKeys(file, secrets));
  });
  return [{ title: 'Project keys', input: 'Keys', sizes, remark: REMARK }];
}

/** `used`: the keys whose use is noted. */
async function measureNode(scale: Scale, side: Side, used: readonly string[]): Promise<Figures> {
  const { node } = side;
  const idle = await idleShare(node.pids, IDLE_SECONDS);
  return {
    memory: memory(node),
    'idle, of a core': figure(percent(idle), idle, 0.03),
    'one flag (CPU)': await readCost(side, node.requests.one),
    ...(await makeAndRevoke(node)),
    'list of keys': await managementCost(side, `/api/projects/${PROJECT}/keys`),
    '/metrics': await managementCost(side, '/metrics'),
    ...(used.length > 0 && { 'use of all noted': await noteUse(scale, side, used) }),
  };
}

async function makeAndRevoke({ management }: FilledNode): Promise<Figures> {
  const [making, revoking]: [number[], number[]] = [[], []];
  for (let n = 0; n < CHANGES; n++) {
    const before = performance.now();
    const { id } = await management.createKey(PROJECT, [ENVIRONMENT], { name: `made ${n}` });
    const made = performance.now();
    await management.revokeKey(id);
    making.push(made - before);
    revoking.push(performance.now() - made);
  }
  return { 'making one': msFigure(median(making), 4), 'revoking one': msFigure(median(revoking), 4) };
}

/** Reads with every key once, then waits until the next note of their use has been written. */
async function noteUse({ machine }: Scale, { node, probe }: Side, keys: readonly string[]): Promise<Figure> {
  const { url } = node.requests.one;
  await using user = new Worker<RequestCommands>(machine, 'requests.ts', 'load');
  await user.ask(
    'each',
    keys.map((key) => ({ url, headers: { 'X-Service-Key': key } })),
  );
  return watchedCost(probe, () => Bun.sleep(NOTED_WITHIN_SECONDS * 1000), { rounds: 1 });
}
