import { isRecord } from '@halyard/protocol';
import type { PublishedMap } from './publication.ts';

/** The file that names the newest map. (Spec: S18.3) */
export const POINTER = 'pointer.json';

/** The newest map as flagd reads it. (Spec: S18.3) */
export const FLAGD = 'flagd.json';

/** Objects never change; what names the newest may be a second old, and anything is better than nothing. */
export const CACHE = {
  object: 'public, max-age=31536000, immutable',
  newest: 'public, max-age=1, stale-if-error=86400',
} as const;

/** What the pointer says. */
export interface Pointer {
  readonly environmentId: string;
  readonly revision: number;
  readonly hash: string;
  /** When the revision was published, and when it was last known to be the newest; ISO 8601. */
  readonly publishedAt: string;
  readonly checkedAt: string;
}

/**
 * The name of the object with a map. It has the revision, so that no later one has the same name: an object that is no longer
 * the newest never becomes it again, and can be removed.
 */
export function objectName({ revision, hash }: Pick<PublishedMap, 'revision' | 'hash'>): string {
  return `${revision}-${hash}.json`;
}

/** The text of a pointer. */
export function pointerText(pointer: Pointer): string {
  return JSON.stringify({ version: 1, ...pointer, object: objectName(pointer) });
}

/** Reads a pointer that was stored; `undefined` if it is not one of this version. */
export function parsePointer(text: string): Pointer | undefined {
  let raw: unknown;
  try {
    raw = JSON.parse(text);
  } catch {
    // Something else is there under the name.
    return undefined;
  }
  if (!isRecord(raw) || raw.version !== 1 || !Number.isSafeInteger(raw.revision)) return undefined;
  const texts = [raw.environmentId, raw.hash, raw.publishedAt, raw.checkedAt];
  // Every member has been checked.
  return texts.every((each) => typeof each === 'string') ? (raw as unknown as Pointer) : undefined;
}
