import { type ClosedReference, findOutcome, type LostOutcome, type ReferenceRecord } from '@halyard/protocol';
import { useSyncExternalStore } from 'react';
import { createWatchers } from '../browser/watchers.ts';
import { ApiError } from './api-error.ts';

/** A change whose answer was lost: what it is about, such as "cut in staging", and what becomes of it. */
interface LostAnswer {
  readonly what: string | undefined;
  readonly outcome: Promise<LostOutcome>;
}

const lost = createWatchers<LostAnswer>();

/** Calls a function when the answer to a change was lost. Returns the function that stops it. */
export const onLostAnswer = lost.watch;

let open = 0;
const { watch, tell } = createWatchers();

/** How many changes lost their answer and are still being looked up. */
export function useLostAnswers(): number {
  return useSyncExternalStore(watch, () => open);
}

function count(more: number): void {
  open += more;
  tell();
}

/** A name for a request that no other one has. Pages over plain HTTP have no `crypto.randomUUID`. */
export function newReference(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** What a change is about, as its address says. */
function subjectOf(path: string): string | undefined {
  const [, environment, key] = /\/environments\/([^/?]+)\/flags\/([^/?]+)/.exec(path) ?? [];
  if (environment !== undefined)
    return [key, environment].map((each = '') => decodeURIComponent(each)).join(' in ');
  const [, name] = /\/(?:flags|environments)\/([^/?]+)(?:\?|$)/.exec(path) ?? [];
  return name && decodeURIComponent(name);
}

/**
 * Finds out what became of the change `reference` whose answer was lost, however long the server is away. Returns the
 * error to reject with: `answer_lost` if it was made, `not_saved`, or `outcome_unknown`.
 */
export async function errorOfLost(reference: string, path: string, cause: unknown): Promise<ApiError> {
  const found = findOutcome({
    ask: () => ask(`?reference=${reference}`),
    close: () => ask(`/close?reference=${reference}`, 'POST'),
    pause: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
  });
  count(1);
  lost.tell({ what: subjectOf(path), outcome: found });
  const outcome = await found.finally(() => count(-1));
  const code = outcome === 'none' ? 'not_saved' : outcome === 'unknown' ? 'outcome_unknown' : 'answer_lost';
  const changes = typeof outcome === 'string' ? [] : outcome;
  return new ApiError({ code, message: code, status: 0, changes }, { cause });
}

async function ask<T extends ReferenceRecord | ClosedReference>(
  path: string,
  method = 'GET',
): Promise<T | 'unknown' | undefined> {
  try {
    const response = await fetch(`/api/changes${path}`, { method, cache: 'no-store' });
    // The shapes are the API's contract; anything else comes from a proxy.
    const body = (await response.json()) as Partial<T> & { readonly error?: string };
    if (response.ok && body.changes !== undefined) return body as T;
    return response.status < 500 && body.error !== undefined ? 'unknown' : undefined;
  } catch {
    // Still no connection, or no JSON.
    return undefined;
  }
}
