/** Carries the caller's own name for a management request, by which it finds what the request changed. */
export const REFERENCE_HEADER = 'X-Change-Reference';

/** What the server knows about a reference: the changes made under it, and whether it is still answering the request. */
export interface ReferenceRecord {
  readonly changes: readonly { readonly seq: number }[];
  readonly running: boolean;
}

/** What became of a request without an answer: the numbers of its changes, `none`, or `unknown`. */
export type LostOutcome = readonly number[] | 'none' | 'unknown';

/**
 * How long a request can still be on its way, or be answered by another node, after the caller has lost it, in
 * milliseconds: longer than a write waits for its turn, for locks and for its statements.
 */
export const STILL_POSSIBLE_MS = 20_000;

/** The pauses between two questions, in milliseconds; the last one repeats. */
const PAUSES_MS = [500, 1_000, 2_000, 3_000];

/**
 * Finds out what became of a request without an answer, by asking again until it is certain. `ask` returns `undefined`
 * while there is no answer, and `unknown` once there will never be one. Gives up `mostMs` after the beginning.
 */
export async function findOutcome({
  ask,
  pause,
  now = () => performance.now(),
  mostMs = Infinity,
}: {
  readonly ask: () => Promise<ReferenceRecord | 'unknown' | undefined>;
  readonly pause: (ms: number) => Promise<void>;
  /** Milliseconds. */
  readonly now?: () => number;
  readonly mostMs?: number;
}): Promise<LostOutcome> {
  const start = now();
  for (let count = 0; ; count++) {
    // The answer is about this moment at the earliest.
    const asked = now() - start;
    const found = await ask();
    if (found === 'unknown') return found;
    if (found?.running === false) {
      if (found.changes.length > 0) return found.changes.map(({ seq }) => seq);
      if (asked >= STILL_POSSIBLE_MS) return 'none';
    }
    if (now() - start >= mostMs) return 'unknown';
    await pause(PAUSES_MS[count] ?? 3_000);
  }
}
