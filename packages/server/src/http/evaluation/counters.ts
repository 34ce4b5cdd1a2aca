/** The operations of the evaluation interface, as metrics name them. */
export type Operation = 'all' | 'single' | 'batch' | 'stream' | 'other';

/** Counts answers by operation and status: two array-like look-ups on the read path, formatted when scraped. */
export class EvaluationCounters {
  readonly #counts = new Map<Operation, Map<number, number>>();

  /** Counts one answer. */
  count(operation: Operation, status: number): void {
    const statuses = this.#counts.get(operation) ?? new Map<number, number>();
    if (statuses.size === 0) this.#counts.set(operation, statuses);
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
  }

  /** Every count so far. */
  *entries(): Generator<{ operation: Operation; status: number; count: number }> {
    for (const [operation, statuses] of this.#counts) {
      for (const [status, count] of statuses) yield { operation, status, count };
    }
  }
}
