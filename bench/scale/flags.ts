import { milliseconds } from '../format.ts';
import { ENVIRONMENT, type FilledNode, flagKey, PROJECT } from '../node.ts';
import { type ChangeFigures, meteredChange, middleOf, StreamReaders } from '../readers.ts';
import { type Dimension, eachCount, type Figure, type Figures, type Scale } from './dimension.ts';
import {
  changeCost,
  managementCost,
  measureFilled,
  memory,
  readCost,
  type Side,
  watchedCost,
} from './measure.ts';

const SIZES = { all: [100, 1_000, 10_000, 50_000], quick: [100, 1_000, 10_000] };
const CHANGES_TO_A_STREAM = 15;

/** Flags in one environment: reads, changes, compression, and the lists of the management API. */
export async function measureFlags(scale: Scale): Promise<readonly Dimension[]> {
  const sizes = await eachCount(scale, 'flags', SIZES, (count) =>
    measureFilled(scale, count, (side) => measureNode(scale, side)),
  );
  return [{ title: 'Flags in the environment', input: 'Flags', sizes }];
}

async function measureNode({ machine }: Scale, side: Side): Promise<Figures> {
  const { node } = side;
  const { one, all } = node.requests;
  const zipped = { ...all, headers: { ...all.headers, 'Accept-Encoding': 'gzip' } };
  const project = `/api/projects/${PROJECT}`;
  return {
    memory: memory(node),
    'one flag (CPU)': await readCost(side, one),
    'whole map (CPU)': asBytes(await readCost(side, all)),
    'whole map in gzip (CPU)': asBytes(await readCost(side, zipped)),
    'a change p50 / p99 (CPU)': await changeCost(node),
    'a change to one stream': await changeToStream(machine, node),
    'first gzip read after a change': await firstRead(side, 'gzip'),
    'first zstd read after a change': await firstRead(side, 'zstd'),
    'states of the environment': await managementCost(side, `${project}/environments/${ENVIRONMENT}/flags`),
    'flags of the project': await managementCost(side, `${project}/flags`),
    export: await managementCost(side, `${project}/export`),
  };
}

/** A figure of copying bytes. */
function asBytes({ text, judged = [] }: Figure): Figure {
  return { text, judged: judged.map((each) => ({ ...each, isBytes: each.name !== 'reads wait' })) };
}

async function changeToStream(machine: Scale['machine'], node: FilledNode): Promise<Figure> {
  await using readers = new StreamReaders(machine);
  await readers.open(node.stream, 1);
  const changes: ChangeFigures[] = [];
  for (let serial = 0; serial < CHANGES_TO_A_STREAM; serial++) {
    changes.push(await meteredChange(readers, node, serial));
  }
  const { lastMs, cpuMs } = middleOf(changes);
  return {
    text: `${milliseconds(lastMs)} (${milliseconds(cpuMs)})`,
    judged: [
      { name: 'to the last byte', value: lastMs, floor: 4, isBytes: true },
      { name: 'CPU', value: cpuMs, floor: 2, isBytes: true },
    ],
  };
}

/** The first read after a change, which compresses the map, and how long other reads wait for it. */
async function firstRead({ node, probe }: Side, encoding: string): Promise<Figure> {
  const headers = { ...node.headers, 'Accept-Encoding': encoding };
  const read = async () => {
    // The bytes as they are sent: how large they are, not what they unpack to.
    const response = await fetch(node.requests.all.url, { headers, decompress: false });
    return (await response.arrayBuffer()).byteLength;
  };
  const prepare = (round: number) => {
    const state = { enabled: true, value: `${encoding} ${round}` };
    return node.management.putState(PROJECT, ENVIRONMENT, flagKey(0), state);
  };
  return asBytes(await watchedCost(probe, read, { prepare }));
}
