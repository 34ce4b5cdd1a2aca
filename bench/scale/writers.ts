import { type StartNodeOptions, startPostgres } from '@halyard/testing';
import { milliseconds, perSecond } from '../format.ts';
import { openFilled } from '../node.ts';
import { metered } from '../process-figures.ts';
import { ReadProbe } from '../reads-wait.ts';
import { Worker } from '../worker.ts';
import type { WritersCommands } from '../workers/writers.ts';
import { makeEnvironments, planOf } from '../writes.ts';
import type { Dimension, Scale, Size } from './dimension.ts';
import { figure, msFigure } from './measure.ts';

const CASES = [
  { writers: 1, places: 1 },
  { writers: 8, places: 1 },
  { writers: 32, places: 1 },
  { writers: 32, places: 8 },
];
const SECONDS = 4;
const QUICK_SECONDS = 2;
const FLAGS = 100;

/** Writers of the management API, each changing a flag of its own: one environment on each engine, then several. */
export async function measureWriters(scale: Scale): Promise<readonly Dimension[]> {
  scale.say('scale: writers on SQLite');
  const sqlite = await measureEngine(scale, {});
  await using server = await startPostgres();
  scale.say('scale: writers on PostgreSQL');
  const postgres = await measureEngine(scale, { databaseUrl: await server.createDatabase() });
  return [
    { title: 'Writers on SQLite', input: 'Writers', sizes: sqlite },
    { title: 'Writers on PostgreSQL', input: 'Writers', sizes: postgres },
  ];
}

async function measureEngine(scale: Scale, options: StartNodeOptions): Promise<Size[]> {
  await using node = await openFilled(scale, FLAGS, options);
  await using writing = new Worker<WritersCommands>(scale.machine, 'writers.ts', 'load');
  await using probe = new ReadProbe(scale.machine, node.requests.one);
  const environments = await makeEnvironments(node);
  const seconds = scale.isQuick ? QUICK_SECONDS : SECONDS;
  await writing.ask('run', planOf(node, 1, 1));

  const sizes: Size[] = [];
  for (const { writers, places } of CASES) {
    const plan = planOf(node, writers, seconds, environments.slice(0, places));
    // Few reads: the processor time of a change is to be that of the change.
    const work = () => probe.during(() => writing.ask('run', plan), 50);
    const { result: watched, cpuMs } = await metered(node.pids, work);
    const { result, reads } = watched;
    const cpu = cpuMs / result.changes;
    const rate = result.changes / result.seconds;
    sizes.push({
      ...(places === 1 && { input: writers }),
      label: places === 1 ? String(writers) : `${writers} over ${places} environments`,
      figures: {
        changes: figure(perSecond(rate), 1000 / rate, 0, { name: 'time for each' }),
        p50: msFigure(result.p50Ms, 2),
        p99: msFigure(result.p99Ms, 5),
        'CPU of one': figure(milliseconds(cpu), cpu, 0.2),
        'reads wait': msFigure(reads.maxMs, 10),
      },
    });
  }
  return sizes;
}
