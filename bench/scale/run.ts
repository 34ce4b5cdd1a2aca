import { attempt, type Bench } from '../bench.ts';
import type { Format } from '../table.ts';
import { type Dimension, fasterThanInput, formatDimension, type MeasureDimension } from './dimension.ts';

/** Each dimension's code is loaded when it is asked for. */
const DIMENSIONS: Readonly<Record<string, () => Promise<MeasureDimension>>> = {
  flags: async () => (await import('./flags.ts')).measureFlags,
  environments: async () => (await import('./environments.ts')).measureEnvironments,
  keys: async () => (await import('./keys.ts')).measureKeys,
  streams: async () => (await import('./streams.ts')).measureStreams,
  frames: async () => (await import('./streams.ts')).measureFrames,
  'log-rows': async () => (await import('./log-rows.ts')).measureLogRows,
  writers: async () => (await import('./writers.ts')).measureWriters,
};

/** The names of what can be measured. */
export const DIMENSION_NAMES: readonly string[] = Object.keys(DIMENSIONS);

/** Longest that one dimension may take, in milliseconds. */
const PATIENCE_MS = 600_000;

/** What to measure, and how to write it. */
export interface ScaleOptions {
  /** Some of {@link DIMENSION_NAMES}; all when empty. */
  readonly chosen: readonly string[];
  readonly isQuick: boolean;
  readonly format: Format;
}

/** How figures grow with their input: returns a table per dimension and what grows faster than it should. */
export async function measureScale(bench: Bench, options: ScaleOptions): Promise<string> {
  const dimensions: Dimension[] = [];
  for (const name of options.chosen.length > 0 ? options.chosen : DIMENSION_NAMES) {
    const measure = await DIMENSIONS[name]?.();
    if (measure === undefined) continue;
    const scale = { ...bench, isQuick: options.isQuick };
    dimensions.push(...((await attempt(bench, name, () => measure(scale), PATIENCE_MS)) ?? []));
  }
  const faster = dimensions.flatMap(fasterThanInput);
  const tables = dimensions.map((dimension) => formatDimension(dimension, options.format));
  return [...tables, conclusion(faster)].join('\n\n');
}

function conclusion(faster: readonly string[]): string {
  if (faster.length === 0) return 'Nothing but bytes grows faster than its input.';
  return `Faster than its input grows:\n${faster.map((name) => `- ${name}`).join('\n')}`;
}
