import { FLAG_KEY_PATTERN, NAME_PATTERN } from '@halyard/protocol';
import type { Actor } from '../domain/audit.ts';
import { invalid, quote } from '../domain/errors.ts';
import type { FlagDetails } from '../domain/project.ts';
import { shorten, visibleName } from '../domain/text.ts';

/** Maximum lengths of texts, in characters. */
export const MAX_TEXT = { description: 2000, label: 100, note: 1000, tag: 50 } as const;

/** Most tags on one flag. */
export const MAX_TAGS = 20;

/** Refuses a name that no project, environment or webhook may have. */
export function checkName(what: 'project' | 'environment' | 'webhook', name: string): void {
  if (NAME_PATTERN.test(name)) return;
  throw invalid(
    `${quote(name)} cannot be the name of ${what === 'environment' ? 'an' : 'a'} ${what}: ` +
      'use 1 to 64 lower-case letters, digits and "-", beginning with a letter or digit.',
  );
}

/** Refuses a key that no new flag may have. */
export function checkFlagKey(key: string): void {
  if (FLAG_KEY_PATTERN.test(key)) return;
  throw invalid(
    `${quote(key)} cannot be a flag key: ` +
      'use 1 to 128 letters, digits, ".", "_" and "-", beginning with a letter or digit.',
  );
}

/** Refuses a name of a key, a token or a person that is blank or too long. Returns it trimmed, without invisible characters. */
export function checkLabel(name: string): string {
  const label = visibleName(name);
  if (label !== '' && label.length <= MAX_TEXT.label && !hasControl(label)) return label;
  throw invalid(
    `"name" must be 1 to ${MAX_TEXT.label} characters on one line, such as "website production".`,
  );
}

/** Refuses a description that is too long. */
function checkDescription(description: string): void {
  if (description.length <= MAX_TEXT.description) return;
  throw invalid(
    `"description" has ${description.length} characters: at most ${MAX_TEXT.description} are kept.`,
  );
}

/** Refuses tags that are blank, too long, too many or repeated. */
function checkTags(tags: readonly string[]): void {
  if (tags.length > MAX_TAGS)
    throw invalid(`"tags" has ${tags.length} entries: at most ${MAX_TAGS} are kept.`);
  for (const tag of tags) {
    if (tag.trim() !== tag || tag === '' || tag.length > MAX_TEXT.tag || hasControl(tag)) {
      throw invalid(
        `"tags" has ${quote(tag)}: a tag is 1 to ${MAX_TEXT.tag} characters without spaces at the start or end.`,
      );
    }
  }
  if (new Set(tags).size < tags.length) throw invalid('"tags" contains a tag twice: list each once.');
}

/** Refuses an owner that is too long or not on one line. */
function checkOwner(owner: string): void {
  if (owner.trim() === owner && owner.length <= MAX_TEXT.label && !hasControl(owner)) return;
  throw invalid(`"owner" must be at most ${MAX_TEXT.label} characters on one line, such as "Team Checkout".`);
}

/** Refuses details of a flag that are too long, or not of their form. */
export function checkDetails({ description, tags, owner }: Partial<FlagDetails>): void {
  if (description !== undefined) checkDescription(description);
  if (tags !== undefined) checkTags(tags);
  if (owner !== undefined) checkOwner(owner);
}

/** Refuses an expiry that is not in the future. */
export function checkExpiry(expiresAt: number | undefined, now: number): void {
  if (expiresAt === undefined || expiresAt > now) return;
  throw invalid('"expiresAt" is not in the future: send a later time, or leave it out to never expire.');
}

/** Whether a text has control characters, which break terminals and log lines, or halves of characters. */
export function hasControl(text: string): boolean {
  return /[\p{Cc}\p{Cs}]/u.test(text);
}

/** Prefixes a person's note, cut to the longest note allowed. */
export function prefixNote(own: string, note: string | undefined): string {
  if (note === undefined) return own;
  return shorten(`${own}: ${note}`, MAX_TEXT.note);
}

/** Refuses a note on a change that is too long. */
export function checkNote(note: string): void {
  if (note.length <= MAX_TEXT.note) return;
  throw invalid(`The note has ${note.length} characters: at most ${MAX_TEXT.note} are kept.`);
}

/** The actor with the note of a record, such as a schedule, as the note of the change that creates it. */
export function notedBy(actor: Actor, note: string): Actor {
  return note === '' ? actor : { ...actor, note };
}

/** Reads the `seq` of a change from a path. `invalid_argument`. */
export function readSeq(text: string): number {
  const seq = Number(text);
  if (/^\d{1,16}$/.test(text) && Number.isSafeInteger(seq)) return seq;
  throw invalid(`${quote(text)} is not the number of a change: give its "seq", such as 42.`);
}
