import { membersOf } from '@halyard/protocol';
import { invalid, quote } from './errors.ts';

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
      throw invalid(
        `${at(path, rules.whole)} has an unknown member ${quote(name)}: it takes ${list(allowed)}.`,
      );
    }
  }
  for (const name of rules.required) {
    if (!members.has(name)) throw invalid(`${at(path, rules.whole)} lacks the member "${name}".`);
  }
  return members;
}

/** Reads an object whose member names are data, such as flag keys; a repeated name is `invalid_argument`. */
export function readEntries(text: string, path: string, whole?: string): ReadonlyMap<string, string> {
  const entries = membersOf(text);
  if (entries === undefined) throw invalid(`${at(path, whole)} is not an object: expected { … }.`);
  const members = new Map(entries);
  if (members.size < entries.length) {
    throw invalid(
      `${at(path, whole)} has the member ${quote(firstTwice(entries))} more than once: give it once.`,
    );
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

/** The path of a member of the object at `path`. */
export function memberPath(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`;
}

function list(names: readonly string[]): string {
  return names.map((name) => `"${name}"`).join(', ');
}
