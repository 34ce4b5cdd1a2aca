import { startLoadMaker } from '../load.ts';
import { type FilledNode, flagKey, PROJECT } from '../node.ts';
import { ReadProbe, type Watched } from '../reads-wait.ts';
import { median } from '../statistics.ts';
import type { Dimension, Figure, Scale, Size } from './dimension.ts';
import {
  changeCost,
  managementCost,
  measureFilled,
  memory,
  msFigure,
  readCost,
  watchedFigure,
} from './measure.ts';

/** Beyond those that every project has. */
const SIZES = [3, 10, 100, 1_000];
const QUICK_SIZES = [3, 10, 100];
const FLAGS = 500;
/** Flags that have a state in each of the other environments. */
const FLAGS_IN_EACH = 20;
const PROJECT_PATH = `/api/projects/${PROJECT}`;

/** Environments of one project: reads, lists, and what touches all of them. */
export async function measureEnvironments(scale: Scale): Promise<readonly Dimension[]> {
  const sizes: Size[] = [];
  for (const count of scale.isQuick ? QUICK_SIZES : SIZES) {
    scale.say(`scale: ${count} environments`);
    sizes.push(await measureSize(scale, count));
  }
  const title = `Environments of the project (${FLAGS_IN_EACH} flags in each, ${FLAGS} in the one read)`;
  return [{ title, input: 'Environments', sizes }];
}

async function measureSize(scale: Scale, count: number): Promise<Size> {
  const figures = await measureFilled(scale, FLAGS, async (node) => {
    const making = await makeEnvironments(node, count);
    const { one } = node.requests;
    await using load = await startLoadMaker(scale.machine);
    await using probe = await ReadProbe.start(scale.machine, one);
    const cost = (path: string) => managementCost(node, probe, path);
    return {
      memory: memory(node),
      'one flag (CPU)': await readCost(load, node, one),
      'a change p50 / p99 (CPU)': await changeCost(node),
      'making one': making,
      '/metrics': await cost('/metrics'),
      'list of environments': await cost(`${PROJECT_PATH}/environments`),
      'flags of the project': await cost(`${PROJECT_PATH}/flags`),
      'one flag, all environments': await cost(`${PROJECT_PATH}/flags/${flagKey(0)}`),
      'archiving a flag that is in all': await archiveFlags(node, probe),
    };
  });
  return { input: count, label: String(count), figures };
}

/** Three flags, other than the one that the probe reads. */
async function archiveFlags({ management }: FilledNode, probe: ReadProbe): Promise<Figure> {
  const watched: Watched<unknown>[] = [];
  for (let index = 2; index < 5; index++) {
    const path = `${PROJECT_PATH}/flags/${flagKey(index)}/archive`;
    watched.push(await probe.during(() => management.request('POST', path, { body: {} })));
  }
  return watchedFigure(watched);
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
