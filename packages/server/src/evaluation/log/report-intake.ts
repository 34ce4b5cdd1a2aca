import {
  type DeliveryReport,
  PRESENCE_MS,
  RECEIPT_RETENTION,
  type StreamCount,
} from '../../domain/delivery.ts';
import { ServiceError } from '../../domain/errors.ts';
import { announcedLength, decodeBody, readWatched } from '../../http/request.ts';
import type { LiveEnvironment } from '../catalog/live-environment.ts';
import type { ReadPlane } from '../read-plane.ts';
import { RateLimiter } from '../serving/rate-limiter.ts';
import { MAX_REPORT_BYTES, nameBelow, parseReport, type ReportBody } from './reports.ts';
import { hasEnvironment, type LogScope } from './scope.ts';

/** What the followers of one token may report to a node, however many nodes they claim to be. */
const LIMITS = {
  /** Bytes within a second, and as many at once. */
  bytes: 2 * 1024 * 1024,
  /** Nodes within half a minute, and nodes of which each change has a receipt. */
  nodes: 1000,
  /** Counts of streams that are kept, each of an environment and a key at one node. */
  counts: 2000,
  /** Streams in all of these counts, and in the receipts of each change. */
  streams: 10_000_000,
};

/** Limits of reports; what is absent has a default. */
export type ReportLimits = Partial<typeof LIMITS>;

/** What a count or a receipt costs besides its text, in bytes: it is written to a database. */
const ROW_BYTES = 512;

/** Longest a report may take to arrive, in milliseconds. */
const ARRIVES_WITHIN_MS = 5000;

/** Parts of a {@link ReportIntake}. */
export interface ReportIntakeOptions {
  readonly plane: Pick<ReadPlane, 'catalog' | 'follower' | 'usage'>;
  readonly limits?: ReportLimits | undefined;
}

/** A report as far as it counts, and how many of its receipts were dropped on the way here. */
export interface TakenReport {
  readonly report: DeliveryReport;
  readonly dropped: number;
}

/**
 * Takes the reports of followers. A relay may run an old version, or be in wrong hands, so nothing in a report is believed
 * that this node can judge: a follower knows changes that were made, in environments and with keys that it has. The rest is
 * bounded for each token: what a report costs, and what is kept of it. (Spec: S14.16)
 */
export class ReportIntake {
  readonly #options: ReportIntakeOptions;
  readonly #limits: typeof LIMITS;
  readonly #budget: RateLimiter;
  readonly #tokens = new Map<string, TokenReports>();
  #sweptAt = performance.now();
  #refused = 0;

  constructor(options: ReportIntakeOptions) {
    this.#options = options;
    this.#limits = { ...LIMITS, ...options.limits };
    this.#budget = new RateLimiter(this.#limits.bytes);
  }

  /** Entries that were refused: of what does not exist, or beyond what a token may report. */
  get refused(): number {
    return this.#refused;
  }

  /** Reads the report of a token. Throws `rate_limited` when its reports have cost enough for now, and `invalid_argument`. */
  async read(request: Request, id: string): Promise<ReportBody> {
    this.#requireBudget(id);
    this.#budget.pay(id, Math.min(announcedLength(request) ?? 0, MAX_REPORT_BYTES));
    const body = await readWatched(request, MAX_REPORT_BYTES, {
      silenceMs: ARRIVES_WITHIN_MS,
      wholeMs: ARRIVES_WITHIN_MS,
      onPiece: (bytes) => {
        this.#requireBudget(id);
        this.#budget.pay(id, bytes);
      },
    });
    return parseReport(decodeBody(body));
  }

