import { ServiceError } from '../../domain/errors.ts';

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
