import { REFERENCE_HEADER } from '@halyard/protocol';
import type { Actor } from '../../domain/audit.ts';
import { invalid, quote, ServiceError } from '../../domain/errors.ts';
import type { ManagementContext } from '../../management/context.ts';
import { isReferenceClosed } from './reference-table.ts';

/** Long enough that a caller does not use one twice. */
export const REFERENCE = /^[A-Za-z0-9._:-]{8,64}$/;

/** The reference of a request, if it has one. `invalid_argument`. */
export function readReference(header: string | undefined): string | undefined {
  if (header === undefined || REFERENCE.test(header)) return header;
  throw invalid(
    `"${REFERENCE_HEADER}" must be 8 to 64 letters, digits, ".", "_", ":" and "-", such as a UUID.`,
  );
}

/** Refuses a request whose caller has closed its reference. `invalid_argument`. */
export async function requireOpenReference(
  { store }: Pick<ManagementContext, 'store'>,
  { name: actor, reference }: Actor,
): Promise<void> {
  if (reference === undefined) return;
  if (!(await isReferenceClosed(store, { actor, reference }))) return;
  throw invalid(
    `The reference ${quote(reference)} is closed, so this request changes nothing: send it again with a new reference.`,
  );
}

/** The requests with a reference that this process is answering. */
export class RunningReferences {
  readonly #counts = new Map<string, number>();

  /** Runs `work`; until it ends, {@link has} is true for the actor's reference. */
  during<T>({ name, reference }: Actor, work: () => Promise<T>): Promise<T> {
    if (reference === undefined) return work();
    const place = placeOf(name, reference);
    this.#counts.set(place, (this.#counts.get(place) ?? 0) + 1);
    return work().finally(() => {
      const left = (this.#counts.get(place) ?? 1) - 1;
      if (left > 0) this.#counts.set(place, left);
      else this.#counts.delete(place);
    });
  }

  /** Whether a request of `actor` with this reference is being answered. */
  has(actor: string, reference: string): boolean {
    return this.#counts.has(placeOf(actor, reference));
  }
}

/** How many references an actor may close within a minute: the dashboard and the CLI close one for a lost answer. */
const MOST_CLOSINGS = 60;

/** Bounds the references that each actor closes at this node: each takes a row for a day. */
export class ClosingLimit {
  readonly #counts = new Map<string, number>();
  #minute = 0;

  /** Counts one. `rate_limited` beyond the limit. */
  count(actor: string): void {
    const minute = Math.floor(performance.now() / 60_000);
    if (minute !== this.#minute) this.#counts.clear();
    this.#minute = minute;

    const count = (this.#counts.get(actor) ?? 0) + 1;
    this.#counts.set(actor, count);
    if (count <= MOST_CLOSINGS) return;
    throw new ServiceError(
      'rate_limited',
      `You have closed ${MOST_CLOSINGS} references within a minute: try again in a minute.`,
      { retryAfterSeconds: 60 },
    );
  }
}

function placeOf(actor: string, reference: string): string {
  return `${reference} ${actor}`;
}
