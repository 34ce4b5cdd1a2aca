import { statSync } from 'node:fs';
import { join } from 'node:path';
import { type ApiClient, apiPath } from './api-client.ts';
import { CliError, EXIT, usageError } from './cli-error.ts';
import { command, connect } from './command.ts';
import { namesIn, option, required, toggle } from './options.ts';
import { formatTable, printDone, wantsJson } from './output.ts';
import { removeReport, requireReport, sendReport } from './refs-report.ts';
import { findReferences, type KeyPlaces, type References } from './refs-scan.ts';

/** The findings of which `--fail-on` makes exit code 5. */
const FAILURES = ['unknown', 'archived', 'unused'] as const;

type Failure = (typeof FAILURES)[number];

/** `halyard refs` */
export const refsCommand = command({
  usage: 'refs [folder]',
  about: 'Find where a code base uses the flags of a project, and which flags it does not use.',
  argumentHelp: { folder: 'Folder to search (default: this one)' },
  options: {
    project: required('<project>', 'Project of the flags'),
    exclude: option(
      '<patterns>',
      'Skip these files and folders: patterns as in a .gitignore, separated by commas',
    ),
    call: option('<names>', 'Functions of your own that read a flag by its key, separated by commas'),
    failOn: option('<findings>', 'Exit with 5 for these findings: unknown, archived, unused, or none', {
      default: 'unknown,archived',
    }),
    format: option('<format>', 'Write a table, JSON, or annotations for GitHub Actions', {
      choices: ['table', 'json', 'github'],
    }),
    report: toggle('Report to the server how often and where each flag was found, for the dashboard'),
    repository: option('<name>', 'With --report or --forget: name of the code, such as acme/shop'),
    commit: option('<commit>', 'With --report: the commit that is searched'),
    link: option('<address>', 'With --report: address of a place, with {commit}, {path} and {line} in it'),
    forget: toggle('Search nothing, and remove what the repository reported', { conflicts: 'report' }),
  },
  help:
    'A key in quotes counts as used. A key is unknown if the code reads it and the project has no such flag: with a client of Halyard\n' +
    "or OpenFeature, as in isEnabled('new-chekout'), or with a function that --call names.\n\n" +
    'Skips what Git or a .gitignore ignores, prose such as README.md, changelogs, lockfiles, exports of flags, binary files and files\n' +
    'above 1 MB. Tests count unless --exclude names them.\n\n' +
    'A report takes the place of the one that the same name sent before. It has paths and lines, and no text of the source. Report one\n' +
    'branch only: the one whose code runs.',
  examples: [
    'halyard refs src --project shop',
    `halyard refs . --project shop --exclude '*.test.ts,fixtures/' --call checkFlag,features.isOn`,
    'halyard refs . --project shop --format github --fail-on unknown,archived,unused',
    `halyard refs . --project shop --report --repository acme/shop --commit "$(git rev-parse HEAD)" \\\n  --link 'https://github.com/acme/shop/blob/{commit}/{path}#L{line}'`,
    'halyard refs --project shop --forget --repository acme/old-shop',
  ],
  run: async (input, shell) => {
    const { folder = '.', project, exclude, call, failOn, format, report: isReported, forget } = input;
    const client = connect(shell, input);
    if (forget) {
      const repository = await removeReport(client, project, input);
      return printDone(shell, input, `Removed what ${repository} reported.`);
    }

    if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory())
      throw usageError(`${folder} is not a folder.`);
    const failures = readFailures(failOn);
    if (isReported) requireReport(input);
    const search = { folder, exclude: patternsIn(exclude), calls: call === undefined ? [] : namesIn(call) };

    const flags = await keysOf(client, project);
    const archived = await keysOf(client, project, { archived: 'true' });
    const keys = [...flags, ...archived];
    const found = await findReferences({ ...search, keys });
    const report: Report = {
      flags: placesOf(found, flags),
      archived: placesOf(found, archived).filter(({ count }) => count > 0),
      unknown: found.unknown,
    };

    const isJson = format === 'json' || (format === undefined && wantsJson(shell, input));
    if (isJson) shell.write(`${JSON.stringify(report)}\n`);
    else if (format === 'github') shell.write(annotationsOf(report, { folder, project, failures }));
    else shell.write(formatReport(report));

    if (isReported) {
      await sendReport(client, project, { folder, keys, found, options: input });
      shell.writeError(`Reported ${keys.length} flags of ${project}.\n`);
    }

    const problems = problemsOf(report, { project, failures });
    if (problems.length > 0) throw new CliError(problems.join(' '), { exitCode: EXIT.different });
  },
});

