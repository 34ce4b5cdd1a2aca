import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import type { Bench, Subject } from './bench.ts';
import { lookAtMachine } from './machine.ts';
import { PEER_TABLES } from './peers/peer.ts';
import { measurePeers, PEER_PATHS } from './peers/run.ts';
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
  bun run bench scale [${DIMENSION_NAMES.join('|')} …] [--quick] [--markdown]
  bun run bench peers [${PEER_TABLES.join('|')} …] [--folder FOLDER [--install]] [--NAME PROGRAM …] [--markdown]
    where NAME is one of ${PEER_PATHS.filter((name) => name !== 'folder').join(', ')}`;

/**
 * Longest one subject may take, in milliseconds. The longest is the client's, which waits out outages with a client that
 * backs off for up to 30 s; the whole bench stays below eight minutes on a machine with nothing else to do.
 */
const PATIENCE_MS = 240_000;

/** The same for a tree of hundreds of processes, and for programs that are compiled first. */
const LONG_PATIENCE_MS = 900_000;
const LONG: readonly string[] = ['tree', 'languages'];

// A subject that was given up may have left timers; what it started ends with this process.
process.exit(await main(process.argv.slice(2)));

async function main(argv: readonly string[]): Promise<number> {
  const [command, ...rest] = argv;
  const paths = command === 'peers' ? PEER_PATHS : [];
  const flags = { scale: ['quick'], peers: ['install'] }[command ?? ''] ?? [];
  const names =
    command === 'scale' ? DIMENSION_NAMES : command === 'peers' ? PEER_TABLES : Object.keys(SUBJECTS);
  const isTable = command === 'scale' || command === 'peers';
  let parsed: Arguments;
  try {
    parsed = parseArguments(isTable ? rest : argv, { flags, paths, names });
  } catch (error) {
    say(`${error instanceof Error ? error.message : String(error)}\n${USAGE}`);
    return 2;
  }
  const { chosen, markdown } = parsed;
  const leftOut: string[] = [];
  const bench: Bench = { machine: await lookAtMachine(), say, leaveOut: (what) => leftOut.push(what) };
  if (command === 'scale') {
    print(await measureScale(bench, { chosen, isQuick: parsed.flags.has('quick'), markdown }));
  } else if (command === 'peers') {
    const isInstalling = parsed.flags.has('install');
    print(await measurePeers(bench, { chosen, paths: parsed.paths, isInstalling, markdown }));
  } else {
    const all = names.filter((name) => !ON_REQUEST.includes(name));
    print(await measureSubjects(bench, chosen.length > 0 ? chosen : all, markdown));
  }
  print(`\nMachine: ${bench.machine.description}. ${pinning(bench)}`);
  for (const what of leftOut) print(`Left out: ${what}.`);
  return 0;
}

/** The words after the command. */
interface Arguments {
  readonly chosen: readonly string[];
  readonly flags: ReadonlySet<string>;
  readonly paths: Readonly<Record<string, string>>;
  readonly markdown: 'markdown' | 'text';
}

/** Throws on a word that is not known. */
function parseArguments(
  args: readonly string[],
  known: {
    readonly flags: readonly string[];
    readonly paths: readonly string[];
    readonly names: readonly string[];
  },
): Arguments {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      markdown: { type: 'boolean' },
      ...Object.fromEntries(known.flags.map((name) => [name, { type: 'boolean' as const }])),
      ...Object.fromEntries(known.paths.map((name) => [name, { type: 'string' as const }])),
    },
  });
  const unknown = positionals.filter((name) => !known.names.includes(name));
  if (unknown.length > 0) throw new Error(`Unknown: ${unknown.join(', ')}.`);
  const given = Object.entries(values);
  return {
    chosen: positionals,
    flags: new Set(given.flatMap(([name, value]) => (value === true ? [name] : []))),
    // A program is started in a folder of its own, so its path must not depend on this one.
    paths: Object.fromEntries(
      given.flatMap(([name, value]) => (typeof value === 'string' ? [[name, resolve(value)]] : [])),
    ),
    markdown: values.markdown === true ? 'markdown' : 'text',
  };
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
    return await within(subject(bench), 'its end', LONG.includes(name) ? LONG_PATIENCE_MS : PATIENCE_MS);
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
