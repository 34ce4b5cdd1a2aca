import type { DeliveryProgress } from '../domain/delivery.ts';

/**
 * Adds up the delivery of each change over the processes of a machine. A change is reported once every process has
 * applied it, and is settled when each of them has settled it.
 */
export class DeliverySums {
  readonly #onProgress: (progress: DeliveryProgress) => void;
  /** The changes that are not settled, each with the progress of the processes that had streams for it. */
  readonly #changes = new Map<number, Map<number, DeliveryProgress>>();
  #appliedByAll = 0;

  constructor(onProgress: (progress: DeliveryProgress) => void) {
    this.#onProgress = onProgress;
  }

  /** Takes the progress of one process. It reports a change before it says that it has applied it. */
  note(member: number, progress: DeliveryProgress): void {
    const { seq } = progress;
    const byMember = this.#changes.get(seq) ?? new Map<number, DeliveryProgress>();
    this.#changes.set(seq, byMember);
    byMember.set(member, progress);
    if (seq <= this.#appliedByAll) this.#report(seq, byMember);
  }

  /** Every process has applied the rows up to this one. */
  advance(seq: number): void {
    const before = this.#appliedByAll;
    this.#appliedByAll = seq;
    for (const [each, byMember] of this.#changes)
      if (each > before && each <= seq) this.#report(each, byMember);
  }

  /** A process has ended, and its streams with it: those that had not taken a change have not seen it. */
  leave(member: number): void {
    for (const byMember of [...this.#changes.values()]) {
      const last = byMember.get(member);
      if (last === undefined || last.isSettled) continue;
      this.note(member, { ...last, closed: last.streams - last.seen, isSettled: true });
    }
  }

  /** Forgets all changes: the log was lost. */
  clear(): void {
    this.#changes.clear();
  }

  #report(seq: number, byMember: ReadonlyMap<number, DeliveryProgress>): void {
    const sum = [...byMember.values()].reduce(add);
    if (sum.isSettled) this.#changes.delete(seq);
    this.#onProgress(sum);
  }
}

function add(a: DeliveryProgress, b: DeliveryProgress): DeliveryProgress {
  return {
    ...a,
    streams: a.streams + b.streams,
    seen: a.seen + b.seen,
    closed: a.closed + b.closed,
    slowestMs: Math.max(a.slowestMs, b.slowestMs),
    isSettled: a.isSettled && b.isSettled,
  };
}
