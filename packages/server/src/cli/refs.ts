import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { apiPath } from './api-client.ts';
import { CliError, EXIT, usageError } from './cli-error.ts';
import { command, connect } from './command.ts';
import { required } from './options.ts';
import { formatTable, wantsJson } from './output.ts';

/** `halyard refs` */
export const refsCommand = command({
  usage: 'refs <folder>',
  about: 'Find where a code base uses the flags of a project, and which flags it does not use.',
  argumentHelp: { folder: 'Folder to search' },
  options: { project: required('<project>', 'Project of the flags') },
  help:
    'A key counts as used where it is in quotes. A key that is read by a client of Halyard or OpenFeature, as in\n' +
    "isEnabled('new-chekout'), and is not a flag of the project is unknown: the command then exits with 5.\n" +
    'In a Git repository, ignored files are left out. Files above 1 MB are left out everywhere.',
  examples: ['halyard refs src --project shop', 'halyard refs . --project shop --json'],
  run: async ({ folder, project, ...options }, shell) => {
    if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory())
      throw usageError(`${folder} is not a folder.`);

    const client = connect(shell, options);
    const path = apiPath`/projects/${project}/flags`;
    const keysOf = async (query: Record<string, string> = {}) =>
      (await client.request({ path, query })).fields.list('flags').map((flag) => flag.text('key'));
    const flags = await keysOf();
    const archived = await keysOf({ archived: 'true' });

    const found = await findReferences(folder, [...flags, ...archived]);
    const report = {
      flags: placesOf(found, flags),
      archived: placesOf(found, archived).filter(({ places }) => places.length > 0),
      unknown: found.unknown,
    };
    shell.write(wantsJson(shell, options) ? `${JSON.stringify(report)}\n` : formatReport(report));

    const { length } = found.unknown;
    if (length === 0) return;
    throw new CliError(`${length} ${length === 1 ? 'key is' : 'keys are'} not a flag of ${project}.`, {
      exitCode: EXIT.different,
    });
  },
});

/** A key and where it is used, as `file:line`. */
export interface KeyPlaces {
  readonly key: string;
  readonly places: readonly string[];
}

function placesOf({ places }: References, keys: readonly string[]): readonly KeyPlaces[] {
  return keys.map((key) => ({ key, places: places.get(key) ?? [] }));
}

function formatReport(
  report: Readonly<Record<'flags' | 'archived' | 'unknown', readonly KeyPlaces[]>>,
): string {
  const rows = (list: readonly KeyPlaces[], mark = '') =>
    list.map(({ key, places }) => [key + mark, `${places.length}`, places[0] ?? 'not used']);
  return formatTable(
    ['KEY', 'PLACES', 'FIRST PLACE'],
    [...rows(report.flags), ...rows(report.archived, ' (archived)'), ...rows(report.unknown, ' (unknown)')],
  );
}

/** What a code base says about flags. */
export interface References {
  /** The places of every known key that is used. */
  readonly places: ReadonlyMap<string, readonly string[]>;
  /** Keys that a client reads and that are not known, with their places. */
  readonly unknown: readonly KeyPlaces[];
}

/** Larger files are generated or data. */
const MAX_FILE_BYTES = 1_000_000;

/** Finds keys in the files of a folder. */
export async function findReferences(folder: string, keys: readonly string[]): Promise<References> {
  const known = new Set(keys);
  const places = new Map<string, string[]>();
  const unknown = new Map<string, string[]>();

  const note = (map: Map<string, string[]>, key: string, place: string) => {
    const list = map.get(key) ?? [];
    if (list.at(-1) !== place) list.push(place);
    map.set(key, list);
  };

  for (const file of await listFiles(folder)) {
    const text = textOf(join(folder, file));
    if (text === undefined) continue;
    for (const [line, content] of text.split('\n').entries()) {
      const place = `${file}:${line + 1}`;
      for (const [, , quoted = ''] of content.matchAll(QUOTED))
        if (known.has(quoted)) note(places, quoted, place);
      for (const [, , read = ''] of content.matchAll(READ)) if (!known.has(read)) note(unknown, read, place);
    }
  }

  return { places, unknown: [...unknown].map(([key, found]) => ({ key, places: found })) };
}

/** A text in quotes that can be a key. */
const QUOTED = /(["'`])([\w.:/@-]{1,200})(?=\1)/g;

/**
 * Calls of the clients with a literal key: ours, and those of OpenFeature, whose methods have a type in their name in every
 * language (`getBooleanValue`, `get_string_details`, `BooleanValue(ctx, …)`).
 */
const READ =
  /\b(?:isEnabled|useFlag|useFlagValue|(?:get_?|use)?(?:boolean|string|integer|number|float|double|object|int)_?(?:value|details|flagvalue|flagdetails|evaluation)\w*)\s*\(\s*(?:ctx\s*,\s*|context\.\w+\(\)\s*,\s*)?(["'`])([\w.:/@-]{1,200})\1/gi;

function textOf(path: string): string | undefined {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (!stat?.isFile() || stat.size > MAX_FILE_BYTES) return undefined;
  const text = readFileSync(path, 'utf8');
  return text.includes('\0') ? undefined : text;
}

/** The files to search, relative to the folder: in a Git repository those that it does not ignore. */
async function listFiles(folder: string): Promise<readonly string[]> {
  if (Bun.which('git') !== null) {
    const git = Bun.spawnSync(['git', 'ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
      cwd: folder,
    });
    if (git.exitCode === 0) return String(git.stdout).split('\0').filter(Boolean).sort();
  }
  const files: string[] = [];
  for await (const file of new Bun.Glob('**/*').scan({ cwd: folder, dot: false, followSymlinks: false })) {
    if (!/(^|\/)(node_modules|dist|build|target|vendor)\//.test(file)) files.push(file);
  }
  return files.sort();
}
