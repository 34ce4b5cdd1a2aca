import { setImmediate } from 'node:timers/promises';
import { defined, ENVIRONMENT_COLORS, elementsOf, VALUE_KINDS } from '@halyard/protocol';
import { invalid, quote, ServiceError } from '../../domain/errors.ts';
import { readState } from '../../domain/flag-state-text.ts';
import { checkKindOfValues, NO_NAMED_VALUES, readNamedValues } from '../../domain/named-values.ts';
import type { StateText } from '../../domain/project.ts';
import { at, invalidAt, memberPath, readEntries, readMembers } from '../../domain/strict-members.ts';
import { parseBody } from '../../management/api/body.ts';
import { checkDetails, checkFlagKey, checkName } from '../../management/rules.ts';
import {
  DECLARATION_VERSION,
  type Declaration,
  type DeclarationFormat,
  type DeclaredEnvironment,
  type DeclaredFlag,
  SECTIONS_VERSION,
} from './document.ts';
import { GUARD_MEMBERS, once, readSections } from './sections.ts';

/** The sections that are members of the document itself. */
const SECTION_NAMES = ['keys', 'webhooks', 'members'] as const;

/** Flags that are read before other requests are served. */
const FLAGS_AT_ONCE = 200;

/** The flags of one document at most. */
const MAX_FLAGS = 100_000;

/**
 * Reads a declaration from a file's text. Unknown members, another version, environments not listed, and invalid names
 * and states are `invalid_argument` with the line and the place in the message. YAML takes much memory while it is read: its
 * limit is lower unless `isLarge`.
 */
export async function readDocument(
  text: string,
  format: DeclarationFormat,
  isLarge = true,
): Promise<Declaration> {
  // The parser of YAML is large, and few requests need it.
  const loadYaml = () => import('./yaml-text.ts');
  if (format === 'json') parseBody(text, 'document');
  try {
    return await readDeclaration(
      format === 'yaml' ? await (await loadYaml()).yamlToJson(text, isLarge) : text,
    );
  } catch (error) {
    if (!(error instanceof ServiceError) || error.place === undefined) throw error;
    const line = await (await loadYaml()).lineOf(text, error.place);
    if (line === undefined) throw error;
    throw invalid(`Line ${line}: ${error.message}`, { cause: error });
  }
}

/** As {@link readDocument}, from text that must be valid JSON; the message has the place alone. */
export async function readDeclaration(text: string): Promise<Declaration> {
  const members = readMembers(text, '', {
    required: ['halyard', 'project', 'environments', 'flags'],
    optional: SECTION_NAMES,
    whole: 'The document',
  });
  const member = (name: string): string => members.get(name) ?? 'null';
  const version: unknown = JSON.parse(member('halyard'));
  if (version !== DECLARATION_VERSION && version !== SECTIONS_VERSION) {
    const versions = `${DECLARATION_VERSION} or ${SECTIONS_VERSION}`;
    throw invalidAt('halyard', `must be ${versions}, the version of the document format.`);
  }
  const early = version === DECLARATION_VERSION && SECTION_NAMES.find((name) => members.has(name));
  if (early)
    throw invalidAt(early, `needs "halyard": ${SECTIONS_VERSION}, the version of the document format.`);
  const project = readText(member('project'), 'project');
  within('project', () => checkName('project', project));
  const environments = readEnvironments(member('environments'), version === SECTIONS_VERSION);
  const listed = new Set(environments.map(({ name }) => name));
  const flags = new Map<string, DeclaredFlag>();

  for (const [key, flag] of readEntries(member('flags'), 'flags')) {
    if (flags.size >= MAX_FLAGS)
      throw invalid(`The document has more than ${MAX_FLAGS} flags: split the project.`);
    within(`flags.${key}`, () => checkFlagKey(key));
    flags.set(
      key,
      inFlag(key, () => readFlag(flag, `flags.${key}`, listed)),
    );
    if (flags.size % FLAGS_AT_ONCE === 0) await setImmediate();
  }

  const sections = {
    keys: members.get('keys'),
    webhooks: members.get('webhooks'),
    members: members.get('members'),
  };
  return { project, environments, flags, ...readSections(sections, listed) };
}

function readEnvironments(text: string, hasGuards: boolean): readonly DeclaredEnvironment[] {
  const elements = elementsOf(text);
  if (elements === undefined) throw invalidAt('environments', 'must be a list.');
  const environments = elements.map((element, index) =>
    readEnvironment(element, `environments[${index}]`, hasGuards),
  );
  return once('environments', environments, ({ name }) => name);
}

