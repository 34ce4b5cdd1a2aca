import { type Fixture, flagKey, PROJECT } from '../fixture.ts';
import { milliseconds } from '../format.ts';
import { startLoadMaker } from '../load.ts';
import { ReadProbe, type Watched } from '../reads-wait.ts';
import { median } from '../statistics.ts';
import type { Dimension, Figure, Scale, Size } from './dimension.ts';
import {
  changeCost,
  managementCost,
  measureFilled,
  memory,
  readCost,
  singleRead,
  watchedFigure,
} from './measure.ts';

/** Beyond those that every project has. */
const SIZES = [3, 10, 100, 1_000];
const QUICK_SIZES = [3, 10, 100];
const FLAGS = 500;
/** Flags that have a state in each of the other environments. */
const FLAGS_IN_EACH = 20;
/** A flag that has a state in all environments. */
const EVERYWHERE = flagKey(0);

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
  const figures = await measureFilled(scale, FLAGS, async (node, fixture) => {
    const making = await makeEnvironments(fixture, count);
    await using load = await startLoadMaker(scale.machine);
    await using probe = await ReadProbe.start(scale.machine, singleRead(node, fixture));
    const project = `/api/projects/${PROJECT}`;
    return {
      memory: memory(node.pid),
      'one flag (CPU)': await readCost(load, node, singleRead(node, fixture)),
      'a change p50 / p99 (CPU)': await changeCost(node, fixture),
      'making one': making,
      '/metrics': await managementCost(node, probe, '/metrics'),
      'list of environments': await managementCost(node, probe, `${project}/environments`),
      'flags of the project': await managementCost(node, probe, `${project}/flags`),
      'one flag, all environments': await managementCost(node, probe, `${project}/flags/${EVERYWHERE}`),
      'archiving a flag that is in all': await archiveFlags(fixture, probe),
    };
  });
  return { input: count, label: String(count), figures };
}

/** The median of three flags, other than the one that the probe reads. */
async function archiveFlags({ management }: Fixture, probe: ReadProbe): Promise<Figure> {
  const watched: Watched<unknown>[] = [];
  for (let index = 2; index < 5; index++) {
    const path = `/api/projects/${PROJECT}/flags/${flagKey(index)}/archive`;
    watched.push(await probe.during(() => management.request('POST', path, { body: {} })));
  }
  const [middle] = watched.sort((a, b) => a.tookMs - b.tookMs).slice(1);
  return middle === undefined ? { text: '-' } : watchedFigure(middle);
}

/** The project has three of its own. Returns what one of the last ten took. */
async function makeEnvironments({ management }: Fixture, count: number): Promise<Figure> {
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
  if (times.length === 0) return { text: '-' };
  const ms = median(times.slice(-10));
  return { text: milliseconds(ms), judged: [{ value: ms, floor: 2 }] };
}
