import type { Kernel } from './kernel.ts';
import type { Committed, Truth } from './truth.ts';

/** A node is current while its proof is no older. */
const PROOF_MS = 3_000;

/** Half a second for what is on its way between the processes. */
const SLACK_MS = 500;

/** A new epoch raises revisions by this. */
const LEAP = 100_000;

/** One broken promise. */
export interface Violation {
  readonly kind: 'frame' | 'map' | 'age' | 'back' | 'lost' | 'refused' | 'revoked' | 'liveness';
  readonly at: number;
  readonly node: string;
  readonly story: string;
}

/** Where and for what an answer was asked. */
export interface Asked {
  /** The name of the place and the number of its process. */
  readonly node: string;
  readonly environmentId: string;
  readonly key: string;
  readonly requestedAt: number;
  /** Whether the node may be without the environment, because a token on its way does not open it. */
  readonly mayLack: boolean;
}

/** An answer with a map. */
export interface Shown {
  readonly revision: number;
  readonly flags: Record<string, { readonly value?: unknown }>;
  /** The seconds of `X-Flags-Stale`; absent in an answer that calls itself current. */
  readonly ageSeconds: number | undefined;
}

/** Compares what readers see with what was committed. */
export class Checks {
  readonly violations: Violation[] = [];
  readonly #kernel: Kernel;
  readonly #truth: Truth;
  /** The highest revision that each process has shown of each environment, and when. */
  readonly #shown = new Map<string, { revision: number; at: number }[]>();

  constructor(kernel: Kernel, truth: Truth) {
    this.#kernel = kernel;
    this.#truth = truth;
  }

  /** An answer of 200, or the opening of a stream. */
  answered(asked: Asked, shown: Shown): void {
    const write = this.#writeOf(asked, shown);
    if (write === undefined) return;
    this.#checkAge(asked, shown, write);
    this.#checkOrder(asked, shown);
    const term = this.#truth.keys.get(asked.key);
    const isEnded = term !== undefined && asked.requestedAt > term.until + PROOF_MS + SLACK_MS;
    if (isEnded && shown.ageSeconds === undefined)
      this.#report('revoked', asked, `granted a key that had ended ${this.#since(term.until)} ms before`);
  }

  /** A refusal. (S14.3: a temporary cause is never 401 or 404.) */
  refused(asked: Asked, status: number): void {
    if (status >= 500 || asked.mayLack) return;
    const term = this.#truth.keys.get(asked.key);
    if (term === undefined || term.until <= this.#kernel.now) return;
    if (asked.requestedAt < term.from + PROOF_MS + SLACK_MS) return;
    this.#report(
      'refused',
      asked,
      `refused a key with ${status} that is valid since ${this.#since(term.from)} ms`,
    );
  }

  /** A frame of a stream: `expected` is the revision it must have. */
  frame(asked: Asked, expected: number, flags: Shown['flags']): void {
    const write = this.#writeOf(asked, { revision: expected, flags, ageSeconds: undefined });
    this.#note(asked, expected);
    const term = this.#truth.keys.get(asked.key);
    if (term !== undefined && write !== undefined && write.at > term.until)
      this.#report('revoked', asked, `sent a change on a key that had ended before it`);
  }

  /** Something that must hold in the end, and does not. */
  stuck(node: string, story: string): void {
    this.violations.push({ kind: 'liveness', at: this.#kernel.now, node, story });
  }

  #writeOf(asked: Asked, { revision, flags }: Shown): Committed | undefined {
    const write = this.#truth.writes.get(Number(flags.counter?.value));
    const leap = write === undefined ? 1 : (revision - write.revision) % LEAP;
    if (write === undefined || write.environmentId !== asked.environmentId || leap !== 0) {
      const is = write === undefined ? 'no write' : `revision ${write.revision} of ${write.environment}`;
      this.#report('frame', asked, `said revision ${revision}, and its map is ${is}`);
      return undefined;
    }
    if (!Bun.deepEquals(flags, write.flags))
      this.#report('map', asked, `mixed the map of revision ${revision}`);
    return write;
  }

  #checkAge(asked: Asked, { revision, ageSeconds }: Shown, write: Committed): void {
    const admittedMs = Math.max(PROOF_MS, ageSeconds === undefined ? 0 : (ageSeconds + 1) * 1_000) + SLACK_MS;
    const since = asked.requestedAt - admittedMs;
    const said = ageSeconds === undefined ? 'as current' : `as ${ageSeconds} s old`;
    if (write.lostAt !== undefined) {
      if (write.lostAt < since && ageSeconds === undefined)
        this.#report(
          'lost',
          asked,
          `showed revision ${revision} ${said}, lost ${this.#since(write.lostAt)} ms before`,
        );
      return;
    }
    const newest = this.#truth.newest(asked.environmentId, since, this.#kernel.now);
    if (newest === undefined || newest.seq <= write.seq) return;
    this.#report(
      'age',
      asked,
      `showed revision ${revision} ${said}; ${newest.revision} was committed ${this.#since(newest.at)} ms before`,
    );
  }

  /** One process never goes back. */
  #checkOrder(asked: Asked, { revision }: Shown): void {
    const known = this.#shown.get(placeOf(asked)) ?? [];
    const newest = known.findLast(({ at }) => at < asked.requestedAt);
    if (newest !== undefined && revision < newest.revision)
      this.#report('back', asked, `showed revision ${revision} after ${newest.revision}`);
    this.#note(asked, revision);
  }

  #note(asked: Asked, revision: number): void {
    const place = placeOf(asked);
    const known = this.#shown.get(place) ?? [];
    if (revision > (known.at(-1)?.revision ?? -1)) known.push({ revision, at: this.#kernel.now });
    this.#shown.set(place, known);
  }

  #since(at: number): number {
    return Math.round(this.#kernel.now - at);
  }

  #report(kind: Violation['kind'], asked: Asked, what: string): void {
    this.violations.push({
      kind,
      at: this.#kernel.now,
      node: asked.node,
      story: `${asked.node} ${what} (${asked.environmentId})`,
    });
  }
}

function placeOf({ node, environmentId }: Asked): string {
  return `${node} ${environmentId}`;
}
