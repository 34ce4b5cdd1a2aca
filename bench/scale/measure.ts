import { temporaryFolder } from '@halyard/testing';
import { bytes, mebibytes, microseconds, milliseconds, perSecond } from '../format.ts';
import type { LoadMaker } from '../load.ts';
import {
  ENVIRONMENT,
  type FilledNode,
  flagKey,
  type Headers,
  type OpenNode,
  openFilled,
  PROJECT,
} from '../node.ts';
import { metered, residentBytes } from '../process-figures.ts';
import type { RepeatedRequest } from '../raw-request.ts';
import type { ReadProbe, Watched } from '../reads-wait.ts';
import { startProgram } from '../running.ts';
import { nodeProgram } from '../start.ts';
import { median, percentile } from '../statistics.ts';
import { PATIENCE_MS } from '../within.ts';
import type { Figure, Judged, Scale } from './dimension.ts';

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

/** Fills a node with flags and measures it, then its starts on the same data. Returns the figures of both. */
export async function measureFilled(
  scale: Scale,
  flags: number,
  measure: (node: FilledNode, fillMs: number) => Promise<Record<string, Figure>>,
): Promise<Record<string, Figure>> {
  using folder = temporaryFolder();
  let figures: Record<string, Figure>;
  let headers: Headers;
  {
    const before = performance.now();
    await using node = await openFilled(scale, flags, { dataFolder: folder.path });
    figures = await measure(node, performance.now() - before);
    ({ headers } = node);
  }
  return { start: await startCost(scale, folder.path, headers), ...figures };
}

/** Rate and processor time of a request, sent again and again by 32 callers. */
export async function readCost(
  load: LoadMaker,
  { pids }: OpenNode,
  request: RepeatedRequest,
): Promise<Figure> {
  await load.run({ ...request, connections: 32, seconds: 1 });
  const { result, cpuMs } = await metered(pids, () => load.run({ ...request, connections: 32, seconds: 2 }));
  const cpu = cpuMs / result.requests;
  const text = `${perSecond(result.requests / result.seconds)} (${microseconds(cpu)})`;
  return figure(text, cpu, FLOOR.cpu, { name: 'CPU' });
}

/** Changes of one flag, one after another. */
export async function changeCost(node: Pick<FilledNode, 'pids' | 'management'>, count = 60): Promise<Figure> {
  const times: number[] = [];
  const { cpuMs } = await metered(node.pids, async () => {
    for (let n = 0; n < count; n++) {
      const start = performance.now();
      await node.management.putState(PROJECT, ENVIRONMENT, flagKey(0), { enabled: true, value: `${start}` });
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

/** One request of the management API, three times; the median, its size, and how long reads waited at most. */
export async function managementCost(
  node: OpenNode,
  probe: ReadProbe,
  path: string,
  init: RequestInit = {},
): Promise<Figure> {
  let size = 0;
  const rounds: Watched<unknown>[] = [];
  for (let round = 0; round < 3; round++) {
    const watched = await probe.during(async () => {
      const response = await fetch(`${node.url}${path}`, {
        ...init,
        headers: { authorization: `Bearer ${node.adminToken}`, ...init.headers },
        signal: AbortSignal.timeout(PATIENCE_MS),
      });
      size = (await response.arrayBuffer()).byteLength;
      if (!response.ok) throw new Error(`${path} was answered ${response.status}`);
    });
    rounds.push(watched);
  }
  return watchedFigure(rounds, size);
}

/** How long something took, and how long reads waited at most: medians where it was done several times. */
export function watchedFigure(rounds: readonly Watched<unknown>[], size?: number): Figure {
  const ms = median(rounds.map(({ tookMs }) => tookMs));
  const waitMs = median(rounds.map(({ reads }) => reads.maxMs));
  const sized = size === undefined ? '' : ` (${bytes(size)})`;
  return {
    text: `${milliseconds(ms)}${sized}, reads wait ${milliseconds(waitMs)}`,
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
export async function startCost(scale: Scale, dataFolder: string, headers: Headers): Promise<Figure> {
  const starts: number[] = [];
  for (let round = 0; round < 3; round++) {
    await using started = await startProgram(
      scale.machine,
      nodeProgram(scale, 'source', dataFolder, headers),
    );
    starts.push(started.startMs);
  }
  return msFigure(median(starts), FLOOR.start);
}
