import { IS_FIRST_IN_STRETCH, STRETCH } from './places.ts';

/** An environment and the author of an entry in it. */
interface Pair {
  readonly environmentId: string | undefined;
  readonly actor: string;
}

/**
 * The entries of the newest stretch of the audit log that this process has committed and that its indexes have: those after
 * them with the same pair need not be in the indexes.
 */
export class NewestStretch {
  #number = -1;
  readonly #seqs = new Map<string, number>();

  /** The `seq` of such an entry, if one is known. */
  find({ environmentId, actor }: Pair): number | undefined {
    return environmentId === undefined ? undefined : this.#seqs.get(`${environmentId} ${actor}`);
  }

  /** Notes an entry that was committed. */
  note({ environmentId, actor }: Pair, seq: number): void {
    const number = Math.floor(seq / STRETCH);
    if (number !== this.#number) this.#seqs.clear();
    this.#number = number;

    const name = `${environmentId} ${actor}`;
    if (environmentId !== undefined && !this.#seqs.has(name)) this.#seqs.set(name, seq);
  }
}

/** Stands for the `seq` that {@link NewestStretch.find} returns where the entry before is of the same change. */
export const SAME_CHANGE = -1;

/**
 * SQL for the column `repeated` of an entry that gets `seq`, where `known` is the seq of one before it, or NULL. That one is looked up
 * again: the database may have lost it, or its author may have been removed. It is counted: for EXISTS, PostgreSQL may read the whole log
 * into a table of hashes, under the lock on the end of the log.
 */
export const repeatedAfter = (
  known: string,
  { seq, environment, actor }: { readonly seq: string; readonly environment: string; readonly actor: string },
) => `CASE WHEN ${known} = ${SAME_CHANGE} OR (${known} / ${STRETCH} = (${seq}) / ${STRETCH} AND (SELECT count(*) FROM audit_log
    WHERE audit_log.seq = ${known} AND environment_id = ${environment} AND actor = ${actor} AND ${IS_FIRST_IN_STRETCH}) > 0) THEN 1 END`;
