import { hostname } from 'node:os';
import type { LogRow } from '../../domain/change-log.ts';
import type {
  Delivery,
  DeliveryProgress,
  DeliveryReader,
  DeliveryStore,
  DeliveryTotals,
  StreamPresence,
} from '../../domain/delivery.ts';
import { ServiceError } from '../../domain/errors.ts';
import type { OpenStreams, ServedPlaces } from '../../domain/read-side.ts';
import { changeEvent, deliveryEvent, EventFeed, helloEvent, Names } from './dashboard-events.ts';
import { Presence, PresenceBoard } from './presence.ts';
import { DeliveryBoard, ReceiptWriter } from './receipts.ts';

/** Milliseconds between two looks at who is connected. */
const TICK_MS = 1000;

/** What the activity of a node is seen in. */
export interface ActivityParts {
  /** This node's name among its peers. */
  readonly node: string;
  readonly catalog: ServedPlaces;
  readonly hub: OpenStreams;
  readonly store: DeliveryStore;
  /** Hears how many receipts could not be written down. */
  readonly onDropped: (count: number, cause?: unknown) => void;
}

/** Whom an event stream is opened for. */
export interface EventsRequest {
  /** Name of the only project that is watched; absent for all. */
  readonly project?: string;
  readonly stillValid: () => Promise<boolean>;
}

/**
 * What happens on this node: told to screens as it happens, and, as far as other nodes must know of it, written down.
 * None of it is on the way of a read or a frame.
 */
export class Activity implements DeliveryReader {
  readonly #parts: ActivityParts;
  readonly #names = new Names();
  readonly #feed = new EventFeed();
  readonly #receipts: ReceiptWriter;
  readonly #deliveries: DeliveryBoard;
  readonly #presence: Presence;
  readonly #presenceBoard: PresenceBoard;
  readonly #timer: Timer;
  #ticking: Promise<void> | undefined;
  #hasPeers = true;
  #isLive = false;
  #seq = 0;

  constructor(parts: ActivityParts) {
    const { node, catalog, hub, store, onDropped } = parts;
    this.#parts = parts;
    this.#receipts = new ReceiptWriter({ store, now: Date.now, onDropped });
    this.#deliveries = new DeliveryBoard({
      ...{ node, store, hasPeers: () => this.#hasPeers },
      onTotals: (seq, environmentId, totals) => this.#tellDelivery(seq, environmentId, totals),
    });
    this.#presence = new Presence({ node, hub, store, now: Date.now });
    this.#presenceBoard = new PresenceBoard(catalog);
    this.#timer = setInterval(() => this.#tickAlone(), TICK_MS);
    this.#timer.unref();
  }

  /** How many screens watch. */
  get watchers(): number {
    return this.#feed.size;
  }

  /** The node follows the log, and has applied it as far as `seq`. */
  live(seq: number): void {
    this.#names.load(this.#parts.catalog);
    this.#seq = seq;
    this.#isLive = true;
  }

  /** The node has lost the log: every screen is cut off, so that none takes an old picture for the present. */
  lost(): void {
    this.#isLive = false;
    this.#feed.endAll();
  }

  /** The node has applied a row of the log; its frames are on their way. */
  applied(row: LogRow): void {
    this.#seq = row.seq;
    this.#names.learn(row);
    if (this.#feed.size > 0) {
      this.#feed.publish(changeEvent(row, this.#names.place(row.projectId, row.environmentId)));
      if (row.kind === 'flags.changed') this.#deliveries.expect(row.seq, row.environmentId ?? '');
    }
    this.#names.forget(row);
  }

  /** A change has got further on this node. */
  progressed(progress: DeliveryProgress): void {
    const { seq, environmentId, streams, seen, slowestMs, isSettled } = progress;
    const count = { seq, node: this.#parts.node, environmentId, streams, seen, slowestMs };
    if (this.#feed.size > 0) this.#deliveries.note(count);
    if (isSettled) this.#receipts.add({ ...count, at: Date.now() });
  }

  /**
   * Opens the stream of events for a screen: `hello` first, then every change after the row that it names, once and
   * in order. `project_not_found`; `internal_error` while the node does not follow the log.
   */
  open({ project, stillValid }: EventsRequest): ReadableStream<Uint8Array> {
    if (!this.#isLive) {
      const message = 'This node cannot follow the changes at the moment; try again shortly.';
      throw new ServiceError('internal_error', message, { retryAfterSeconds: 1 });
    }
    if (project !== undefined && this.#parts.catalog.projectId(project) === undefined) {
      const message = 'There is no project of that name: check the name, or create it.';
      throw new ServiceError('project_not_found', message);
    }
    this.#presenceBoard.tellAgain();
    return this.#feed.open({ project, stillValid }, helloEvent(this.#seq, this.#parts.node));
  }

  /** As the store has it, with what this node has counted so far. */
  async delivery(seq: number): Promise<Delivery | undefined> {
    await this.#receipts.flush();
    return this.#parts.store.delivery(seq);
  }

  /** As the store has it, with what this node has counted so far. */
  async deliveries(projectId: string, limit: number): Promise<readonly Delivery[]> {
    await this.#receipts.flush();
    return this.#parts.store.deliveries(projectId, limit);
  }

  /** As the store has it, with the streams that are open here now. */
  async presence(since: number): Promise<readonly StreamPresence[]> {
    await this.#report(0);
    return this.#parts.store.presence(since);
  }

  /** Ends every stream of events, writes down the last receipts and withdraws this node's streams. Safe to call twice. */
  async close(): Promise<void> {
    this.#isLive = false;
    clearInterval(this.#timer);
    this.#feed.close();
    this.#deliveries.clear();
    await this.#ticking;
    await this.#receipts.close();
    // With the database away the others forget this node by themselves, half a minute later.
    await this.#presence.withdraw().catch(() => {});
  }

  /** One tick at a time. Its end is noted from outside: one with nothing to do ends before it could be held. */
  #tickAlone(): void {
    this.#ticking ??= this.#tick().finally(() => {
      this.#ticking = undefined;
    });
  }

  async #tick(): Promise<void> {
    try {
      await this.#report();
      if (this.#feed.size === 0) return;
      const presence = await this.#presence.read();
      this.#hasPeers = presence.some(({ node }) => node !== this.#parts.node);
      for (const event of this.#presenceBoard.update(presence)) this.#feed.publish(event);
    } catch {
      // The database is away, which the follower tells of; the next tick tries again.
    }
  }

  /** A database that cannot be written, as a standby, can still tell of the others; one that is away refuses the read. */
  async #report(leastMs?: number): Promise<void> {
    if (this.#isLive) await this.#presence.report(leastMs).catch(() => {});
  }

  #tellDelivery(seq: number, environmentId: string, totals: DeliveryTotals): void {
    const place = this.#names.placeOf(environmentId);
    // Deleted meanwhile: there is nobody left to tell.
    if (place.project !== undefined) this.#feed.publish(deliveryEvent(seq, place, totals));
  }
}

/**
 * A name for this process among the nodes of an installation: the host's, for people, and a random part, because
 * several processes may share host and port, and because one that starts again has none of the old one's streams.
 */
export function newNodeName(): string {
  const random = crypto.getRandomValues(new Uint8Array(4)).toHex();
  return `${hostname()}-${random}`;
}
