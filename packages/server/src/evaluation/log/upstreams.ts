import type { Logger } from 'pino';
import type { Cursor, LogHistory, LogSession, LogSource, OpenOptions } from '../../domain/change-log.ts';
import { StorageError, StoreOutage } from '../../domain/errors.ts';
import { sleep } from '../replication/pacing.ts';
import { LastingSession } from './lasting-session.ts';
import { RemoteLog, TokenRefused } from './remote-log.ts';
import type { ReportBody } from './reports.ts';

/** Longest pause before the next address is tried, in milliseconds: the followers of a lost node do not come all at once. */
const SPREAD_MS = 200;

/** Parts of {@link Upstreams}. */
export interface UpstreamsOptions {
  /** Their base addresses, the preferred one first. */
  readonly urls: readonly string[];
  /** The relay token as it is now: it may be replaced while this runs. */
  readonly token: () => string;
  readonly log: Logger;
  /** Default: `Math.random`. */
  readonly random?: () => number;
}

/** One address of several. */
interface Place {
  readonly url: string;
  /** It asked to be left alone until then, on this process's monotonic clock. */
  busyUntil: number;
}

/** A connection that is followed. */
interface Followed {
  readonly session: LastingSession;
  readonly place: Place;
  token: string;
  remote: RemoteLog;
}

/**
 * The log of one installation at several addresses. One is followed, and kept as long as it can be; when it is lost, they are
 * tried in turn, from that one on. A node that is behind refuses this one, whose cursor proves what it has, and so does a node of
 * another database, which does not know the token. (Spec: S14.17)
 */
export class Upstreams implements LogSource {
  readonly history: LogHistory = {
    // Seals pass through; only a node with a database can read them.
    seal: ({ changeId }) => changeId,
    hasLost: (cursor) => this.#remote().history.hasLost(cursor),
    isOver: (cursor) => this.#remote().history.isOver(cursor),
  };
  readonly #options: Required<UpstreamsOptions>;
  readonly #places: readonly Place[];
  /** The address that is tried first. */
  #index = 0;
  #followed: Followed | undefined;
  /** The last token with which an upstream could be followed. */
  #provenToken: string | undefined;
  /** A token that the upstream has refused in place of the one in use. */
  #refusedToken: string | undefined;
  #isMoving = false;

  constructor(options: UpstreamsOptions) {
    this.#options = { random: Math.random, ...options };
    this.#places = options.urls.map((url) => ({ url, busyUntil: Number.NEGATIVE_INFINITY }));
  }

  /** The address that is followed; `undefined` while none is. */
  get followed(): string | undefined {
    const { session, place } = this.#followed ?? {};
    return session?.isClosed === false ? place?.url : undefined;
  }

  /** The addresses, each with whether it is followed. */
  states(): readonly { readonly url: string; readonly isFollowed: boolean }[] {
    const { followed } = this;
    return this.#places.map(({ url }) => ({ url, isFollowed: url === followed }));
  }

