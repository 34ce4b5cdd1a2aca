import { type FilledNode, flagKey, PROJECT } from '../node.ts';
import { median } from '../statistics.ts';
import { type Dimension, eachCount, type Figure, type Figures, type Scale } from './dimension.ts';
import {
  changeCost,
  managementCost,
  measureFilled,
  memory,
  msFigure,
  readCost,
  type Side,
  watchedCost,
} from './measure.ts';

/** With the three that every project has. */
const SIZES = { all: [3, 10, 100, 1_000], quick: [3, 10, 100] };
const FLAGS = 500;
/** Flags that have a state in each of the other environments. */
const FLAGS_IN_EACH = 20;
const PROJECT_PATH = `/api/projects/${PROJECT}`;

/** Environments of one project: reads, lists, and what touches all of them. */
export async function measureEnvironments(scale: Scale): Promise<readonly Dimension[]> {
  const sizes = await eachCount(scale, 'environments', SIZES, (count) =>
    measureFilled(scale, FLAGS, (side) => measureNode(side, count)),
  );
  const title = `Environments of the project (${FLAGS_IN_EACH} flags in each, ${FLAGS} in the one read)`;
  return [{ title, input: 'Environments', sizes }];
}

async function measureNode(side: Side, count: number): Promise<Figures> {
  const { node, probe } = side;
  const making = await makeEnvironments(node, count);
  // Other flags than the one that the probe reads.
  const archive = (round: number) =>
    node.management.request('POST', `${PROJECT_PATH}/flags/${flagKey(2 + round)}/archive`, { body: {} });
  return {
    memory: memory(node),
    'one flag (CPU)': await readCost(side, node.requests.one),
    'a change p50 / p99 (CPU)': await changeCost(node),
    'making one': making,
    '/metrics': await managementCost(side, '/metrics'),
    'list of environments': await managementCost(side, `${PROJECT_PATH}/environments`),
    'flags of the project': await managementCost(side, `${PROJECT_PATH}/flags`),
    'one flag, all environments': await managementCost(side, `${PROJECT_PATH}/flags/${flagKey(0)}`),
    'archiving a flag that is in all': await watchedCost(probe, async (round) => void (await archive(round))),
  };
}

/** The project has three of its own. Returns what one of the last ten took. */
async function makeEnvironments({ management }: FilledNode, count: number): Promise<Figure> {
  const names = ['development', 'staging'];
  const times: number[] = [];
  for (let n = 3; n < count; n++) {
    const name = `env-${n}`;
    const start = performance.now();
    await management.createEnvironment(PROJECT, name);
    times.push(performance.now() - start);
    names.push(name);
  }

  const changes = Array.from({ length: FLAGS_IN_EACH }, (_, index) => ({
    key: flagKey(index),
    state: { enabled: true },
  }));
  for (const name of names) await management.change(PROJECT, name, changes);
  return times.length === 0 ? { text: '-' } : msFigure(median(times.slice(-10)), 2);
}
