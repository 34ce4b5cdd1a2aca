import type { Logger } from 'pino';
import type { Cursor, LogHistory } from '../../domain/change-log.ts';
import { precedes } from '../../domain/epoch.ts';
import type { ReadPlane } from '../read-plane.ts';
import type { LogBacklog } from './backlog.ts';
import { BEHIND } from './messages.ts';

/** How often followers that are ahead are logged at most, in milliseconds. */
const WARN_MS = 30_000;

/** Parts of a {@link SharedHistory}. */
export interface SharedHistoryOptions {
  readonly plane: Pick<ReadPlane, 'follower' | 'history' | 'waitForApplied'>;
  readonly backlog: LogBacklog;
  readonly log: Logger;
}

/** Compares the cursors of followers with the history of this node. (docs/decisions/0031-sealed-cursors.md) */
export class SharedHistory {
  readonly #options: SharedHistoryOptions;
  /** Rows of followers that are being looked for. */
  readonly #asked = new Map<string, Promise<boolean>>();
  #warnedAt = Number.NEGATIVE_INFINITY;

  constructor(options: SharedHistoryOptions) {
    this.#options = options;
  }

  /** A cursor as followers get it. */
  seal(cursor: Cursor): Cursor {
    const { history } = this.#options.plane;
    return history === undefined ? cursor : { ...cursor, changeId: history.seal(cursor) };
  }

  /**
   * Whether a follower has rows of this history that this node lacks: it must not take that follower's readers back. Waits
   * for them for a while; if they do not come, or others are in their place, the log may have lost them. (Spec: S14.12)
   */
  async lacks(relay: string, from: Cursor): Promise<boolean> {
    const { plane, backlog, log } = this.#options;
    const isOwn = () => plane.follower.cursor?.epoch === from.epoch;
    const isBeyond = () => isOwn() && plane.follower.seq < from.seq;

    if (isBeyond()) await plane.waitForApplied(from.seq);
    if (isOwn() && backlog.continues(from)) return false;

    // The newest epoch is that of the log now, unless a follower proves a later one, which the log has lost. A node that has not
    // noticed yet that its own epoch is over cannot tell which followers are ahead of it.
    const { cursor } = plane.follower;
    const mayBeLost = isOwn() || (cursor !== undefined && !precedes(from.epoch, cursor.epoch));
    let lacks = (mayBeLost && (await this.hasLost(from))) || isBeyond();
    if (!lacks && cursor !== undefined && cursor.epoch !== from.epoch) lacks = await this.isOver(cursor);

    // Said for one of many, and not for each attempt.
    if (lacks && performance.now() - this.#warnedAt > WARN_MS) {
      this.#warnedAt = performance.now();
      log.warn(
        { relay, itsSeq: from.seq, seq: plane.follower.seq },
        'a relay has changes that this node lacks',
      );
    }
    return lacks;
  }

  /** Whether the history of this node's log has lost a row. */
  hasLost(row: Cursor): Promise<boolean> {
    return this.#askOnce('lost', row, (history) => history.hasLost(row));
  }

  /** Whether the epoch of a node is over. Asks anew: an answer that is on its way may be older than what the follower knows. */
  async isOver(own: Cursor): Promise<boolean> {
    await this.#asked.get(nameOf('over', own))?.catch(() => {});
    return this.#askOnce('over', own, (history) => history.isOver(own));
  }

  /** Followers that ask about the same row ask once. */
  #askOnce(what: string, row: Cursor, ask: (history: LogHistory) => Promise<boolean>): Promise<boolean> {
    const { history } = this.#options.plane;
    const name = nameOf(what, row);
    const asked = this.#asked.get(name) ?? (history && ask(history).finally(() => this.#asked.delete(name)));
    if (asked === undefined) return Promise.resolve(false);

    this.#asked.set(name, asked);
    return asked;
  }
}

/** A question about a row. */
function nameOf(what: string, { epoch, seq, changeId }: Cursor): string {
  return JSON.stringify([what, epoch, seq, changeId]);
}

/** Refuses a follower for now; a proxy may ask another node at once. */
export function behind({ seq }: Cursor): Response {
  const message = `This node does not have row ${seq} of its log: try again shortly, or at another node.`;
  return Response.json({ error: BEHIND, message }, { status: 503, headers: { 'Retry-After': '1' } });
}
