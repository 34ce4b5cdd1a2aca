import { setImmediate } from 'node:timers/promises';
import { elementsOf } from '@halyard/protocol';
import { invalid, quote } from '../../domain/errors.ts';
import { readState } from '../../domain/flag-state-text.ts';
import type { StateText } from '../../domain/project.ts';
import type { StoreReader } from '../../domain/store.ts';
import { at, memberPath, readEntries, readMembers } from '../../domain/strict-members.ts';
import type { ManagementContext } from '../context.ts';
import { readable } from '../flags/flags.ts';
import { findProject } from '../lookup.ts';
import { checkDetails, checkFlagKey, checkName } from '../rules.ts';

/** The version of the declarative document that this program reads and writes. */
export const DECLARATION_VERSION = 1;

/** A project's flags as a document: export writes it, import reads it. */
export interface Declaration {
  readonly project: string;
  /** The environments it covers, in display order. Others stay unchanged. */
  readonly environments: readonly string[];
  readonly flags: ReadonlyMap<string, DeclaredFlag>;
}

/** One flag of a {@link Declaration}. */
export interface DeclaredFlag {
  readonly description: string;
  readonly tags: readonly string[];
  /** Absent: the owner stays unchanged. */
  readonly owner?: string;
  /** By environment name; the flag does not exist in absent environments. */
  readonly states: ReadonlyMap<string, StateText>;
}

/** Flags that are read before other requests are served. */
const FLAGS_AT_ONCE = 200;

/**
 * Reads a declaration from JSON text, which must be valid JSON. Unknown members, another version, environments not
 * listed, and invalid names and states are `invalid_argument` with the place in the message.
 */
export async function readDeclaration(text: string): Promise<Declaration> {
  const members = readMembers(text, '', {
    required: ['halyard', 'project', 'environments', 'flags'],
    optional: [],
    whole: 'The document',
  });
  const member = (name: string): string => members.get(name) ?? 'null';
  if (JSON.parse(member('halyard')) !== DECLARATION_VERSION) {
    throw invalid(`"halyard" must be ${DECLARATION_VERSION}, the version of the document format.`);
  }
  const project = readText(member('project'), 'project');
  checkName('project', project);
  const environments = readTexts(member('environments'), 'environments');
  for (const environment of environments) checkName('environment', environment);
  if (new Set(environments).size < environments.length) {
    throw invalid('"environments" has a name twice: give each once.');
  }
  const listed = new Set(environments);
  const flags = new Map<string, DeclaredFlag>();
  for (const [key, flag] of readEntries(member('flags'), 'flags')) {
    checkFlagKey(key);
    flags.set(key, readFlag(flag, `flags.${key}`, listed));
    if (flags.size % FLAGS_AT_ONCE === 0) await setImmediate();
  }
  return { project, environments, flags };
}

function readFlag(text: string, path: string, environments: ReadonlySet<string>): DeclaredFlag {
  const members = readMembers(text, path, {
    required: [],
    optional: ['description', 'tags', 'owner', 'environments'],
  });
  const description = readText(members.get('description') ?? '""', memberPath(path, 'description'));
  const tags = readTexts(members.get('tags') ?? '[]', memberPath(path, 'tags'));
  const ownerText = members.get('owner');
  const owner = ownerText === undefined ? undefined : readText(ownerText, memberPath(path, 'owner'));
  within(path, () => {
    checkDetails({ description, tags, ...(owner !== undefined && { owner }) });
  });
  const place = memberPath(path, 'environments');
  const states = new Map<string, StateText>();
  for (const [name, state] of readEntries(members.get('environments') ?? '{}', place)) {
    if (!environments.has(name)) {
      throw invalid(`${at(place)} has ${quote(name)}, which "environments" at the top does not list.`);
    }
    states.set(name, readState(state, memberPath(place, name)));
  }
  return { description, tags, ...(owner === undefined ? {} : { owner }), states };
}

function readText(text: string, path: string): string {
  const data: unknown = JSON.parse(text);
  if (typeof data === 'string') return data;
  throw invalid(`${at(path)} must be a string.`);
}

function readTexts(text: string, path: string): readonly string[] {
  const elements = elementsOf(text);
  if (elements === undefined) throw invalid(`${at(path)} must be a list of strings.`);
  return elements.map((element, index) => readText(element, `${path}[${index}]`));
}

