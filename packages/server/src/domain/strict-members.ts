import { membersOf } from '@halyard/protocol';
import { invalid, quote, type ServiceError } from './errors.ts';

/** Which members an object may have, and which it must. */
export interface MemberRules {
  readonly required: readonly string[];
  readonly optional: readonly string[];
  /** How messages name the object at the empty path. Default `The body`. */
  readonly whole?: string;
}

/**
 * Reads an object that may have no other members than the named ones, each at most once, as raw texts by name.
 * `path` says in the message where the object is, as in `flags.dark-mode`; empty for the whole body. Anything else
 * is `invalid_argument`. The text must be valid JSON.
 */
export function readMembers(text: string, path: string, rules: MemberRules): ReadonlyMap<string, string> {
  const members = readEntries(text, path, rules.whole);
  const allowed = [...rules.required, ...rules.optional];
  for (const name of members.keys()) {
    if (!allowed.includes(name)) {
      const message = `${at(path, rules.whole)} has an unknown member ${quote(name)}: it takes ${list(allowed)}.`;
      throw invalid(message, { place: [memberPath(path, name)] });
    }
  }
  for (const name of rules.required) {
    if (!members.has(name)) throw invalidAt(path, `lacks the member "${name}".`, rules.whole);
  }
  return members;
}

/** Reads an object whose member names are data, such as flag keys; a repeated name is `invalid_argument`. */
export function readEntries(text: string, path: string, whole?: string): ReadonlyMap<string, string> {
  const entries = membersOf(text);
  if (entries === undefined) throw invalidAt(path, 'is not an object: expected { … }.', whole);
  const members = new Map(entries);
  if (members.size < entries.length) {
    const name = firstTwice(entries);
    const message = `${at(path, whole)} has the member ${quote(name)} more than once: give it once.`;
    throw invalid(message, { place: [memberPath(path, name)] });
  }
  return members;
}

function firstTwice(entries: readonly (readonly [name: string, text: string])[]): string {
  const seen = new Set<string>();
  for (const [name] of entries) {
    if (seen.has(name)) return name;
    seen.add(name);
  }
  return '';
}

/** How a message names a place in the body: its path in quotes, or the body itself. */
export function at(path: string, whole = 'The body'): string {
  return path === '' ? whole : `"${path}"`;
}

/** A refusal of what is at a place in the body; the sentence begins with the place. */
export function invalidAt(path: string, rest: string, whole?: string): ServiceError {
  return invalid(`${at(path, whole)} ${rest}`, { place: [path] });
}

/** The path of a member of the object at `path`. */
export function memberPath(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`;
}

function list(names: readonly string[]): string {
  return names.map((name) => `"${name}"`).join(', ');
}
