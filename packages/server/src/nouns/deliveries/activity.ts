import type { LogRow } from '../../domain/change-log.ts';
import type {
  Delivery,
  DeliveryFilter,
  DeliveryProgress,
  DeliveryReader,
  DeliveryReport,
  DeliveryStore,
  DeliveryTotals,
  StreamPresence,
} from '../../domain/delivery.ts';
import { logIsLost, projectNotFound } from '../../domain/errors.ts';
import type { OpenStreams, ServedPlaces } from '../../domain/read-side.ts';
import {
  changeEvent,
  DashboardStreams,
  deliveryEvent,
  type EventReaderOptions,
  helloEvent,
  mayEndRights,
  Names,
} from './dashboard-events.ts';
import { Presence, PresenceBoard } from './presence.ts';
import { DeliveryBoard, ReceiptWriter } from './receipts.ts';

/** Milliseconds between two reads of the open streams. */
const TICK_MS = 1000;

/** The parts of an {@link Activity}. */
export interface ActivityParts {
  /** This node's name among its peers. */
  readonly node: string;
  readonly catalog: ServedPlaces;
  readonly hub: OpenStreams;
  readonly store: DeliveryStore;
  /** Called with the number of receipts that could not be written. */
  readonly onDropped: (count: number, cause?: unknown) => void;
  /** Throws where the node can carry no more streams. */
  readonly admitStream?: () => void;
  /** Checks the readers of environment streams again, because someone may have lost rights. */
  readonly recheckStreams?: () => void;
}

/**
 * Reports what happens on this node: sends it to dashboards, and stores what other nodes need to know. Reads and frames
 * never wait for it.
 */
export class Activity implements DeliveryReader {
  readonly #parts: ActivityParts;
  readonly #names = new Names();
  readonly #streams = new DashboardStreams();
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
      node,
      store,
      hasPeers: () => this.#hasPeers,
      onTotals: (seq, environmentId, totals) => this.#publishDelivery(seq, environmentId, totals),
    });
    this.#presence = new Presence({ node, hub, store, now: Date.now });
    this.#presenceBoard = new PresenceBoard(catalog);
    this.#timer = setInterval(() => this.#tickAlone(), TICK_MS);
    this.#timer.unref();
  }

  /** How many dashboards watch. */
  get watchers(): number {
    return this.#streams.size;
  }

  /** The node follows the log, and has applied it up to `seq`. */
  live(seq: number): void {
    this.#names.load(this.#parts.catalog);
    this.#seq = seq;
    this.#isLive = true;
  }

  /** The node has lost the log: all dashboards are disconnected, so that they do not show outdated data. */
  lost(): void {
    this.#isLive = false;
    this.#streams.endAll();
  }

  /** The node has applied a row of the log; its frames are on their way. */
  applied(row: LogRow): void {
    this.#seq = row.seq;
    this.#names.learn(row);
    if (this.#streams.size > 0) {
      this.#streams.publish(changeEvent(row, this.#names.place(row.projectId, row.environmentId)));
      if (row.kind === 'flags.changed') this.#deliveries.expect(row.seq, row.environmentId ?? '');
    }
    this.#names.forget(row);
    if (!mayEndRights(row)) return;
    this.#streams.recheck();
    this.#parts.recheckStreams?.();
  }

  /** More streams of this node have seen a change. */
  progressed(progress: DeliveryProgress): void {
    const { seq, environmentId, streams, seen, slowestMs, isSettled } = progress;
    const count = { seq, node: this.#parts.node, environmentId, streams, seen, slowestMs };
    if (this.#streams.size > 0) this.#deliveries.note(count);
    if (isSettled) this.#receipts.add({ ...count, at: Date.now() });
  }

  /** Takes the report of relays. Never rejects: what cannot be stored is counted, and reported again or not at all. */
  async take({ receipts, nodes }: DeliveryReport): Promise<void> {
    for (const receipt of receipts) {
      if (this.#streams.size > 0) this.#deliveries.note(receipt);
      this.#receipts.add(receipt);
    }
    // Nodes that are not stored now are stored with their next report.
    if (nodes.length > 0) await this.#parts.store.savePresence(nodes, Date.now()).catch(() => {});
  }

  /**
   * Opens the stream of events for a dashboard: `hello` first, then every change after the row that it names, once and
   * in order. `project_not_found`; `internal_error` while the node does not follow the log.
   */
  open(request: EventReaderOptions): ReadableStream<Uint8Array> {
    const { project, visible } = request;
    if (!this.#isLive) throw logIsLost();
    this.#parts.admitStream?.();
    const projectId = project === undefined ? undefined : this.#parts.catalog.projectId(project);
    const isVisible = projectId !== undefined && visible?.includes(projectId) !== false;
    if (project !== undefined && !isVisible) throw projectNotFound(project);
    this.#presenceBoard.resend();
    return this.#streams.open(request, helloEvent(this.#seq, this.#parts.node));
  }

  /** The stored delivery, including what this node has counted so far. */
  async delivery(seq: number): Promise<Delivery | undefined> {
    await this.#receipts.flush();
    return this.#parts.store.delivery(seq);
  }

  /** The stored delivery, including what this node has counted so far. */
  async deliveries(projectId: string, which: DeliveryFilter): Promise<readonly Delivery[]> {
    await this.#receipts.flush();
    return this.#parts.store.deliveries(projectId, which);
  }

  /** The stored presence, including the streams that are open on this node now. */
  async presence(now: number): Promise<readonly StreamPresence[]> {
    await this.#report(0);
    return this.#parts.store.presence(now);
  }

  /** Ends all event streams, writes the last receipts and removes this node's presence. Safe to call twice. */
  async close(): Promise<void> {
    this.#isLive = false;
    clearInterval(this.#timer);
    this.#streams.close();
    this.#deliveries.clear();
    await this.#ticking;
    await this.#receipts.close();
    // Without the database, the other nodes forget this one after half a minute.
    await this.#presence.withdraw().catch(() => {});
  }

  /** Runs one tick at a time. */
  #tickAlone(): void {
    this.#ticking ??= this.#tick().finally(() => {
      this.#ticking = undefined;
    });
  }

  async #tick(): Promise<void> {
    try {
      await this.#report();
      if (this.#streams.size === 0) return;
      const presence = await this.#parts.store.presence(Date.now());
      this.#hasPeers = presence.some(({ node }) => node !== this.#parts.node);
      for (const event of this.#presenceBoard.update(presence)) this.#streams.publish(event);
    } catch {
      // The follower reports that the database is unreachable; the next tick tries again.
    }
  }

  /** Ignores a failed write: a read-only database can still be read, and an unreachable one fails the read. */
  async #report(leastMs?: number): Promise<void> {
    if (this.#isLive) await this.#presence.report(leastMs).catch(() => {});
  }

  #publishDelivery(seq: number, environmentId: string, totals: DeliveryTotals): void {
    const place = this.#names.placeOf(environmentId);
    // The environment may have been deleted since.
    if (place.project !== undefined) this.#streams.publish(deliveryEvent(seq, place, totals));
  }
}
