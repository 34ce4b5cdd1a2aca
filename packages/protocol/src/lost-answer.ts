/** Carries the caller's own name for a management request, by which it finds what the request changed. */
export const REFERENCE_HEADER = 'X-Change-Reference';

/** What the server knows about a reference: the changes made under it, and whether it is still answering the request. */
export interface ReferenceRecord {
  readonly changes: readonly { readonly seq: number }[];
  readonly running: boolean;
}

/** The answer to closing a reference: the changes made under it, or the certainty that it makes none. */
export interface ClosedReference {
  readonly changes: readonly { readonly seq: number }[];
  readonly closed: boolean;
}

/** What became of a request without an answer: the numbers of its changes, `none`, or `unknown`. */
export type LostOutcome = readonly number[] | 'none' | 'unknown';

/**
 * How long another node may still answer the request after the caller has lost it, in milliseconds: longer than a small write
 * waits for its turn, for locks and for its statements. Then the caller closes the reference, and what comes later is refused.
 */
export const PATIENCE_MS = 20_000;

/** The pauses between two questions, in milliseconds; the last one repeats. */
const PAUSES_MS = [500, 1_000, 2_000, 3_000];

/**
 * Finds out what became of a request without an answer, by asking again until it is certain. `ask` and `close` return
 * `undefined` while there is no answer, and `unknown` once there will never be one. Gives up `mostMs` after the beginning.
 */
export async function findOutcome({
  ask,
  close,
  pause,
  now = () => performance.now(),
  mostMs = Infinity,
}: {
  readonly ask: () => Promise<ReferenceRecord | 'unknown' | undefined>;
  readonly close: () => Promise<ClosedReference | 'unknown' | undefined>;
  readonly pause: (ms: number) => Promise<void>;
  /** Milliseconds. */
  readonly now?: () => number;
  readonly mostMs?: number;
}): Promise<LostOutcome> {
  const start = now();
  for (let count = 0; ; count++) {
    const found = await ask();
    if (found === 'unknown') return found;
    if (found?.running === false) {
      if (found.changes.length > 0) return numbersOf(found);
      const closed = now() - start < PATIENCE_MS ? undefined : await close();
      if (closed === 'unknown') return closed;
      if (closed) return closed.changes.length > 0 ? numbersOf(closed) : closed.closed ? 'none' : 'unknown';
    }
    if (now() - start >= mostMs) return 'unknown';
    await pause(PAUSES_MS[count] ?? 3_000);
  }
}

function numbersOf({ changes }: Pick<ReferenceRecord, 'changes'>): readonly number[] {
  return changes.map(({ seq }) => seq);
}
