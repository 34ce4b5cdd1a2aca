import { ServiceError } from '../../domain/errors.ts';
import { BUSY } from './messages.ts';

/** What followers may take of a node. */
const LIMITS = {
  /** Most streams of the log at once, and of one token. */
  followers: 2000,
  followersPerToken: 1000,
  /** Streams that one token opens within a second, reports that it sends, each relay at most four, and questions for the time. */
  openings: 400,
  reports: 400,
  clocks: 400,
  /**
   * Most followers that load a large state at once, and from how many environments and keys on it is large. One that has loaded
   * for longer has a slow link, costs this node little, and holds up no other. One token never has all the places, however often
   * its followers come again.
   */
  loading: 4,
  loadingPerToken: 3,
  largeState: 5000,
  loadingMs: 5000,
};

/** When a follower that finds no place to load may come again: some time between this and twice as much. */
const COME_AGAIN_SECONDS = 2;

/** What followers may take of a node; what is absent has a default. */
export type FollowerLimitsOptions = Partial<typeof LIMITS>;

/** A stream of which the beginning may be a snapshot. */
interface Loader {
  readonly isLoading: boolean;
  /** Milliseconds since it began. */
  sentMs(): number;
}

/** Keeps followers within their limits, each token by itself. */
export class FollowerLimits {
  readonly #limits: typeof LIMITS;
  /** Requests of each token within this second. */
  #requests = { second: 0, counts: new Map<string, number>() };

  constructor(limits: FollowerLimitsOptions = {}) {
    this.#limits = { ...LIMITS, ...limits };
  }

  /** Counts a request of a token. Throws `rate_limited` when it has made too many within this second. */
  countRequest(what: 'openings' | 'reports' | 'clocks', followerId: string): void {
    const second = Math.floor(performance.now() / 1000);
    if (this.#requests.second !== second) this.#requests = { second, counts: new Map() };
    const { counts } = this.#requests;
    const name = `${what} ${followerId}`;
    const count = (counts.get(name) ?? 0) + 1;
    counts.set(name, count);
    if (count <= this.#limits[what]) return;
    const message = `This relay token has made ${this.#limits[what]} ${what} within a second: use one for fewer relays.`;
    throw new ServiceError('rate_limited', message, { retryAfterSeconds: 1 });
  }

  /**
   * Whether one more follower with this token may load a state of that size now, beside those that do.
   * (docs/decisions/0042-snapshots-are-objects.md)
   */
  mayLoad(
    size: number,
    followerId: string,
    open: Iterable<readonly [Loader, { readonly id: string }]>,
  ): boolean {
    const { loading, loadingPerToken, largeState, loadingMs } = this.#limits;
    if (size < largeState) return true;

    let [all, own] = [0, 0];
    for (const [stream, { id }] of open) {
      if (!stream.isLoading || stream.sentMs() >= loadingMs) continue;
      all++;
      if (id === followerId) own++;
    }
    return all < loading && own < loadingPerToken;
  }

  /** Throws `rate_limited` when there is no room for one more stream of this follower beside those that are open. */
  admitStream(followerId: string, open: Iterable<{ readonly id: string }>): void {
    const { followers, followersPerToken } = this.#limits;
    let [all, own] = [0, 0];
    for (const { id } of open) {
      all++;
      if (id === followerId) own++;
    }
    if (all < followers && own < followersPerToken) return;
    const message =
      own < followersPerToken
        ? `This node already has ${followers} followers: connect to another, or to a relay.`
        : `This relay token already has ${followersPerToken} followers here: use another for some, or connect to a relay.`;
    throw new ServiceError('rate_limited', message, { retryAfterSeconds: 30 });
  }
}

/** Refuses a follower that would load the state, while enough others do. */
export function busy(): Response {
  const message = 'Enough relays are loading their state from this node: come again shortly.';
  const headers = { 'Retry-After': String(COME_AGAIN_SECONDS) };
  return Response.json({ error: BUSY, message }, { status: 503, headers });
}
