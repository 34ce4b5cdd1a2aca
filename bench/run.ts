import { join, resolve } from 'node:path';
import { type ParseArgsConfig, parseArgs } from 'node:util';
import { startNode } from '@halyard/testing';
import { attempt, type Bench, type Subject } from './bench.ts';
import { lookAtMachine } from './machine.ts';
import { PEER_PATHS } from './peers/peers.ts';
import { measurePeers, PEER_TABLES } from './peers/run.ts';
import { TICK_MS } from './process-figures.ts';
import { type Row, tableOf } from './row.ts';
import { DIMENSION_NAMES, measureScale } from './scale/run.ts';
import { type Format, written } from './table.ts';
import { openCheckout, versus } from './versus.ts';

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

/** The same for a tree of hundreds of processes, programs that are compiled first, and millions of rows. */
const LONG_PATIENCE_MS = 900_000;
const LONG: readonly string[] = ['tree', 'languages', 'management'];

/** The words after a command. */
interface Given {
  /** Some of the command's names. */
  readonly chosen: readonly string[];
  readonly format: Format;
  readonly values: Readonly<Record<string, string | boolean | undefined>>;
}

/** What a command takes besides `--markdown`, and what it prints. */
interface Command {
  readonly names: readonly string[];
  readonly options: NonNullable<ParseArgsConfig['options']>;
  readonly measure: (bench: Bench, given: Given) => Promise<string>;
}

const COMMANDS: Readonly<Record<string, Command>> = {
  scale: {
    names: DIMENSION_NAMES,
    options: { quick: { type: 'boolean' } },
    measure: (bench, { values, ...given }) =>
      measureScale(bench, { ...given, isQuick: values.quick === true }),
  },
  peers: {
    names: PEER_TABLES,
    options: {
      install: { type: 'boolean' },
      ...Object.fromEntries(PEER_PATHS.map((name) => [name, { type: 'string' } as const])),
    },
    measure: (bench, { values, ...given }) => {
      const texts = Object.entries(values).filter(([, value]) => typeof value === 'string');
      // A program is started in a folder of its own, so its path must not depend on this one.
      const paths = Object.fromEntries(texts.map(([name, path]) => [name, resolve(String(path))]));
      return measurePeers(bench, { ...given, paths, isInstalling: values.install === true });
    },
  },
};

/** The command without a word of its own. */
const MEASURE_SUBJECTS: Command = {
  names: Object.keys(SUBJECTS),
  options: { base: { type: 'string' } },
  measure: measureSubjects,
};

// A subject that was given up may have left timers; what it started ends with this process.
process.exit(await main(process.argv.slice(2)));

async function main(argv: readonly string[]): Promise<number> {
  const [word = '', ...rest] = argv;
  const { [word]: command = MEASURE_SUBJECTS } = COMMANDS;
  let given: Given;
  try {
    given = parseWords(word in COMMANDS ? rest : argv, command);
  } catch (error) {
    say(`${error instanceof Error ? error.message : String(error)}\n${USAGE}`);
    return 2;
  }

  const leftOut: string[] = [];
  const checkout = { root: join(import.meta.dir, '..'), startNode };
  const leaveOut = (what: string) => void leftOut.push(what);
  const bench: Bench = { machine: await lookAtMachine(), checkout, say, leaveOut };
  print(await command.measure(bench, given));

  const pinning = bench.machine.canPin
    ? 'Servers are tied to one core from their start, load to another.'
    : 'Servers and load share the cores.';
  print(`\nMachine: ${bench.machine.description}. ${pinning} Processor times have steps of ${TICK_MS} ms.`);
  for (const what of leftOut) print(`Left out: ${what}.`);
  return 0;
}

/** Throws on a word that is not known. */
function parseWords(args: readonly string[], { names, options }: Command): Given {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: { ...options, markdown: { type: 'boolean' } },
  });
  const unknown = positionals.filter((name) => !names.includes(name));
  if (unknown.length > 0) throw new Error(`Unknown: ${unknown.join(', ')}.`);
  // No option of a command may be given twice, so each value is a single one.
  const single = values as Given['values'];
  return { chosen: positionals, format: single.markdown === true ? 'markdown' : 'text', values: single };
}

async function measureSubjects(bench: Bench, { chosen, format, values }: Given): Promise<string> {
  const { base } = values;
  await using older = typeof base === 'string' ? await openCheckout(bench, base) : undefined;
  const usual = Object.keys(SUBJECTS).filter((name) => !ON_REQUEST.includes(name));
  const rows: Row[] = [];
  for (const name of chosen.length > 0 ? chosen : usual) {
    const subject = await SUBJECTS[name]?.();
    if (subject === undefined) continue;
    const patienceMs = LONG.includes(name) ? LONG_PATIENCE_MS : PATIENCE_MS;
    // A subject that fails or takes too long costs its own rows only.
    const of = async (side: Bench) => (await attempt(side, name, () => subject(side), patienceMs)) ?? [];
    rows.push(...(older === undefined ? await of(bench) : await versus(bench, older, of)));
  }
  return written(format, tableOf(rows));
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

function say(text: string): void {
  process.stderr.write(`${text}\n`);
}
