import { ServiceError } from '../../domain/errors.ts';
import { invalid } from '../../domain/strict-members.ts';

/**
 * Parses the `If-Match` and `If-None-Match` headers of a write. Revisions are entity tags, as in
 * `"12"`; `If-None-Match` takes `*` alone. Anything else is `invalid_argument`. A weak tag matches nothing.
 */
export function expectedRevision(headers: Headers): ExpectedRevision {
  const match = headers.get('If-Match');
  const noneMatch = headers.get('If-None-Match');
  if (noneMatch !== null && noneMatch.trim() !== '*') {
    throw invalid('On a write, If-None-Match can only be *, which means: only if it does not exist yet.');
  }
  return {
    ...(match === null ? {} : { present: readTags(match) }),
    ...(noneMatch === null ? {} : { absent: true }),
  };
}

/** A revision as an entity tag. */
export function revisionTag(revision: number): string {
  return `"${revision}"`;
}

function readTags(header: string): readonly number[] | 'any' {
  if (header.trim() === '*') return 'any';
  return header.split(',').flatMap((tag) => {
    const [, weak, revision] = /^(W\/)?"(\d{1,15})"$/.exec(tag.trim()) ?? [];
    if (revision === undefined) {
      throw invalid('The header If-Match must be a revision in quotes, such as "12", or *.');
    }
    return weak === undefined ? [Number(revision)] : [];
  });
}

/** The revision that the writer expects; checked under the lock. Without members nothing is checked. */
export interface ExpectedRevision {
  /** One of these revisions, or `any` for whatever it is as long as it exists. (If-Match) */
  readonly present?: readonly number[] | 'any';
  /** It must not exist yet. (If-None-Match: *) */
  readonly absent?: true;
}

/** Refuses with `revision_conflict` what another writer changed first; `current` is `undefined` when it does not exist. */
export function checkRevision(expected: ExpectedRevision, current: number | undefined): void {
  if (expected.absent === true && current !== undefined) {
    throw conflict(`it already exists, at revision ${current}: read it, then retry.`);
  }
  const { present } = expected;
  if (present === undefined || (present === 'any' && current !== undefined)) return;
  if (current === undefined) throw conflict('it does not exist: read again, then retry.');
  if (present !== 'any' && present.includes(current)) return;
  throw conflict(`it is now at revision ${current}: read it, then retry.`);
}

function conflict(what: string): ServiceError {
  return new ServiceError('revision_conflict', `Nothing was changed, because ${what}`);
}
