import {
  countStreams,
  type DeliveryProgress,
  type DeliveryReceipt,
  type DeliveryReport,
  PRESENCE_MS,
  type StreamCount,
} from '../../domain/delivery.ts';
import type { OpenStreams } from '../../domain/read-side.ts';
import type { ReadPlaneObserver } from '../read-plane.ts';
import { REPORT_LIMITS, type ReportBody } from './reports.ts';

/** Milliseconds between two reports while there are receipts, changed and unchanged streams. */
const EVERY_MS = { receipts: 250, changed: 2000, unchanged: 10_000 } as const;

/** Parts of a {@link ReportSender}. */
export interface ReportSenderOptions {
  /** This node's name among its peers. */
  readonly node: string;
  readonly streams: OpenStreams;
  /** Sends one report to the upstream; rejects when it was not taken. */
  readonly send: (report: ReportBody) => Promise<void>;
  /** The relay tokens with which nodes follow this one. */
  readonly takeContacts: () => ReadonlySet<string>;
}

/**
 * Reports upward what a node without a database knows: how many of its streams took a change, which are open, and the
 * same of all nodes below. Bounded: what does not fit is dropped and counted. Reads and frames never wait for it.
 */
export class ReportSender implements ReadPlaneObserver {
  readonly #options: ReportSenderOptions;
  readonly #below = new Map<string, { readonly streams: readonly StreamCount[]; readonly at: number }>();
  readonly #timer: Timer;
  #receipts: DeliveryReceipt[] = [];
  #dropped = 0;
  #turnover = -1;
  #hasChangedBelow = false;
  #presenceAt = Number.NEGATIVE_INFINITY;
  #isLive = false;
  #sending: Promise<void> | undefined;

  constructor(options: ReportSenderOptions) {
    this.#options = options;
    this.#timer = setInterval(() => this.#tick(), EVERY_MS.receipts);
    this.#timer.unref();
  }

  /** The upstream is there. */
  live(): void {
    this.#isLive = true;
    this.#presenceAt = Number.NEGATIVE_INFINITY;
  }

  /** The upstream is lost: receipts wait for it, bounded. */
  lost(): void {
    this.#isLive = false;
  }

  /** More streams of this node have taken a change. */
  progressed({ seq, environmentId, streams, seen, slowestMs, isSettled }: DeliveryProgress): void {
    if (!isSettled) return;
    const { node } = this.#options;
    this.#add({ seq, node, environmentId, streams, seen, slowestMs: Math.round(slowestMs), at: Date.now() });
  }

  /** Takes the report of nodes below, to pass it on. */
  async take({ receipts, nodes }: DeliveryReport): Promise<void> {
    for (const receipt of receipts) this.#add(receipt);
    for (const { node, streams } of nodes) {
      this.#below.set(node, { streams, at: performance.now() });
      this.#hasChangedBelow = true;
    }
  }

  /** Sends what is left, and that this node's streams are closed. Never rejects. Safe to call twice. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#sending;
    if (!this.#isLive) return;
    this.#isLive = false;
    const nodes = [{ node: this.#options.node, streams: [] }];
    // The upstream forgets this node after half a minute if this report is lost.
    await this.#options.send(this.#bodyOf({ receipts: this.#receipts, nodes })).catch(() => {});
  }

  #add(receipt: DeliveryReceipt): void {
    if (this.#receipts.length >= REPORT_LIMITS.receipts) {
      this.#receipts.shift();
      this.#dropped++;
    }
    this.#receipts.push(receipt);
  }

  #tick(): void {
    if (!this.#isLive || this.#sending !== undefined) return;
    const { streams } = this.#options;
    const hasChanged = streams.turnover !== this.#turnover || this.#hasChangedBelow;
    const isDue =
      performance.now() - this.#presenceAt >= (hasChanged ? EVERY_MS.changed : EVERY_MS.unchanged);
    if (this.#receipts.length === 0 && !isDue) return;
    this.#sending = this.#send(isDue).finally(() => {
      this.#sending = undefined;
    });
  }

  async #send(withPresence: boolean): Promise<void> {
    const receipts = this.#receipts;
    this.#receipts = [];
    if (withPresence) {
      this.#presenceAt = performance.now();
      this.#turnover = this.#options.streams.turnover;
      this.#hasChangedBelow = false;
    }
    try {
      await this.#options.send(this.#bodyOf({ receipts, nodes: withPresence ? this.#nodes() : [] }));
      this.#dropped = 0;
    } catch {
      // The log stream of the same upstream reports that it is away. Receipts are not worth a retry.
      this.#dropped += receipts.length;
      this.#presenceAt = Number.NEGATIVE_INFINITY;
    }
  }

  #bodyOf(report: DeliveryReport): ReportBody {
    const relays = this.#options.takeContacts();
    return { ...report, relays: [...relays].slice(0, REPORT_LIMITS.relays), dropped: this.#dropped };
  }

  #nodes(): DeliveryReport['nodes'] {
    const forgotten = performance.now() - PRESENCE_MS;
    for (const [node, { at }] of this.#below) if (at < forgotten) this.#below.delete(node);
    const own = countStreams(this.#options.streams);
    let room: number = REPORT_LIMITS.counts;
    const nodes: { node: string; streams: readonly StreamCount[] }[] = [];
    for (const [node, { streams }] of [[this.#options.node, { streams: own }] as const, ...this.#below]) {
      const fitting = streams.slice(0, room);
      room -= fitting.length;
      this.#dropped += streams.length - fitting.length;
      if (fitting.length > 0 || streams.length === 0) nodes.push({ node, streams: fitting });
    }
    return nodes;
  }
}
