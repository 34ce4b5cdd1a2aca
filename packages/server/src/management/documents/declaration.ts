import { elementsOf } from '@halyard/protocol';
import { readState } from '../../domain/flag-state-text.ts';
import type { StateText } from '../../domain/project.ts';
import { at, invalid, memberPath, quote, readEntries, readMembers } from '../../domain/strict-members.ts';
import { checkDescription, checkFlagKey, checkName, checkOwner, checkTags } from '../rules.ts';

/** The version of the declarative document that this program reads and writes. */
export const DECLARATION_VERSION = 1;

/** A project's flags as a document says them; what export writes and import reads. */
export interface Declaration {
  readonly project: string;
  /** The environments it speaks of, in their order on a screen; of others it says nothing. */
  readonly environments: readonly string[];
  readonly flags: ReadonlyMap<string, DeclaredFlag>;
}

/** One flag of a {@link Declaration}. */
export interface DeclaredFlag {
  readonly description: string;
  readonly tags: readonly string[];
  /** Absent: the document says nothing of it. */
  readonly owner?: string;
  /** By environment name; where it is absent the flag does not exist. */
  readonly states: ReadonlyMap<string, StateText>;
}

/**
 * Reads a declaration from JSON text, which must be valid JSON. Unknown members, another version, environments not
 * listed, impossible names and states are `invalid_argument` with the place in the message.
 */
export function readDeclaration(text: string): Declaration {
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
    checkDescription(description);
    checkTags(tags);
    if (owner !== undefined) checkOwner(owner);
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
  throw invalid(`${at(path)} must be a text.`);
}

function readTexts(text: string, path: string): readonly string[] {
  const elements = elementsOf(text);
  if (elements === undefined) throw invalid(`${at(path)} must be a list of texts.`);
  return elements.map((element, index) => readText(element, `${path}[${index}]`));
}

/** Puts the place in front of what a rule says. */
function within(path: string, check: () => void): void {
  try {
    check();
  } catch (cause) {
    throw invalid(`${path}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
  }
}
