import { FlagsError } from '../errors.ts';
import { isRecord } from '../flags.ts';

/** The name of the file that says which map is the newest. */
export const POINTER = 'pointer.json';

/** What the pointer of a published environment says. */
export interface Pointer {
  readonly environmentId: string;
  readonly revision: number;
  /** When a node last confirmed that this is the newest revision; ISO 8601 in UTC, so that texts compare as times do. */
  readonly checkedAt: string;
  /** The name of the file with the map. It never changes. */
  readonly object: string;
}

/** Reads a pointer. Throws `invalid_response` for anything else. */
export function readPointer(data: unknown): Pointer {
  const { version, environmentId, revision, checkedAt, object }: Record<string, unknown> = isRecord(data)
    ? data
    : {};
  if (
    version !== 1 ||
    typeof environmentId !== 'string' ||
    typeof revision !== 'number' ||
    !Number.isSafeInteger(revision) ||
    typeof checkedAt !== 'string' ||
    Number.isNaN(Date.parse(checkedAt)) ||
    typeof object !== 'string' ||
    !/^[\w-]+\.json$/.test(object)
  )
    throw new FlagsError('invalid_response', 'it is no pointer of a published environment');
  return { environmentId, revision, checkedAt, object };
}

/**
 * Whether a pointer is older than another: a cache may have kept it. Environments of one name follow each other, and their ids
 * grow. A lower revision that was confirmed later is not older: the history was restored, which the revision gate judges.
 */
export function isOlder(pointer: Pointer, than: Pointer): boolean {
  if (pointer.environmentId !== than.environmentId) return pointer.environmentId < than.environmentId;
  if (pointer.revision === than.revision) return pointer.checkedAt < than.checkedAt;
  return pointer.revision < than.revision && pointer.checkedAt <= than.checkedAt;
}
