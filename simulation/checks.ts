import type { Kernel, Owner } from './kernel.ts';
import type { Committed, KeyTerm, Truth } from './truth.ts';

/** A node is current while its proof is no older. */
const PROOF_MS = 3_000;

/** Half a second for what is on its way between the processes. */
const SLACK_MS = 500;

/**
 * A process that has run for so long with a revocation has it on the disk, whatever fails: written, or the older file removed. A
 * write that failed, or that waits for the first proof, is tried again after five seconds.
 */
const SAVED_MS = 6_000;

/** A new epoch raises revisions by this. */
const LEAP = 100_000;

/** The promises, by what breaks them. */
export type ViolationKind =
  | 'frame'
  | 'map'
  | 'age'
  | 'back'
  | 'lost'
  | 'refused'
  | 'revoked'
  | 'opened'
  | 'late'
  | 'catalog'
  | 'closed'
  | 'disk'
  | 'forgot'
  | 'returned'
  | 'blank'
  | 'silent'
  | 'store'
  | 'due'
  | 'client'
  | 'liveness';

/** One broken promise. */
export interface Violation {
  readonly kind: ViolationKind;
  readonly at: number;
  readonly node: string;
  readonly story: string;
}

/** Where and for what an answer was asked. */
export interface Asked {
  /** The name of the place and the number of its process. */
  readonly node: string;
  /** The process; its clock decides what has expired. */
  readonly owner: Owner;
  readonly place: string;
  readonly projectId: string;
  readonly environmentId: string;
  readonly environment: string;
  readonly key: string;
  readonly requestedAt: number;
  /** The process that keeps its last known flags: itself, or the node of a worker. */
  readonly keeper: Owner;
  /** Whether the node may be without the environment, because a token on its way does not open it. */
  readonly mayLack: boolean;
  /** Whether its database has answered the process since it began: then it never shows less than the one before it. */
  readonly isUndisturbed: boolean;
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
  /** The newest write that each place has shown of each environment, and when. */
  readonly #served = new Map<string, { readonly write: Committed; readonly at: number }>();
  /** When each place refused a key after its end, and what kept its flags then: the first time for each such process. */
  readonly #refused = new Map<string, { readonly keeper: Owner; readonly at: number }[]>();

  constructor(kernel: Kernel, truth: Truth) {
    this.#kernel = kernel;
    this.#truth = truth;
  }

  /** An answer of 200, or the opening of a stream. */
  answered(asked: Asked, shown: Shown): void {
    const write = this.#writeOf(asked, shown);
    if (write === undefined) return;
    this.#checkAge(asked, shown, write);
    this.#checkOrder(asked, shown, write);
    const term = this.#truth.keys.get(asked.key);
    if (term === undefined) return;
    const isEnded = asked.requestedAt > term.until + PROOF_MS + SLACK_MS;
    if (isEnded && shown.ageSeconds === undefined)
      this.#report('revoked', asked, `granted a key that had ended ${this.#since(term.until)} ms before`);
    this.#checkMemory(asked, term);
    const expiredAt = expiryOf(term, asked);
    if (asked.requestedAt > expiredAt + SLACK_MS)
      this.#report('revoked', asked, `granted a key that had expired ${this.#since(expiredAt)} ms before`);
    if (!term.opens.has(write.environmentId))
      this.#report('opened', asked, `opened ${write.environmentId} with a key that is older`);
  }

