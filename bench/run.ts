import type { Bench, Subject } from './bench.ts';
import { lookAtMachine } from './machine.ts';
import { formatMarkdown, formatText, type Row } from './row.ts';
import { within } from './within.ts';

/** Each subject's code is loaded when it is asked for. The names are those of the files. */
const SUBJECTS: Readonly<Record<string, () => Promise<Subject>>> = {
  rest: async () => (await import('./rest.ts')).measureRest,
  streams: async () => (await import('./streams.ts')).measureStreams,
  propagation: async () => (await import('./propagation.ts')).measurePropagation,
  relay: async () => (await import('./relay.ts')).measureRelay,
  start: async () => (await import('./start.ts')).measureStart,
  'change-cost': async () => (await import('./change-cost.ts')).measureChangeCost,
  scaling: async () => (await import('./scaling.ts')).measureScaling,
  client: async () => (await import('./client.ts')).measureClient,
};

/**
 * Longest one subject may take, in milliseconds. The longest is the client's, which waits out outages with a client that
 * backs off for up to 30 s; the whole bench stays below five minutes on the machine it was made on.
 */
const PATIENCE_MS = 240_000;

// A subject that was given up may have left timers; what it started ends with this process.
process.exit(await main(process.argv.slice(2)));

async function main(argv: readonly string[]): Promise<number> {
  const options = argv.filter((word) => word.startsWith('-'));
  const chosen = argv.filter((word) => !word.startsWith('-'));
  const wrong = [
    ...options.filter((word) => word !== '--markdown'),
    ...chosen.filter((name) => !Object.hasOwn(SUBJECTS, name)),
  ];
  if (wrong.length > 0) {
    say(
      `What is ${wrong.join(', ')}? Usage: bun run bench [${Object.keys(SUBJECTS).join('|')} …] [--markdown]`,
    );
    return 2;
  }
  const leftOut: string[] = [];
  const bench: Bench = { machine: await lookAtMachine(), say, leaveOut: (what) => leftOut.push(what) };
  const rows: Row[] = [];
  for (const name of chosen.length > 0 ? chosen : Object.keys(SUBJECTS)) {
    const subject = await SUBJECTS[name]?.();
    if (subject !== undefined) rows.push(...(await measure(name, subject, bench)));
  }
  print(options.includes('--markdown') ? formatMarkdown(rows) : formatText(rows));
  print(`\nMachine: ${bench.machine.description}. ${pinning(bench)}`);
  for (const what of leftOut) print(`Left out: ${what}.`);
  return 0;
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
