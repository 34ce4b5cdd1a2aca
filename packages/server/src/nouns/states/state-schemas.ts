import type { StoredState } from '../../domain/project.ts';
import { RawJson } from '../../domain/raw-json.ts';
import { isoTime } from '../../management/api/answers.ts';

/** A state as it is answered, with its revision, author and own text. */
export function stateRecord({ state, revision, updatedAt, updatedBy }: StoredState) {
  const who = updatedBy === '' ? {} : { updatedBy };
  return { state: new RawJson(state), revision, updatedAt: isoTime(updatedAt), ...who };
}
