import type { Bench, Subject } from './bench.ts';
import { lookAtMachine } from './machine.ts';
import { formatMarkdown, formatText, type Row } from './row.ts';
import { DIMENSION_NAMES, measureScale } from './scale/run.ts';
import { within } from './within.ts';

/** Each subject's code is loaded when it is asked for. The names are those of the files. */
const SUBJECTS: Readonly<Record<string, () => Promise<Subject>>> = {
  rest: async () => (await import('./rest.ts')).measureRest,
  streams: async () => (await import('./streams.ts')).measureStreams,
  propagation: async () => (await import('./propagation.ts')).measurePropagation,
  writes: async () => (await import('./writes.ts')).measureWrites,
  'large-maps': async () => (await import('./large-maps.ts')).measureLargeMaps,
  'open-files': async () => (await import('./open-files.ts')).measureOpenFiles,
  relay: async () => (await import('./relay.ts')).measureRelay,
  start: async () => (await import('./start.ts')).measureStart,
  'change-cost': async () => (await import('./change-cost.ts')).measureChangeCost,
  followers: async () => (await import('./followers.ts')).measureFollowers,
  scaling: async () => (await import('./scaling.ts')).measureScaling,
  client: async () => (await import('./client.ts')).measureClient,
};

const USAGE = `Usage:
  bun run bench [${Object.keys(SUBJECTS).join('|')} …] [--markdown]
  bun run bench scale [${DIMENSION_NAMES.join('|')} …] [--quick] [--markdown]`;

/**
 * Longest one subject may take, in milliseconds. The longest is the client's, which waits out outages with a client that
 * backs off for up to 30 s; the whole bench stays below eight minutes on a machine with nothing else to do.
 */
const PATIENCE_MS = 240_000;

// A subject that was given up may have left timers; what it started ends with this process.
process.exit(await main(process.argv.slice(2)));

async function main(argv: readonly string[]): Promise<number> {
  const options = argv.filter((word) => word.startsWith('-'));
  const [first, ...rest] = argv.filter((word) => !word.startsWith('-'));
  const isScale = first === 'scale';
  const chosen = isScale ? rest : first === undefined ? [] : [first, ...rest];
  const names = isScale ? DIMENSION_NAMES : Object.keys(SUBJECTS);
  const wrong = [
    ...options.filter((word) => !['--markdown', ...(isScale ? ['--quick'] : [])].includes(word)),
    ...chosen.filter((name) => !names.includes(name)),
  ];
  if (wrong.length > 0) {
    say(`Unknown: ${wrong.join(', ')}.\n${USAGE}`);
    return 2;
  }
  const leftOut: string[] = [];
  const bench: Bench = { machine: await lookAtMachine(), say, leaveOut: (what) => leftOut.push(what) };
  const markdown = options.includes('--markdown') ? 'markdown' : 'text';
  print(
    isScale
      ? await measureScale(bench, { chosen, isQuick: options.includes('--quick'), markdown })
      : await measureSubjects(bench, chosen.length > 0 ? chosen : names, markdown),
  );
  print(`\nMachine: ${bench.machine.description}. ${pinning(bench)}`);
  for (const what of leftOut) print(`Left out: ${what}.`);
  return 0;
}

async function measureSubjects(
  bench: Bench,
  names: readonly string[],
  markdown: 'markdown' | 'text',
): Promise<string> {
  const rows: Row[] = [];
  for (const name of names) {
    const subject = await SUBJECTS[name]?.();
    if (subject !== undefined) rows.push(...(await measure(name, subject, bench)));
  }
  return markdown === 'markdown' ? formatMarkdown(rows) : formatText(rows);
}

/** A subject that fails or takes too long costs its own rows only. */
async function measure(name: string, subject: Subject, bench: Bench): Promise<readonly Row[]> {
  try {
    return await within(subject(bench), 'its end', PATIENCE_MS);
  } catch (error) {
    bench.leaveOut(`${name}: ${error instanceof Error ? error.message : String(error)}`);
    return [];
  }
}

function pinning({ machine }: Bench): string {
  return machine.canPin
    ? 'Servers are tied to one core, load to another.'
    : 'Servers and load share the cores.';
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

function say(text: string): void {
  process.stderr.write(`${text}\n`);
}
