import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { startNode } from '@halyard/testing';
import type { Bench, Subject } from './bench.ts';
import { lookAtMachine } from './machine.ts';
import { PEER_PATHS } from './peers/peers.ts';
import { measurePeers, PEER_TABLES } from './peers/run.ts';
import { TICK_MS } from './process-figures.ts';
import { type Row, tableOf } from './row.ts';
import { DIMENSION_NAMES, measureScale } from './scale/run.ts';
import { type Format, written } from './table.ts';
import { openCheckout, versus } from './versus.ts';
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
  snapshots: async () => (await import('./snapshots.ts')).measureSnapshots,
  tree: async () => (await import('./tree.ts')).measureTree,
  scaling: async () => (await import('./scaling.ts')).measureScaling,
  client: async () => (await import('./client.ts')).measureClient,
  languages: async () => (await import('./languages.ts')).measureLanguages,
  management: async () => (await import('./management.ts')).measureManagement,
};

/**
 * Measured only when it is named, because it takes more than a minute, and concerns the nodes that follow one or needs
 * the tools of other languages.
 */
const ON_REQUEST: readonly string[] = ['followers', 'snapshots', 'tree', 'languages'];

const USAGE = `Usage:
  bun run bench [${Object.keys(SUBJECTS).join('|')} …] [--markdown]
  bun run bench … --base COMMIT   the same of that commit and of this tree, in turns
  bun run bench scale [${DIMENSION_NAMES.join('|')} …] [--quick] [--markdown]
  bun run bench peers [${PEER_TABLES.join('|')} …] [--folder FOLDER [--install]] [--NAME PROGRAM …] [--markdown]
    where NAME is one of ${PEER_PATHS.filter((name) => name !== 'folder').join(', ')}`;

/**
 * Longest one subject may take, in milliseconds. The longest is the client's, which waits out outages with a client that
 * backs off for up to 30 s; the whole bench stays below ten minutes on a machine with nothing else to do.
 */
const PATIENCE_MS = 240_000;

/** The same for a tree of hundreds of processes, and for programs that are compiled first. */
const LONG_PATIENCE_MS = 900_000;
const LONG: readonly string[] = ['tree', 'languages'];

// A subject that was given up may have left timers; what it started ends with this process.
process.exit(await main(process.argv.slice(2)));

async function main(argv: readonly string[]): Promise<number> {
  const [command = ''] = argv;
  const kinds: Readonly<Record<string, Known>> = {
    scale: { flags: ['quick'], texts: [], names: DIMENSION_NAMES },
    peers: { flags: ['install'], texts: PEER_PATHS, names: PEER_TABLES },
  };
  const kind = kinds[command];
  const known = kind ?? { flags: [], texts: ['base'], names: Object.keys(SUBJECTS) };
  let parsed: Arguments;
  try {
    parsed = parseArguments(kind === undefined ? argv : argv.slice(1), known);
  } catch (error) {
    say(`${error instanceof Error ? error.message : String(error)}\n${USAGE}`);
    return 2;
  }

  const { chosen, format, flags, texts } = parsed;
  const leftOut: string[] = [];
  const checkout = { root: join(import.meta.dir, '..'), startNode };
  const leaveOut = (what: string) => void leftOut.push(what);
  const bench: Bench = { machine: await lookAtMachine(), checkout, say, leaveOut };
  if (command === 'scale') {
    print(await measureScale(bench, { chosen, isQuick: flags.has('quick'), format }));
  } else if (command === 'peers') {
    // A program is started in a folder of its own, so its path must not depend on this one.
    const paths = Object.fromEntries(Object.entries(texts).map(([name, path]) => [name, resolve(path)]));
    print(await measurePeers(bench, { chosen, paths, isInstalling: flags.has('install'), format }));
  } else {
    const all = known.names.filter((name) => !ON_REQUEST.includes(name));
    print(
      await measureSubjects(bench, { names: chosen.length > 0 ? chosen : all, format, base: texts.base }),
    );
  }

  const pinning = bench.machine.canPin
    ? 'Servers are tied to one core from their start, load to another.'
    : 'Servers and load share the cores.';
  print(`\nMachine: ${bench.machine.description}. ${pinning} Processor times have steps of ${TICK_MS} ms.`);
  for (const what of leftOut) print(`Left out: ${what}.`);
  return 0;
}

/** The words that a command takes. */
interface Known {
  readonly flags: readonly string[];
  readonly texts: readonly string[];
  readonly names: readonly string[];
}

/** The words after the command. */
interface Arguments {
  readonly chosen: readonly string[];
  readonly flags: ReadonlySet<string>;
  readonly texts: Readonly<Record<string, string>>;
  readonly format: Format;
}

/** Throws on a word that is not known. */
function parseArguments(args: readonly string[], known: Known): Arguments {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      markdown: { type: 'boolean' },
      ...Object.fromEntries(known.flags.map((name) => [name, { type: 'boolean' as const }])),
      ...Object.fromEntries(known.texts.map((name) => [name, { type: 'string' as const }])),
    },
  });
  const unknown = positionals.filter((name) => !known.names.includes(name));
  if (unknown.length > 0) throw new Error(`Unknown: ${unknown.join(', ')}.`);
  // `parseArgs` knows names that are written out only.
  const given = Object.entries(values as Readonly<Record<string, boolean | string | undefined>>);
  return {
    chosen: positionals,
    flags: new Set(given.flatMap(([name, value]) => (value === true ? [name] : []))),
    texts: Object.fromEntries(
      given.flatMap(([name, value]) => (typeof value === 'string' ? [[name, value]] : [])),
    ),
    format: values.markdown === true ? 'markdown' : 'text',
  };
}

async function measureSubjects(
  bench: Bench,
  { names, format, base }: { names: readonly string[]; format: Format; base: string | undefined },
): Promise<string> {
  await using older = base === undefined ? undefined : await openCheckout(bench, base);
  const rows: Row[] = [];
  for (const name of names) {
    const subject = await SUBJECTS[name]?.();
    if (subject === undefined) continue;
    const of = (side: Bench) => measure(name, subject, side);
    rows.push(...(older === undefined ? await of(bench) : await versus(bench, older, of)));
  }
  return written(format, tableOf(rows));
}

/** A subject that fails or takes too long costs its own rows only. */
async function measure(name: string, subject: Subject, bench: Bench): Promise<readonly Row[]> {
  try {
    return await within(subject(bench), 'its end', LONG.includes(name) ? LONG_PATIENCE_MS : PATIENCE_MS);
  } catch (error) {
    bench.leaveOut(`${name}: ${error instanceof Error ? error.message : String(error)}`);
    return [];
  }
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

function say(text: string): void {
  process.stderr.write(`${text}\n`);
}