type Report = Readonly<Record<'flags' | 'archived' | 'unknown', readonly KeyPlaces[]>>;

async function keysOf(
  client: ApiClient,
  project: string,
  query: Readonly<Record<string, string>> = {},
): Promise<readonly string[]> {
  const path = apiPath`/projects/${project}/flags`;
  const { fields } = await client.request({ path, query: { ...query, values: 'preview' } });
  return fields.list('flags').map((flag) => flag.text('key'));
}

function readFailures(text: string): ReadonlySet<Failure> {
  if (text === 'none') return new Set();
  return new Set(
    namesIn(text).map((name) => {
      const known = FAILURES.find((each) => each === name);
      if (known !== undefined) return known;
      throw usageError(`--fail-on takes ${FAILURES.join(', ')} or none, not "${name}".`);
    }),
  );
}

/** Patterns that commas separate, but for those in braces: `*.{test,spec}.ts,fixtures/`. */
function patternsIn(text = ''): readonly string[] {
  return (text.match(/(?:\{[^}]*\}|[^,{])+/g) ?? []).map((pattern) => pattern.trim()).filter(Boolean);
}

function placesOf({ places }: References, keys: readonly string[]): readonly KeyPlaces[] {
  return keys.map((key) => places.get(key) ?? { key, places: [], count: 0 });
}

function formatReport(report: Report): string {
  const rows = (list: readonly KeyPlaces[], mark = '') =>
    list.map(({ key, places, count }) => [key + mark, `${count}`, places[0] ?? 'not used']);
  return formatTable(
    ['KEY', 'PLACES', 'FIRST PLACE'],
    [...rows(report.flags), ...rows(report.archived, ' (archived)'), ...rows(report.unknown, ' (unknown)')],
  );
}

interface Judgment {
  readonly project: string;
  readonly failures: ReadonlySet<Failure>;
}

function unusedOf(flags: readonly KeyPlaces[]): readonly KeyPlaces[] {
  return flags.filter(({ count }) => count === 0);
}

/** Why the command fails, a sentence each. */
function problemsOf(
  { flags, archived, unknown }: Report,
  { project, failures }: Judgment,
): readonly string[] {
  const found = [
    ['unknown', unknown, `not a flag of ${project}`],
    ['archived', archived, `archived in ${project}, and code gets its defaults`],
    ['unused', unusedOf(flags), 'not used'],
  ] as const;
  return found.flatMap(([failure, { length }, what]) => {
    if (!failures.has(failure) || length === 0) return [];
    return [`${length} ${length === 1 ? 'key is' : 'keys are'} ${what}.`];
  });
}

/** One line for each place, which GitHub Actions shows in the change; paths are relative to where the command runs. */
function annotationsOf(
  { flags, archived, unknown }: Report,
  { folder, project, failures }: Judgment & { readonly folder: string },
): string {
  const lineOf = (failure: Failure, title: string, text: string, place?: string) => {
    const level = failures.has(failure) ? 'error' : 'warning';
    const [, file = '', line = ''] = /^(.*):(\d+)$/.exec(place ?? '') ?? [];
    const at = place === undefined ? '' : `file=${property(join(folder, file))},line=${line},`;
    return `::${level} ${at}title=${property(title)}::${data(text)}\n`;
  };

  const linesOf = (
    failure: Failure,
    title: string,
    found: readonly KeyPlaces[],
    text: (key: string) => string,
  ) => found.flatMap(({ key, places }) => places.map((place) => lineOf(failure, title, text(key), place)));
  const unused = failures.has('unused') ? unusedOf(flags) : [];
  return [
    ...linesOf('unknown', 'Unknown flag', unknown, (key) => `"${key}" is not a flag of ${project}.`),
    ...linesOf(
      'archived',
      'Archived flag',
      archived,
      (key) => `"${key}" is archived in ${project}: code gets its default.`,
    ),
    ...unused.map(({ key }) => lineOf('unused', 'Unused flag', `No code uses "${key}" of ${project}.`)),
  ].join('');
}

/** A text within a command of GitHub Actions. */
function data(text: string): string {
  return text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}

function property(text: string): string {
  return data(text).replaceAll(':', '%3A').replaceAll(',', '%2C');
}
