import { temporaryFolder } from '@halyard/testing';
import { PATIENCE_MS } from '../bench.ts';
import { changeFile, type NodeFile } from '../fill-file.ts';
import { bytes, mebibytes, microseconds, milliseconds, perSecond } from '../format.ts';
import { type LoadMaker, startLoadMaker } from '../load.ts';
import {
  asFilled,
  ENVIRONMENT,
  type FilledNode,
  fillFolder,
  flagKey,
  type Headers,
  type OpenNode,
  openFilled,
  openNode,
  PROJECT,
} from '../node.ts';
import { metered, residentBytes } from '../process-figures.ts';
import type { RepeatedRequest } from '../raw-request.ts';
import { ReadProbe, type Watched } from '../reads-wait.ts';
import { startProgram } from '../running.ts';
import { nodeProgram } from '../start.ts';
import { median, percentile } from '../statistics.ts';
import type { Figure, Figures, Judged, Scale } from './dimension.ts';

/** Noise of times and of processor times, in milliseconds. */
const FLOOR = { wait: 4, time: 2, cpu: 0.02, start: 50 } as const;

/** A cell of one judged number. */
export function figure(
  text: string,
  value: number,
  floor = 0,
  more: Omit<Judged, 'value' | 'floor'> = {},
): Figure {
  return { text, judged: [{ value, floor, ...more }] };
}

/** A cell of milliseconds. */
export function msFigure(ms: number, floor: number, more: Omit<Judged, 'value' | 'floor'> = {}): Figure {
  return figure(milliseconds(ms), ms, floor, more);
}

/** A filled node, and what asks it. */
export interface Side {
  readonly node: FilledNode;
  readonly load: LoadMaker;
  readonly probe: ReadProbe;
}

/**
 * Fills a node with flags and measures it, then its starts on the same data. Returns the figures of both. `add` writes
 * more into the file of the stopped node before.
 */
export async function measureFilled(
  scale: Scale,
  flags: number,
  measure: (side: Side) => Promise<Figures>,
  add?: (file: NodeFile) => void,
): Promise<Figures> {
  using folder = temporaryFolder();
  const dataFolder = folder.path;
  const open = async (): Promise<FilledNode> => {
    if (add === undefined) return await openFilled(scale, flags, { dataFolder });
    const { adminToken, headers } = await fillFolder(scale, flags, dataFolder);
    changeFile(dataFolder, add);
    return asFilled(await openNode(scale, { dataFolder, adminToken }), headers);
  };
  const measureNode = async () => {
    await using node = await open();
    await using load = startLoadMaker(scale.machine);
    await using probe = new ReadProbe(scale.machine, node.requests.one);
    return { headers: node.headers, figures: await measure({ node, load, probe }) };
  };

  const { headers, figures } = await measureNode();
  return { start: await startCost(scale, dataFolder, headers), ...figures };
}

/** Rate and processor time of a request, sent again and again by 32 callers. */
export async function readCost({ load, node }: Side, request: RepeatedRequest): Promise<Figure> {
  await load.run({ ...request, connections: 32, seconds: 1 });
  const work = () => load.run({ ...request, connections: 32, seconds: 2 });
  const { result, cpuMs } = await metered(node.pids, work);
  const cpu = cpuMs / result.requests;
  const text = `${perSecond(result.requests / result.seconds)} (${microseconds(cpu)})`;
  return figure(text, cpu, FLOOR.cpu, { name: 'CPU' });
}

/** Changes of one flag, one after another. */
export async function changeCost({ pids, management }: FilledNode, count = 60): Promise<Figure> {
  const times: number[] = [];
  const { cpuMs } = await metered(pids, async () => {
    for (let n = 0; n < count; n++) {
      const start = performance.now();
      await management.putState(PROJECT, ENVIRONMENT, flagKey(0), { enabled: true, value: `${start}` });
      times.push(performance.now() - start);
    }
  });
  const [p50, p99, cpu] = [median(times), percentile(times, 0.99), cpuMs / count];
  return {
    text: `${milliseconds(p50)} / ${milliseconds(p99)} (${milliseconds(cpu)})`,
    judged: [
      { name: 'p50', value: p50, floor: FLOOR.time },
      { name: 'CPU', value: cpu, floor: 1 },
    ],
  };
}

/** One request of the management API. */
export function managementCost({ node, probe }: Side, path: string): Promise<Figure> {
  return watchedCost(probe, async () => {
    const response = await fetch(`${node.url}${path}`, {
      headers: { authorization: `Bearer ${node.adminToken}` },
      signal: AbortSignal.timeout(PATIENCE_MS),
    });
    if (!response.ok) throw new Error(`${path} was answered ${response.status}`);
    return (await response.arrayBuffer()).byteLength;
  });
}

/**
 * Does something three times: how long it took, the bytes of its answer where it returns them, and how long reads waited
 * at most; medians. `prepare` comes before each, and nothing of it counts.
 */
export async function watchedCost(
  probe: ReadProbe,
  work: (round: number) => Promise<unknown>,
  { rounds = 3, prepare = (_round: number): Promise<unknown> => Promise.resolve() } = {},
): Promise<Figure> {
  const all: Watched<unknown>[] = [];
  for (let round = 0; round < rounds; round++) {
    await prepare(round);
    all.push(await probe.during(() => work(round)));
  }

  const ms = median(all.map(({ tookMs }) => tookMs));
  const waitMs = median(all.map(({ reads }) => reads.maxMs));
  const size = all.at(-1)?.result;
  return {
    text: `${milliseconds(ms)}${typeof size === 'number' ? ` (${bytes(size)})` : ''}, reads wait ${milliseconds(waitMs)}`,
    judged: [
      { name: 'time', value: ms, floor: FLOOR.time },
      { name: 'reads wait', value: waitMs, floor: FLOOR.wait },
    ],
  };
}

/** Memory of processes now. */
export function memory({ pids }: OpenNode): Figure {
  const total = residentBytes(...pids);
  return figure(mebibytes(total), total, 0, { isBytes: true });
}

/** The median of three starts on the data of a stopped node, to the first answer of a flag. */
async function startCost(scale: Scale, dataFolder: string, headers: Headers): Promise<Figure> {
  const starts: number[] = [];
  for (let round = 0; round < 3; round++) {
    const program = nodeProgram(scale, 'source', dataFolder, headers);
    await using started = await startProgram(scale.machine, program);
    starts.push(started.startMs);
  }
  return msFigure(median(starts), FLOOR.start);
}
