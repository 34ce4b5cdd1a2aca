import { milliseconds, perSecond } from '../format.ts';
import { startLoadMaker } from '../load.ts';
import { ENVIRONMENT, type FilledNode, flagKey, PROJECT } from '../node.ts';
import { metered } from '../process-figures.ts';
import { StreamReaders } from '../readers.ts';
import { ReadProbe, type Watched } from '../reads-wait.ts';
import { median } from '../statistics.ts';
import type { Dimension, Figure, Scale, Size } from './dimension.ts';
import { changeCost, managementCost, measureFilled, memory, readCost, watchedFigure } from './measure.ts';

const SIZES = [100, 1_000, 10_000, 50_000];
const QUICK_SIZES = [100, 1_000, 10_000];
const CHANGES_TO_A_STREAM = 15;

/** Flags in one environment: reads, changes, compression, and the lists of the management API. */
export async function measureFlags(scale: Scale): Promise<readonly Dimension[]> {
  const sizes: Size[] = [];
  for (const count of scale.isQuick ? QUICK_SIZES : SIZES) {
    scale.say(`scale: ${count} flags`);
    const figures = await measureFilled(scale, count, async (node, fillMs) => ({
      ...(await measureNode(scale, node)),
      'filled at': { text: perSecond(count / (fillMs / 1000)) },
    }));
    sizes.push({ input: count, label: String(count), figures });
  }
  return [{ title: 'Flags in the environment', input: 'Flags', sizes }];
}

async function measureNode({ machine }: Scale, node: FilledNode): Promise<Record<string, Figure>> {
  const { one, all } = node.requests;
  await using load = await startLoadMaker(machine);
  await using probe = await ReadProbe.start(machine, one);
  const zipped = { ...all, headers: { ...all.headers, 'Accept-Encoding': 'gzip' } };
  const project = `/api/projects/${PROJECT}`;
  const cost = (path: string) => managementCost(node, probe, path);
  return {
    memory: memory(node),
    'one flag (CPU)': await readCost(load, node, one),
    'whole map (CPU)': asBytes(await readCost(load, node, all)),
    'whole map in gzip (CPU)': asBytes(await readCost(load, node, zipped)),
    'a change p50 / p99 (CPU)': await changeCost(node),
    'a change to one stream': await changeToStream(machine, node),
    'first gzip read after a change': await firstRead(node, probe, 'gzip'),
    'first zstd read after a change': await firstRead(node, probe, 'zstd'),
    'states of the environment': await cost(`${project}/environments/${ENVIRONMENT}/flags`),
    'flags of the project': await cost(`${project}/flags`),
    export: await cost(`${project}/export`),
  };
}

/** A figure of copying bytes. */
function asBytes({ text, judged = [] }: Figure): Figure {
  return { text, judged: judged.map((each) => ({ ...each, isBytes: each.name !== 'reads wait' })) };
}

async function changeToStream(machine: Scale['machine'], { pids, stream }: FilledNode): Promise<Figure> {
  await using readers = new StreamReaders(machine);
  await readers.open(stream, 1);
  const lasts: number[] = [];
  const { cpuMs } = await metered(pids, async () => {
    for (let serial = 0; serial < CHANGES_TO_A_STREAM; serial++) {
      lasts.push((await readers.change(stream, serial)).lastMs);
    }
  });
  const [last, cpu] = [median(lasts), cpuMs / CHANGES_TO_A_STREAM];
  return {
    text: `${milliseconds(last)} (${milliseconds(cpu)})`,
    judged: [
      { name: 'to the last byte', value: last, floor: 4, isBytes: true },
      { name: 'CPU', value: cpu, floor: 2, isBytes: true },
    ],
  };
}

/** The first read after a change, which compresses the map, and how long other reads wait for it. */
async function firstRead(node: FilledNode, probe: ReadProbe, encoding: string): Promise<Figure> {
  let size = 0;
  const rounds: Watched<unknown>[] = [];
  for (let round = 0; round < 3; round++) {
    const state = { enabled: true, value: `${encoding} ${round}` };
    await node.management.putState(PROJECT, ENVIRONMENT, flagKey(0), state);
    const watched = await probe.during(async () => {
      const response = await fetch(node.requests.all.url, {
        headers: { ...node.headers, 'Accept-Encoding': encoding },
        // The bytes as they are sent: how large they are, not what they unpack to.
        decompress: false,
      });
      size = (await response.arrayBuffer()).byteLength;
    });
    rounds.push(watched);
  }
  return asBytes(watchedFigure(rounds, size));
}