/** Prefixes the message of a rule with the place. */
function within(path: string, check: () => void): void {
  try {
    check();
  } catch (cause) {
    throw invalid(`${path}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
  }
}

/** The formats of a declaration. */
export type DeclarationFormat = 'json' | 'yaml';

/**
 * Writes a declaration, sorted by names and keys, so that equal projects have equal bytes. Each state is on one
 * line, with its value exactly as stored.
 */
export function writeDeclaration(declaration: Declaration, format: DeclarationFormat): string {
  return format === 'json' ? writeJsonForm(declaration) : writeYamlForm(declaration);
}

function writeJsonForm({ project, environments, flags }: Declaration): string {
  const entries = sorted(flags).map(([key, flag]) => `    ${json(key)}: ${jsonFlag(flag)}`);
  return `{
  "halyard": ${DECLARATION_VERSION},
  "project": ${json(project)},
  "environments": ${jsonList(environments)},
  "flags": ${block(entries, '  ')}
}
`;
}

function jsonFlag(flag: DeclaredFlag): string {
  const states = sorted(flag.states).map(([name, state]) => `        ${json(name)}: ${state}`);
  const members = [
    ...(flag.description === '' ? [] : [`      "description": ${json(flag.description)}`]),
    ...(flag.tags.length === 0 ? [] : [`      "tags": ${jsonList(flag.tags)}`]),
    ...(flag.owner === undefined ? [] : [`      "owner": ${json(flag.owner)}`]),
    ...(states.length === 0 ? [] : [`      "environments": ${block(states, '      ')}`]),
  ];
  return block(members, '    ');
}

/** YAML 1.2 accepts JSON within a line, so strings and states are written as JSON. */
function writeYamlForm({ project, environments, flags }: Declaration): string {
  const head = [
    `halyard: ${DECLARATION_VERSION}`,
    `project: ${yamlKey(project)}`,
    `environments: [${environments.map(yamlKey).join(', ')}]`,
  ];
  if (flags.size === 0) return `${[...head, 'flags: {}'].join('\n')}\n`;
  const entries = sorted(flags).flatMap(([key, flag]) => yamlFlag(key, flag));
  return `${[...head, 'flags:', ...entries].join('\n')}\n`;
}

function yamlFlag(key: string, flag: DeclaredFlag): readonly string[] {
  const states = sorted(flag.states).map(([name, state]) => `      ${yamlKey(name)}: ${state}`);
  const lines = [
    ...(flag.description === '' ? [] : [`    description: ${json(flag.description)}`]),
    ...(flag.tags.length === 0 ? [] : [`    tags: ${jsonList(flag.tags)}`]),
    ...(flag.owner === undefined ? [] : [`    owner: ${json(flag.owner)}`]),
    ...(states.length === 0 ? [] : ['    environments:', ...states]),
  ];
  return lines.length === 0 ? [`  ${yamlKey(key)}: {}`] : [`  ${yamlKey(key)}:`, ...lines];
}

/** Words that a YAML reader, of 1.1 or 1.2, reads as something other than a string. */
const YAML_WORDS = new Set(['true', 'false', 'null', 'yes', 'no', 'on', 'off', 'y', 'n']);

function yamlKey(text: string): string {
  return /^[A-Za-z][\w-]*$/.test(text) && !YAML_WORDS.has(text.toLowerCase()) ? text : json(text);
}

function block(lines: readonly string[], indent: string): string {
  return lines.length === 0 ? '{}' : `{\n${lines.join(',\n')}\n${indent}}`;
}

function jsonList(texts: readonly string[]): string {
  return `[${texts.map(json).join(', ')}]`;
}

function json(text: string): string {
  return JSON.stringify(text);
}

function sorted<T>(map: ReadonlyMap<string, T>): readonly (readonly [string, T])[] {
  return [...map].sort(([a], [b]) => (a < b ? -1 : 1));
}

/** A whole project as a declaration, archived flags left out. `project_not_found`. */
export function exportProject(context: ManagementContext, project: string): Promise<Declaration> {
  return context.store.read((reader) => declare(reader, project));
}

async function declare(reader: StoreReader, project: string): Promise<Declaration> {
  const { id, name } = await findProject(reader, project);
  const environments = await reader.environments(id);
  const flags = new Map<string, DeclaredFlag & { readonly states: Map<string, StateText> }>();
  for (const { key, description, tags, owner, archivedAt } of await reader.flags(id)) {
    if (archivedAt !== undefined) continue;
    flags.set(key, { description, tags, ...(owner === '' ? {} : { owner }), states: new Map() });
  }
  for (const environment of environments) {
    for (const { flagKey, state } of readable(await reader.states(environment.id))) {
      flags.get(flagKey)?.states.set(environment.name, state);
    }
  }
  return { project: name, environments: environments.map((environment) => environment.name), flags };
}