  /** What counts of a report; reads of flags are added up here. */
  take({ id, scope }: { readonly id: string; readonly scope: LogScope }, body: ReportBody): TakenReport {
    const { catalog, follower, usage } = this.#options.plane;
    const environmentOf = (environmentId: string): LiveEnvironment | undefined => {
      const environment = catalog.environmentWithId(environmentId);
      return environment && hasEnvironment(scope, environment) ? environment : undefined;
    };
    const oldest = follower.seq - RECEIPT_RETENTION.changes;
    const reports = this.#reportsOf(id, oldest);

    const known = body.receipts.filter(
      ({ seq, environmentId }) =>
        environmentOf(environmentId) !== undefined && seq <= follower.seq && seq > oldest,
    );
    const receipts = known
      .filter(({ seq, streams }) => reports.admitReceipt(seq, streams))
      .map(({ at, ...rest }) => ({ ...rest, node: nameBelow(id, rest.node), at: Math.min(at, Date.now()) }));

    const isKnown = ({ environmentId, keyId }: StreamCount) => {
      const environment = environmentOf(environmentId);
      return environment !== undefined && catalog.keys.withId(keyId)?.environments.has(environment.name);
    };
    const nodes = body.nodes.flatMap(({ node, streams }) => {
      const admitted = reports.admitNode(node, streams.filter(isKnown));
      this.#refused += streams.length - (admitted?.length ?? 0);
      return admitted === undefined ? [] : [{ node: nameBelow(id, node), streams: admitted }];
    });

    for (const each of body.usage ?? []) {
      const isOwn = environmentOf(each.environmentId) !== undefined;
      this.#refused += isOwn ? usage.add(each) : each.flags.length;
    }

    const refused = body.receipts.length - receipts.length;
    this.#refused += refused;
    const rows = nodes.reduce((sum, { streams }) => sum + streams.length + 1, receipts.length);
    this.#budget.pay(id, ROW_BYTES * rows);
    return { report: { receipts, nodes }, dropped: body.dropped + refused };
  }

  #requireBudget(id: string): void {
    const retryAfterSeconds = this.#budget.take({ id });
    if (retryAfterSeconds === 0) return;
    const message =
      'The relays with this token report more than a node takes: use other tokens for some of them.';
    throw new ServiceError('rate_limited', message, { retryAfterSeconds });
  }

  /** What a token has reported. Now and then, what is old is forgotten of all. */
  #reportsOf(id: string, oldest: number): TokenReports {
    if (performance.now() - this.#sweptAt > PRESENCE_MS) {
      this.#sweptAt = performance.now();
      for (const [each, reports] of this.#tokens) if (reports.isEmptyFrom(oldest)) this.#tokens.delete(each);
    }
    const known = this.#tokens.get(id) ?? new TokenReports(this.#limits);
    this.#tokens.set(id, known);
    return known;
  }
}

/** What the followers of one token have reported of late. */
class TokenReports {
  readonly #limits: typeof LIMITS;
  /** Nodes that count, the one that has not reported for longest first, each with the number of its counts, their streams, and when it reported. */
  readonly #nodes = new Map<
    string,
    { readonly counts: number; readonly streams: number; readonly at: number }
  >();
  /** Receipts of a change, and their streams. */
  readonly #receipts = new Map<number, { readonly nodes: number; readonly streams: number }>();
  #counts = 0;
  #streams = 0;

  constructor(limits: typeof LIMITS) {
    this.#limits = limits;
  }

  /** Forgets the nodes that are silent, and receipts of changes up to `oldest`. Returns whether nothing is left. */
  isEmptyFrom(oldest: number): boolean {
    this.#forgetOld();
    for (const seq of this.#receipts.keys()) if (seq <= oldest) this.#receipts.delete(seq);
    return this.#nodes.size === 0 && this.#receipts.size === 0;
  }

  /** The counts of a node for which there is room; `undefined` when there is none for the node. They replace its earlier ones. */
  admitNode(node: string, streams: readonly StreamCount[]): readonly StreamCount[] | undefined {
    this.#forget(node);
    this.#forgetOld();
    if (this.#nodes.size >= this.#limits.nodes) return undefined;

    const admitted: StreamCount[] = [];
    let room = this.#limits.streams - this.#streams;
    for (const count of streams.slice(0, this.#limits.counts - this.#counts)) {
      if (count.streams > room) continue;
      room -= count.streams;
      admitted.push(count);
    }

    const own = admitted.reduce((sum, count) => sum + count.streams, 0);
    this.#nodes.set(node, { counts: admitted.length, streams: own, at: performance.now() });
    this.#counts += admitted.length;
    this.#streams += own;
    return admitted;
  }

  /** Whether there is room for one more receipt of a change. */
  admitReceipt(seq: number, streams: number): boolean {
    const known = this.#receipts.get(seq) ?? { nodes: 0, streams: 0 };
    const sum = { nodes: known.nodes + 1, streams: known.streams + streams };
    if (sum.nodes > this.#limits.nodes || sum.streams > this.#limits.streams) return false;
    this.#receipts.set(seq, sum);
    return true;
  }

  #forget(node: string): void {
    const { counts = 0, streams = 0 } = this.#nodes.get(node) ?? {};
    this.#counts -= counts;
    this.#streams -= streams;
    this.#nodes.delete(node);
  }

  #forgetOld(): void {
    const silentSince = performance.now() - PRESENCE_MS;
    for (const [node, { at }] of this.#nodes) {
      if (at > silentSince) return;
      this.#forget(node);
    }
  }
}