function readEnvironment(text: string, path: string, hasGuards: boolean): DeclaredEnvironment {
  const data: unknown = JSON.parse(text);
  if (typeof data === 'string') {
    within(path, () => checkName('environment', data));
    return { name: data };
  }

  const members = readMembers(text, path, {
    required: ['name'],
    optional: ['protected', 'color', ...(hasGuards ? GUARD_MEMBERS : [])],
  });
  const namePath = memberPath(path, 'name');
  const name = readText(members.get('name') ?? '""', namePath);
  within(namePath, () => checkName('environment', name));

  const guard = members.get('protected');
  const color = members.get('color');
  return {
    name,
    appearance: {
      ...(guard !== undefined && { protected: readBoolean(guard, memberPath(path, 'protected')) }),
      ...(color !== undefined && { color: readWord(color, memberPath(path, 'color'), ENVIRONMENT_COLORS) }),
      ...readGuards(members, path),
    },
  };
}

function readGuards(members: ReadonlyMap<string, string>, path: string) {
  const approvals = members.get('approvals');
  const [emergencyOff, reasonRequired] = (['emergencyOff', 'reasonRequired'] as const).map((name) => {
    const text = members.get(name);
    return text === undefined ? undefined : readBoolean(text, memberPath(path, name));
  });

  const count: unknown = approvals === undefined ? undefined : JSON.parse(approvals);
  if (count !== undefined && count !== 0 && count !== 1 && count !== 2)
    throw invalidAt(memberPath(path, 'approvals'), 'must be 0, 1 or 2.');
  return defined({ approvals: count, emergencyOff, reasonRequired });
}

function readWord<T extends string>(text: string, path: string, words: readonly T[]): T {
  const data: unknown = JSON.parse(text);
  const word = words.find((one) => one === data);
  if (word === undefined) throw invalidAt(path, `must be one of ${words.join(', ')}.`);
  return word;
}

const FLAG_MEMBERS = [
  'description',
  'tags',
  'owner',
  'permanent',
  'valueKind',
  'namedValues',
  'archived',
  'environments',
];

function readFlag(text: string, path: string, environments: ReadonlySet<string>): DeclaredFlag {
  const members = readMembers(text, path, { required: [], optional: FLAG_MEMBERS });
  const description = readText(members.get('description') ?? '""', memberPath(path, 'description'));
  const tags = readTexts(members.get('tags') ?? '[]', memberPath(path, 'tags'));
  const ownerText = members.get('owner');
  const owner = ownerText === undefined ? {} : { owner: readText(ownerText, memberPath(path, 'owner')) };
  const mark = (name: string) => readBoolean(members.get(name) ?? 'false', memberPath(path, name));
  const valueKind = readWord(members.get('valueKind') ?? '"any"', memberPath(path, 'valueKind'), VALUE_KINDS);
  const valuesPath = memberPath(path, 'namedValues');
  const namedValues = readNamedValues(members.get('namedValues') ?? NO_NAMED_VALUES, valuesPath);
  checkKindOfValues({ namedValues, valueKind }, valuesPath);
  const details = { description, tags, ...owner, permanent: mark('permanent'), valueKind, namedValues };
  within(path, () => checkDetails(details));

  const place = memberPath(path, 'environments');
  const states = new Map<string, StateText>();
  for (const [name, state] of readEntries(members.get('environments') ?? '{}', place)) {
    if (!environments.has(name)) {
      const message = `${at(place)} has ${quote(name)}, which "environments" at the top does not list.`;
      throw invalid(message, { place: [memberPath(place, name)] });
    }
    states.set(name, readState(state, memberPath(place, name)));
  }
  return { ...details, archived: mark('archived'), states };
}

function readText(text: string, path: string): string {
  const data: unknown = JSON.parse(text);
  if (typeof data === 'string') return data;
  throw invalidAt(path, 'must be a string.');
}

function readBoolean(text: string, path: string): boolean {
  const data: unknown = JSON.parse(text);
  if (typeof data === 'boolean') return data;
  throw invalidAt(path, 'must be true or false.');
}

function readTexts(text: string, path: string): readonly string[] {
  const elements = elementsOf(text);
  if (elements === undefined) throw invalidAt(path, 'must be a list of strings.');
  return elements.map((element, index) => readText(element, `${path}[${index}]`));
}

/** Splits the place of an error at the key, which may have dots. */
function inFlag<T>(key: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof ServiceError) || error.place === undefined) throw error;
    const rest = (error.place[0] ?? '').slice(`flags.${key}.`.length);
    throw invalid(error.message, { cause: error, place: ['flags', key, ...(rest === '' ? [] : [rest])] });
  }
}

/** Prefixes the message of a rule with the place. */
function within(path: string, check: () => void): void {
  try {
    check();
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : String(cause);
    throw invalid(`${path}: ${message}`, { cause, place: [path] });
  }
}