  async open(at?: Cursor, options: OpenOptions = {}): Promise<LogSession> {
    const before = this.#followed;
    before?.session.close();
    // One that was reached and never current is no better than one that was not reached.
    if (before !== undefined && !before.session.wasCurrent) this.#index = this.#after(this.#index);

    const failures: Error[] = [];
    for (const [turn, index] of this.#turns().entries()) {
      if (turn > 0) await sleep(this.#options.random() * SPREAD_MS);
      if (options.signal?.aborted === true) break;
      try {
        const followed = await this.#openAt(index, at, options);
        this.#noteMove(before?.place ?? this.#places[0], followed.place, failures);
        this.#index = index;
        this.#followed = followed;
        return followed.session;
      } catch (cause) {
        failures.push(cause instanceof Error ? cause : new Error(String(cause)));
      }
    }
    throw all(failures);
  }

  /** Sends a report of this node to the upstream that is followed. Rejects when it was not taken. */
  report(body: ReportBody): Promise<void> {
    return this.#remote().report(body);
  }

  /**
   * Moves to a connection with the newest token, if the one that is followed has another. The old connection stays until the new one
   * has taken over, and if the new token is refused. Never rejects.
   */
  async renewToken(): Promise<void> {
    const followed = this.#followed;
    const token = this.#options.token();
    const isDone = followed === undefined || followed.token === token || this.#refusedToken === token;
    if (isDone || this.#isMoving || followed.session.isClosed) return;

    const { log } = this.#options;
    const { url } = followed.place;
    const remote = new RemoteLog({ url, token });
    this.#isMoving = true;
    try {
      if (!(await followed.session.moveTo((from) => remote.open(from)))) return;
      Object.assign(followed, { token, remote });
      this.#provenToken = token;
      log.info({ upstream: url }, 'the relay token was replaced');
    } catch (cause) {
      const reason = cause instanceof Error ? cause.message : String(cause);
      if (cause instanceof TokenRefused) {
        this.#refusedToken = token;
        log.error(
          { upstream: url, reason },
          'the new relay token is refused; the earlier one is still in use',
        );
      } else log.warn({ upstream: url, reason }, 'the relay token cannot be replaced yet');
    } finally {
      this.#isMoving = false;
    }
  }

  async #openAt(index: number, at: Cursor | undefined, options: OpenOptions): Promise<Followed> {
    // `Place`: indices come from the list.
    const place = this.#places[index] as Place;
    const busyMs = place.busyUntil - performance.now();
    if (busyMs > 0)
      throw new StoreOutage(`${place.url} asked to come again later.`, { retryAfterMs: busyMs });

    const newest = this.#options.token();
    try {
      return await this.#openWith(newest, place, at, options);
    } catch (cause) {
      if (cause instanceof StoreOutage && cause.retryAfterMs !== undefined)
        place.busyUntil = performance.now() + cause.retryAfterMs;
      // A file that holds a wrong token must not end what works.
      const proven = this.#provenToken;
      if (!(cause instanceof TokenRefused) || proven === undefined || proven === newest) throw cause;
      return await this.#openWith(proven, place, at, options).catch(() => {
        throw cause;
      });
    }
  }

  async #openWith(
    token: string,
    place: Place,
    at: Cursor | undefined,
    options: OpenOptions,
  ): Promise<Followed> {
    const remote = new RemoteLog({ url: place.url, token });
    const session = await remote.open(at, options);
    this.#provenToken = token;
    return { session: new LastingSession(session, at), place, token, remote };
  }

  #noteMove(from: Place | undefined, { url }: Place, failures: readonly Error[]): void {
    if (from === undefined || from.url === url) return;
    const reason = failures.map(({ message }) => message).join(' ');
    this.#options.log.warn({ upstream: url, before: from.url, reason }, 'following another upstream');
  }

  #remote(): RemoteLog {
    const [first] = this.#places;
    return this.#followed?.remote ?? new RemoteLog({ url: first?.url ?? '', token: this.#options.token() });
  }

  /** Every index once, in the order in which they are tried. */
  #turns(): readonly number[] {
    return this.#places.map((_, offset) => (this.#index + offset) % this.#places.length);
  }

  #after(index: number): number {
    return (index + 1) % this.#places.length;
  }
}

/** Why none of the addresses can be followed. Waiting helps if it helps with one of them. */
function all(failures: readonly Error[]): Error {
  const [first] = failures;
  if (first !== undefined && failures.length === 1) return first;
  const message = failures.map((failure) => failure.message).join(' ');
  if (failures.length > 0 && failures.every((each) => each instanceof StorageError))
    return new StorageError(message);

  const asked = failures.map((each) => (each instanceof StoreOutage ? (each.retryAfterMs ?? 0) : 0));
  const retryAfterMs = failures.length > 0 ? Math.min(...asked) : 0;
  return new StoreOutage(message, retryAfterMs > 0 ? { retryAfterMs } : {});
}
