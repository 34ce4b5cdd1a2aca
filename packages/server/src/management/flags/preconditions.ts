import { ServiceError } from '../../domain/errors.ts';
import { invalid } from '../../domain/strict-members.ts';

/**
 * What a write expects, from its `If-Match` and `If-None-Match` headers. Revisions are given as entity tags, as in
 * `"12"`; `If-None-Match` takes `*` alone. Anything else is `invalid_argument`. A weak tag matches nothing.
 */
export function expectedRevision(headers: Headers): ExpectedRevision {
  const match = headers.get('If-Match');
  const noneMatch = headers.get('If-None-Match');
  if (noneMatch !== null && noneMatch.trim() !== '*') {
    throw invalid('On a write the header If-None-Match can only be *: it asks that nothing is there yet.');
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

/** What the writer believes to be there; checked under the lock. Nothing given, nothing checked. */
export interface ExpectedRevision {
  /** One of these revisions, or `any` for whatever it is as long as it exists. (If-Match) */
  readonly present?: readonly number[] | 'any';
  /** Nothing is there yet. (If-None-Match: *) */
  readonly absent?: true;
}

/** Refuses with `revision_conflict` when somebody else was faster; `current` is `undefined` where nothing is. */
export function checkRevision(expected: ExpectedRevision, current: number | undefined): void {
  if (expected.absent === true && current !== undefined) {
    throw conflict(`it exists already, at revision ${current}: read it and decide again.`);
  }
  const { present } = expected;
  if (present === undefined || (present === 'any' && current !== undefined)) return;
  if (current === undefined) throw conflict('it does not exist (any more): read again and decide again.');
  if (present !== 'any' && present.includes(current)) return;
  throw conflict(`it is at revision ${current} by now: read it and decide again.`);
}

function conflict(what: string): ServiceError {
  return new ServiceError('revision_conflict', `Nothing was changed, because ${what}`);
}
