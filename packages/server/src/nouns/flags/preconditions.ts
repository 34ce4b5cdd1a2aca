import { invalid } from '../../domain/errors.ts';
import type { ExpectedRevision } from '../../management/write.ts';

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
