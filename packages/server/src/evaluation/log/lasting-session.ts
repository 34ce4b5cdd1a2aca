import type { Cursor, LogHead, LogPage, LogSession, Snapshot } from '../../domain/change-log.ts';
import { StoreOutage } from '../../domain/errors.ts';
import type { RemoteSession } from './remote-session.ts';

/** A session that takes the place of another one. */
interface Successor {
  readonly session: RemoteSession;
  /** Where it continues. */
  readonly from: Cursor;
  /** Resolves to whether it has taken over. */
  readonly taken: PromiseWithResolvers<boolean>;
}

/**
 * A session with an upstream that can move to another connection, with another token, while it is followed: no reader notices. The
 * new connection takes over only where it continues exactly what the old one has brought.
 */
export class LastingSession implements LogSession {
  #session: RemoteSession;
  /** The last row that was handed out, or where the session began; unknown while a snapshot comes. */
  #last: Cursor | undefined;
  #successor: Successor | undefined;
  #wake: () => void = () => {};
  #onLost: ((cause: Error) => void) | undefined;
  #isClosed = false;

  constructor(session: RemoteSession, from: Cursor | undefined) {
    this.#session = session;
    this.#last = session.continues ? from : undefined;
  }

  /** Whether the upstream has proven that its log ends here, so that this node could be current. */
  get wasCurrent(): boolean {
    return this.#session.wasCurrent;
  }

  /** Whether no connection is open any longer. */
  get isClosed(): boolean {
    return this.#isClosed;
  }

  async snapshot(): Promise<Snapshot> {
    const snapshot = await this.#session.snapshot();
    this.#last = snapshot.cursor;
    return snapshot;
  }

  head(seq?: number): Promise<LogHead> {
    return this.#session.head(seq);
  }

  async read(afterSeq: number): Promise<LogPage> {
    const page = (await this.#takeOver(afterSeq)) ?? (await this.#session.read(afterSeq));
    const row = page.rows.at(-1);
    if (row !== undefined && this.#last !== undefined)
      this.#last = { ...this.#last, seq: row.seq, changeId: row.changeId };
    return page;
  }

  onWake(listener: () => void): void {
    this.#wake = listener;
    this.#session.onWake(listener);
  }

  onLost(listener: (cause: Error) => void): void {
    this.#onLost = listener;
    this.#session.onLost(listener);
  }

  close(): void {
    this.#isClosed = true;
    this.#dismiss();
    this.#session.close();
  }

  /**
   * Moves to another connection, which `open` makes. Resolves to whether it has taken over. One that does not continue here, as
   * with a token of another scope, ends this session: everything is loaded again.
   */
  async moveTo(open: (from: Cursor) => Promise<RemoteSession>): Promise<boolean> {
    const from = this.#last;
    if (from === undefined || !this.wasCurrent) return false;

    const session = await open(from);
    if (!session.continues) {
      session.close();
      if (!this.#isClosed)
        this.#lose(new StoreOutage('the upstream gives another part of the log from now on'));
      return false;
    }

    try {
      await session.current;
    } catch {
      return false;
    }
    if (this.#isClosed) {
      session.close();
      return false;
    }

    const successor = { session, from, taken: Promise.withResolvers<boolean>() };
    this.#successor = successor;
    session.onLost(() => {
      if (this.#successor === successor) this.#dismiss();
    });
    // It takes over when rows are read next.
    this.#wake();
    return successor.taken.promise;
  }

  /** The rows after `afterSeq` on the new connection, if there is one and it has the very row with which the old one ended. */
  async #takeOver(afterSeq: number): Promise<LogPage | undefined> {
    const successor = this.#successor;
    if (successor === undefined) return undefined;
    this.#successor = undefined;

    const { session, from, taken } = successor;
    const page = await session.read(from.seq).catch(() => undefined);
    const changeId =
      afterSeq === from.seq ? from.changeId : page?.rows.find(({ seq }) => seq === afterSeq)?.changeId;
    if (page === undefined || this.#last?.seq !== afterSeq || changeId !== this.#last.changeId) {
      session.close();
      taken.resolve(false);
      return undefined;
    }

    const old = this.#session;
    this.#session = session;
    old.close();
    session.onWake(this.#wake);
    if (this.#onLost !== undefined) session.onLost(this.#onLost);
    taken.resolve(true);
    return { ...page, rows: page.rows.filter(({ seq }) => seq > afterSeq) };
  }

  #dismiss(): void {
    this.#successor?.session.close();
    this.#successor?.taken.resolve(false);
    this.#successor = undefined;
  }

  #lose(cause: Error): void {
    this.close();
    this.#onLost?.(cause);
  }
}
