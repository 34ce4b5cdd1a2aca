import { readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { readProfiles } from '../config/profiles.ts';
import { flagOf } from '../config/settings.ts';
import { apiPath } from './api-client.ts';
import { type Catalog, type CliCommand, connect } from './command.ts';
import type { OptionSpec } from './options.ts';
import type { Shell } from './shell.ts';

/** What can follow on a command line. */
export interface Candidate {
  readonly word: string;
  /** What it is; may be empty. */
  readonly about: string;
}

/** The shells whose completion is known. */
export const SHELLS = ['bash', 'zsh', 'fish'] as const;

/** How long a person waits for names of a server, in milliseconds. */
const TIMEOUT_MS = 1_500;

/**
 * What can follow: the last of `words`, which may be empty, is the one that is being written. Names come from the server; without an
 * answer there are none. Never rejects.
 */
export async function candidatesFor(
  words: readonly string[],
  catalog: Catalog,
  shell: Shell,
): Promise<readonly Candidate[]> {
  const started = words.at(-1) ?? '';
  const line = { before: words.slice(0, -1), started };
  const all = await findCandidates(catalog, line, shell).catch(() => []);
  return all.filter(({ word }) => word.startsWith(started));
}

async function findCandidates(
  catalog: Catalog,
  { before, started }: { readonly before: readonly string[]; readonly started: string },
  shell: Shell,
): Promise<readonly Candidate[]> {
  const [name, ...rest] = before;
  if (name === undefined || (name === 'help' && rest.length === 0)) return namesOfCommands(catalog);
  const entry = catalog[name];
  if (entry === undefined) return [];

  const found = await entry.load();
  const below = 'usage' in found ? (found.commands ?? []) : [];
  // A command that also runs by itself counts as a group once the name of a command below it follows.
  const loaded = below.some(({ usage }) => wordOf(usage) === rest[0]) ? below : found;
  if (loaded === found && below.length > 0 && rest.length === 0 && !started.startsWith('-'))
    return below.map(candidateOf);
  const isGroup = !('usage' in loaded);
  const commands: readonly CliCommand[] = isGroup ? loaded : [loaded];
  if (isGroup && rest.length === 0) {
    const shown = commands.filter(({ isRedirect }) => isRedirect !== true);
    return shown.map(candidateOf);
  }
  const command = isGroup ? commands.find(({ usage }) => wordOf(usage) === rest[0]) : commands[0];
  if (command === undefined) return [];

  const line = readLine(command, isGroup ? rest.slice(1) : rest);
  if (line.awaiting !== undefined) return valuesOf(line.awaiting, line.given, started, shell);
  if (started.startsWith('-')) return namesOfOptions(command, line.given);
  const placeholder = command.usage.split(' ')[1 + line.count] ?? lastRepeated(command.usage);
  return placeholder === undefined
    ? namesOfOptions(command, line.given)
    : valuesOf({ about: '', value: placeholder }, line.given, started, shell);
}

function candidateOf({ usage, about }: CliCommand): Candidate {
  return { word: wordOf(usage), about: firstSentence(about) };
}

function namesOfCommands(catalog: Catalog): readonly Candidate[] {
  return Object.entries(catalog)
    .filter(([, { isInternal }]) => isInternal !== true)
    .map(([word, { summary }]) => ({ word, about: summary }));
}

function namesOfOptions({ options }: CliCommand, given: ReadonlyMap<string, string>): readonly Candidate[] {
  return Object.entries(options)
    .filter(([name]) => !given.has(name))
    .flatMap(([name, { about, no }]) => [
      { word: flagOf(name), about },
      ...(no ? [{ word: flagOf(name).replace('--', '--no-'), about: no }] : []),
    ]);
}

/** What a command line has so far. */
interface Line {
  /** Options and arguments by name; an option without a value is empty. */
  readonly given: Map<string, string>;
  /** Arguments so far. */
  readonly count: number;
  /** The option whose value is being written. */
  readonly awaiting?: OptionSpec;
}

function readLine({ usage, options }: CliCommand, words: readonly string[]): Line {
  const names = usage
    .split(' ')
    .slice(1)
    .map((word) => word.replace(/[^\w-]/g, ''));
  const given = new Map<string, string>();
  let count = 0;
  let awaiting: readonly [string, OptionSpec] | undefined;

  for (const word of words) {
    if (awaiting !== undefined) {
      given.set(awaiting[0], word);
      awaiting = undefined;
    } else if (word.startsWith('--')) {
      const found = Object.entries(options).find(([name]) => flagOf(name) === word.replace('--no-', '--'));
      if (found !== undefined && found[1].value !== undefined) awaiting = found;
      else if (found !== undefined) given.set(found[0], '');
    } else {
      given.set(names[count] ?? names.at(-1) ?? '', word);
      count++;
    }
  }
  return { given, count, ...(awaiting && { awaiting: awaiting[1] }) };
}

/** The argument that takes all further words, such as `[keys...]`. */
function lastRepeated(usage: string): string | undefined {
  const last = usage.split(' ').at(-1);
  return last?.endsWith('...]') ? last : undefined;
}

/** The values that an option or an argument can have. */
async function valuesOf(
  { choices, value = '' }: OptionSpec,
  given: ReadonlyMap<string, string>,
  started: string,
  shell: Shell,
): Promise<readonly Candidate[]> {
  if (choices !== undefined) return choices.map((word) => ({ word, about: '' }));
  const kind = value.replace(/[^a-z]/g, '');
  if (kind === 'shell') return SHELLS.map((word) => ({ word, about: '' }));
  if (kind === 'file' || kind === 'folder') return pathsFrom(started);
  if (kind === 'profile')
    return readProfiles(shell.env).profiles.map(({ name, url }) => ({ word: name, about: url }));

  const project = given.get('project') || shell.env.HALYARD_PROJECT || '';
  const list = listOf(kind, project, given.get('key') ?? '');
  if (list === undefined) return [];
  const options = Object.fromEntries(
    ['url', 'token', 'data', 'profile'].flatMap((name) => (given.get(name) ? [[name, given.get(name)]] : [])),
  );
  // Flags come in pages.
  const query = list.member === 'flags' ? { limit: '1000' } : {};
  const request = { path: list.path, query, timeoutMs: TIMEOUT_MS };
  const { fields } = await connect(shell, options).request(request);
  return fields.list(list.member).map((item) => ({
    word: item.text(list.name),
    about: item.optionalText('description')?.split('\n')[0]?.slice(0, 60) ?? '',
  }));
}

/** The list of the server that has the names of a kind; `undefined` where it has none. */
function listOf(kind: string, project: string, key: string) {
  if (kind === 'project') return { path: apiPath`/projects`, member: 'projects', name: 'name' };
  if (project === '') return undefined;
  if (kind === 'environment')
    return { path: apiPath`/projects/${project}/environments`, member: 'environments', name: 'name' };
  if (kind === 'key' || kind === 'keys')
    return { path: apiPath`/projects/${project}/flags`, member: 'flags', name: 'key' };
  if (kind === 'valuename' && key !== '')
    return { path: apiPath`/projects/${project}/flags/${key}`, member: 'namedValues', name: 'name' };
  return undefined;
}

function pathsFrom(started: string): readonly Candidate[] {
  const folder = started.endsWith('/') ? started : dirname(started);
  return readdirSync(folder, { withFileTypes: true }).map((entry) => {
    const path = started.includes('/') ? join(folder, entry.name) : entry.name;
    return { word: entry.isDirectory() ? `${path}/` : path, about: '' };
  });
}

function wordOf(usage: string): string {
  return usage.split(' ')[0] ?? '';
}

function firstSentence(text: string): string {
  return text.split('. ')[0]?.replace(/\.$/, '') ?? '';
}
