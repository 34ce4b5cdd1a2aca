import { isAboutPeople } from './audit.ts';

/** Stands in an audit entry for what was removed. */
export const REMOVED = '[removed]';

/** The row of an audit entry, with everything that its hash covers. */
export interface AuditRow {
  readonly id: string;
  readonly seq: number;
  readonly operation: number | null;
  readonly position: number;
  readonly actor: string;
  readonly ip: string | null;
  readonly note: string | null;
  readonly reference: string | null;
  readonly action: string;
  readonly projectId: string | null;
  readonly environmentId: string | null;
  readonly target: string;
  readonly before: string | null;
  readonly after: string | null;
  readonly at: number;
}

/** What looks like an email address. The characters that end it are also those that end a text in JSON. */
const ADDRESS = /[^\s"'\\<>()[\]{},;:=|@]+(?:@[^\s"'\\<>()[\]{},;:=|@]+)+/g;

/** A member of JSON text that names a person, in entries about people. */
const NAME = /"name":"(?:[^"\\]|\\.)*"/g;

const PERSON = 'operator:';

/** The author of an entry, where that was a person. */
export const REMOVED_PERSON = `${PERSON}${REMOVED}`;

/**
 * The entry without personal data: people as authors, names in entries about people, email addresses anywhere, and the client's
 * address. What it returns has nothing left to remove. Blocks of the chain are made with it, so it never changes: a new rule is a
 * new format of blocks. (Spec: S24.4)
 */
export function redact(entry: AuditRow): AuditRow {
  const { actor, note, reference, target, before, after } = entry;
  const json = (text: string | null) => {
    const rest = withoutAddresses(text);
    return isAboutPeople(entry.action) ? (rest?.replace(NAME, `"name":"${REMOVED}"`) ?? null) : rest;
  };

  return {
    ...entry,
    actor: actor.startsWith(PERSON) ? REMOVED_PERSON : (withoutAddresses(actor) ?? ''),
    ip: null,
    note: withoutAddresses(note),
    reference: withoutAddresses(reference),
    target: withoutAddresses(target) ?? '',
    before: json(before),
    after: json(after),
  };
}

function withoutAddresses(text: string | null): string | null {
  return text?.includes('@') ? text.replace(ADDRESS, REMOVED) : text;
}
