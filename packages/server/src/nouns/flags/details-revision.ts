import { detailsOf, detailsRecord, type FlagDetails } from '../../domain/project.ts';
import { writeJson } from '../../domain/raw-json.ts';

/** So many hexadecimal digits make a number of at most 15 decimal digits, the most that a revision in `If-Match` has. */
const DIGITS = 12;

/**
 * The revision of a flag's details, for `If-Match`: a number that differs when they do. It is made of what they say, so that it needs no
 * column and is right for flags of older versions; it says nothing about the order of changes. (Spec: S21.5)
 */
export function detailsRevision(flag: FlagDetails): number {
  const text = writeJson(detailsRecord(detailsOf(flag)));
  return Number.parseInt(Bun.SHA256.hash(text, 'hex').slice(0, DIGITS), 16);
}