  /** A refusal. (S14.3: a temporary cause is never 401 or 404.) */
  refused(asked: Asked, status: number): void {
    // Others say that something is wrong with the request, or with the node for now.
    if ((status !== 401 && status !== 404) || asked.mayLack) return;
    this.#noteRefusal(asked);
    const term = this.#truth.keys.get(asked.key);
    if (term === undefined || Math.min(term.until, expiryOf(term, asked) - SLACK_MS) <= this.#kernel.now)
      return;
    // It may have been deleted on the way.
    if ((this.#truth.environments.get(asked.environmentId)?.until ?? 0) <= this.#kernel.now) return;
    if (asked.requestedAt < term.from + PROOF_MS + SLACK_MS) return;
    this.#report(
      'refused',
      asked,
      `refused a key with ${status} that is valid since ${this.#since(term.from)} ms`,
    );
  }

  /** A frame of a stream: `expected` is the revision it must have, and a change of a time may take so long. */
  frame(
    asked: Asked,
    expected: number,
    flags: Shown['flags'],
    withinMs: (writtenAt: number) => number,
  ): void {
    const write = this.#writeOf(asked, { revision: expected, flags, ageSeconds: undefined });
    if (write === undefined) return;
    this.#note(asked, expected, write);
    const tookMs = this.#since(write.at);
    if (tookMs > withinMs(write.at))
      this.#report('late', asked, `sent revision ${expected} after ${tookMs} ms`);
    const term = this.#truth.keys.get(asked.key);
    if (term === undefined) return;
    if (write.at > term.until)
      this.#report('revoked', asked, `sent a change on a key that had ended before it`);
    // Expiry is looked for once a second, while the process runs.
    const wasPaused = asked.owner.pausedUntil > write.at - 2_000;
    if (!wasPaused && write.at > expiryOf(term, asked) + 1_000 + SLACK_MS)
      this.#report('revoked', asked, `sent a change on a key that had expired before it`);
  }

  /** Another promise that does not hold. */
  broken(kind: ViolationKind, node: string, story: string): void {
    this.violations.push({ kind, at: this.#kernel.now, node, story });
  }

  #writeOf(asked: Asked, { revision, flags }: Shown): Committed | undefined {
    const write = this.#truth.writes.get(Number(flags.counter?.value));
    const leap = write === undefined ? 1 : (revision - write.revision) % LEAP;
    const isAsked = write?.environment === asked.environment && write.projectId === asked.projectId;
    if (write === undefined || !isAsked || leap !== 0) {
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
    const { until = Number.POSITIVE_INFINITY } = this.#truth.environments.get(write.environmentId) ?? {};
    if (until < since)
      this.#report('age', asked, `showed an environment ${said}, deleted ${this.#since(until)} ms before`);
    const newest = this.#truth.newest(write.environmentId, since, this.#kernel.now);
    if (newest === undefined || newest.seq <= write.seq) return;
    this.#report(
      'age',
      asked,
      `showed revision ${revision} ${said}; ${newest.revision} was committed ${this.#since(newest.at)} ms before`,
    );
  }

  #noteRefusal({ place, key, keeper }: Asked): void {
    const at = this.#kernel.now;
    const isEnded = (this.#truth.keys.get(key)?.until ?? 0) < at;
    const name = `${place} ${key}`;
    const known = this.#refused.get(name) ?? [];
    if (!isEnded || known.at(-1)?.keeper === keeper) return;
    this.#refused.set(name, [...known, { keeper, at }]);
  }

  /**
   * (Spec: S14.9) What a place knew to be revoked stays refused, also by its next process. Each of its processes had to have the
   * time to save it: several that ended soon after they heard of it may have saved nothing.
   */
  #checkMemory(asked: Asked, term: KeyTerm): void {
    const saved = this.#refused.get(`${asked.place} ${asked.key}`)?.find(({ keeper, at }) => {
      const savedAt = Math.max(at, keeper.pausedUntil) + SAVED_MS;
      return at >= term.until && savedAt <= Math.min(keeper.endedAt, asked.owner.startedAt);
    });
    if (saved === undefined) return;
    this.#report('forgot', asked, `granted a key that it had refused ${this.#since(saved.at)} ms before`);
  }

  /** One process never goes back. */
  #checkOrder(asked: Asked, { revision }: Shown, write: Committed): void {
    const known = this.#shown.get(placeOf(asked, write)) ?? [];
    const newest = known.findLast(({ at }) => at < asked.requestedAt);
    if (newest !== undefined && revision < newest.revision)
      this.#report('back', asked, `showed revision ${revision} after ${newest.revision}`);
    const served = this.#served.get(placeOf({ node: asked.place }, write));
    // Answers overtake each other on their way: what was shown since the question says nothing about the answer.
    const before = served && served.at < asked.requestedAt ? served.write : undefined;
    if (asked.isUndisturbed && before !== undefined && before.lostAt === undefined && write.seq < before.seq)
      this.#report(
        'returned',
        asked,
        `showed row ${write.seq}; the process before it had shown ${before.seq}`,
      );
    this.#note(asked, revision, write);
  }

  #note(asked: Asked, revision: number, write: Committed): void {
    const place = placeOf(asked, write);
    const known = this.#shown.get(place) ?? [];
    if (revision > (known.at(-1)?.revision ?? -1)) known.push({ revision, at: this.#kernel.now });
    this.#shown.set(place, known);

    const name = placeOf({ node: asked.place }, write);
    const before = this.#served.get(name)?.write;
    if (before === undefined || before.lostAt !== undefined || before.seq < write.seq)
      this.#served.set(name, { write, at: this.#kernel.now });
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

function placeOf({ node }: Pick<Asked, 'node'>, { environmentId }: Committed): string {
  return `${node} ${environmentId}`;
}

/** When a key expires, by the clock of the process that was asked. */
function expiryOf({ expiresAt }: KeyTerm, { owner }: Asked): number {
  return expiresAt - owner.skewMs;
}
