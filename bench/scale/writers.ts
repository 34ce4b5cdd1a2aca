import { type StartNodeOptions, startPostgres } from '@halyard/testing';
import { ENVIRONMENT, fillNode, PROJECT } from '../fixture.ts';
import { milliseconds, perSecond } from '../format.ts';
import { cpuTimeMs } from '../process-figures.ts';
import { ReadProbe } from '../reads-wait.ts';
import { Worker } from '../worker.ts';
import type { WritersCommands } from '../workers/writers.ts';
import { planOf } from '../writes.ts';
import type { Dimension, Scale, Size } from './dimension.ts';
import { singleRead, startGuarded } from './measure.ts';

const WRITERS = [1, 8, 32];
const ENVIRONMENTS = 8;
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
  const node = await startGuarded(scale.machine, options);
  try {
    await using writing = await Worker.start<WritersCommands>(scale.machine, 'writers.ts', 'load');
    const fixture = await fillNode(node, FLAGS);
    const environments = [ENVIRONMENT];
    for (let n = 1; n < ENVIRONMENTS; n++) {
      await fixture.management.createEnvironment(PROJECT, `env-${n}`);
      environments.push(`env-${n}`);
    }

    await using probe = await ReadProbe.start(scale.machine, singleRead(node, fixture));
    const seconds = scale.isQuick ? QUICK_SECONDS : SECONDS;
    await writing.ask('run', planOf(node, 1, 1));

    const sizes: Size[] = [];
    const measure = async (writers: number, places: readonly string[]): Promise<void> => {
      const before = cpuTimeMs(node.pid);
      const plan = { ...planOf(node, writers, seconds), environments: places };
      // Few reads: the processor time of a change is to be that of the change.
      const { result, reads } = await probe.during(() => writing.ask('run', plan), 50);
      const cpu = (cpuTimeMs(node.pid) - before) / result.changes;
      const each = 1000 / (result.changes / result.seconds);

      sizes.push({
        ...(places.length === 1 && { input: writers }),
        label: places.length === 1 ? String(writers) : `${writers} over ${places.length} environments`,
        figures: {
          changes: {
            text: perSecond(1000 / each),
            judged: [{ name: 'time for each', value: each, floor: 0 }],
          },
          p50: { text: milliseconds(result.p50Ms), judged: [{ value: result.p50Ms, floor: 2 }] },
          p99: { text: milliseconds(result.p99Ms), judged: [{ value: result.p99Ms, floor: 5 }] },
          'CPU of one': { text: milliseconds(cpu), judged: [{ value: cpu, floor: 0.2 }] },
          'reads wait': {
            text: milliseconds(reads.maxMs),
            judged: [{ value: reads.maxMs, floor: 10 }],
          },
        },
      });
    };

    for (const writers of WRITERS) await measure(writers, [ENVIRONMENT]);
    await measure(Math.max(...WRITERS), environments);
    return sizes;
  } finally {
    await node.stop();
  }
}
