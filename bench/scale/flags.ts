import type { NodeProcess } from '@halyard/testing';
import { changeRequest } from '../changes.ts';
import { ENVIRONMENT, type Fixture, flagKey, PROJECT } from '../fixture.ts';
import { bytes, milliseconds, perSecond } from '../format.ts';
import { startLoadMaker } from '../load.ts';
import { cpuTimeMs } from '../process-figures.ts';
import { ReadProbe } from '../reads-wait.ts';
import { median } from '../statistics.ts';
import { Worker } from '../worker.ts';
import type { StreamReaderCommands } from '../workers/stream-reader.ts';
import type { Dimension, Figure, Scale, Size } from './dimension.ts';
import { changeCost, managementCost, measureFilled, memory, readCost, singleRead } from './measure.ts';

const SIZES = [100, 1_000, 10_000, 50_000];
const QUICK_SIZES = [100, 1_000, 10_000];
const CHANGES_TO_A_STREAM = 15;

/** Flags in one environment: reads, changes, compression, and the lists of the management API. */
export async function measureFlags(scale: Scale): Promise<readonly Dimension[]> {
  const sizes: Size[] = [];
  for (const count of scale.isQuick ? QUICK_SIZES : SIZES) {
    scale.say(`scale: ${count} flags`);
    sizes.push(await measureSize(scale, count));
  }
  return [{ title: 'Flags in the environment', input: 'Flags', sizes }];
}

async function measureSize(scale: Scale, count: number): Promise<Size> {
  const figures = await measureFilled(scale, count, async (node, fixture, fillMs) => ({
    ...(await measureNode(scale, node, fixture)),
    'filled at': { text: perSecond(count / (fillMs / 1000)) },
  }));
  return { input: count, label: String(count), figures };
}

async function measureNode(
  { machine }: Scale,
  node: NodeProcess,
  fixture: Fixture,
): Promise<Record<string, Figure>> {
  await using load = await startLoadMaker(machine);
  await using probe = await ReadProbe.start(machine, singleRead(node, fixture));
  const { headers } = fixture;
  const url = `${node.url}/v1/flags?env=${ENVIRONMENT}`;
  const project = `/api/projects/${PROJECT}`;
  return {
    memory: memory(node.pid),
    'one flag (CPU)': await readCost(load, node, singleRead(node, fixture)),
    'whole map (CPU)': asBytes(await readCost(load, node, { url, headers })),
    'whole map in gzip (CPU)': asBytes(
      await readCost(load, node, { url, headers: { ...headers, 'Accept-Encoding': 'gzip' } }),
    ),
    'a change p50 / p99 (CPU)': await changeCost(node, fixture),
    'a change to one stream': await changeToStream(machine, node, fixture),
    'first gzip read after a change': await firstRead(node, probe, fixture, 'gzip'),
    'first zstd read after a change': await firstRead(node, probe, fixture, 'zstd'),
    'states of the environment': await managementCost(
      node,
      probe,
      `${project}/environments/${ENVIRONMENT}/flags`,
    ),
    'flags of the project': await managementCost(node, probe, `${project}/flags`),
    export: await managementCost(node, probe, `${project}/export`),
  };
}

/** A figure of copying bytes. */
function asBytes({ text, judged = [] }: Figure): Figure {
  return { text, judged: judged.map((each) => ({ ...each, isBytes: true })) };
}

async function changeToStream(
  machine: Scale['machine'],
  node: NodeProcess,
  { headers }: Fixture,
): Promise<Figure> {
  await using reader = await Worker.start<StreamReaderCommands>(machine, 'stream-reader.ts', 'readers');
  const url = `${node.url}/v1/stream?env=${ENVIRONMENT}`;
  await reader.ask('open', { url, headers, count: 1 });
  const lasts: number[] = [];
  const before = cpuTimeMs(node.pid);
  for (let serial = 0; serial < CHANGES_TO_A_STREAM; serial++) {
    lasts.push((await reader.ask('change', changeRequest(node, serial))).lastMs);
  }
  const cpu = (cpuTimeMs(node.pid) - before) / CHANGES_TO_A_STREAM;
  const last = median(lasts);
  return {
    text: `${milliseconds(last)} (${milliseconds(cpu)})`,
    judged: [
      { name: 'to the last byte', value: last, floor: 4, isBytes: true },
      { name: 'CPU', value: cpu, floor: 2, isBytes: true },
    ],
  };
}

/** The first read after a change, which compresses the map, and how long other reads wait for it. */
async function firstRead(
  node: NodeProcess,
  probe: ReadProbe,
  { management, headers }: Fixture,
  encoding: string,
): Promise<Figure> {
  const took: number[] = [];
  const waits: number[] = [];
  let size = 0;
  for (let round = 0; round < 3; round++) {
    await management.putState(PROJECT, ENVIRONMENT, flagKey(0), {
      enabled: true,
      value: `${encoding} ${round}`,
    });
    const { tookMs, reads } = await probe.during(async () => {
      const response = await fetch(`${node.url}/v1/flags?env=${ENVIRONMENT}`, {
        headers: { ...headers, 'Accept-Encoding': encoding },
        // The bytes as they are sent: how large they are, not what they unpack to.
        decompress: false,
      });
      size = (await response.arrayBuffer()).byteLength;
    });
    took.push(tookMs);
    waits.push(reads.maxMs);
  }
  return {
    text: `${milliseconds(median(took))} (${bytes(size)}), reads wait ${milliseconds(median(waits))}`,
    judged: [
      { name: 'time', value: median(took), floor: 2, isBytes: true },
      { name: 'reads wait', value: median(waits), floor: 4 },
    ],
  };
}
