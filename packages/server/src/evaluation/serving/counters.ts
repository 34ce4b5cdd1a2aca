/** The operations of the evaluation interface, as metrics name them. */
export type EvaluationOperation =
  | 'all'
  | 'single'
  | 'batch'
  | 'stream'
  | 'ofrep-single'
  | 'ofrep-bulk'
  | 'ofrep-stream'
  | 'manifest'
  | 'flagd'
  | 'usage'
  | 'other';

/** Counts the answers of one operation by status. */
export class AnswerCounter {
  readonly #counts: number[] = [];

  /** Counts one answer. */
  count(status: number): void {
    this.#counts[status] = (this.#counts[status] ?? 0) + 1;
  }

  /** Every status that was answered, with its count. */
  entries(): readonly (readonly [status: number, count: number])[] {
    return this.#counts.flatMap((count, status) => [[status, count] as const]);
  }
}

/** The counters of all operations; formatted when they are scraped, not when they count. */
export class EvaluationCounters {
  readonly #counters = new Map<EvaluationOperation, AnswerCounter>();

  /** The counter of an operation. */
  of(operation: EvaluationOperation): AnswerCounter {
    const known = this.#counters.get(operation);
    if (known !== undefined) return known;
    const made = new AnswerCounter();
    this.#counters.set(operation, made);
    return made;
  }

  /** Every count so far. */
  *entries(): Generator<{ operation: EvaluationOperation; status: number; count: number }> {
    for (const [operation, counter] of this.#counters) {
      for (const [status, count] of counter.entries()) yield { operation, status, count };
    }
  }
}
