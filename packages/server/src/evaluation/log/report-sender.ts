import {
  countStreams,
  type DeliveryProgress,
  type DeliveryReceipt,
  type DeliveryReport,
  type NodeStreams,
  PRESENCE_MS,
  type StreamCount,
} from '../../domain/delivery.ts';
import { StoreOutage } from '../../domain/errors.ts';
import type { OpenStreams } from '../../domain/read-side.ts';
import { usageParts } from '../../domain/usage.ts';
import type { ReadPlaneObserver } from '../read-plane.ts';
import type { UsageTally } from '../usage/usage-tally.ts';
import { REPORT_LIMITS, type ReportBody, reportBytesOf, streamsWithin } from './reports.ts';

/** Milliseconds between two reports while there are receipts, changed and unchanged streams. */
const EVERY_MS = { receipts: 250, changed: 2000, unchanged: 10_000 } as const;

/** Milliseconds between two reports of what clients say about their reads. */
const USAGE_MS = 60_000;

/** Most flags in one report of reads; keys are short, so they fit. */
const FLAGS_IN_REPORT = 2000;

/** So many nodes below are named; of more, the streams are added up, so that a report does not grow with the tree. */
const NAMED_BELOW = 10;

/** Parts of a {@link ReportSender}. */
export interface ReportSenderOptions {
  /** This node's name among its peers. */
  readonly node: string;
  readonly streams: OpenStreams;
  /** Sends one report to the upstream; rejects when it was not taken. */
  readonly send: (report: ReportBody) => Promise<void>;
  /** Reads of flags, as clients of this node and of all below report them. */
  readonly usage: Pick<UsageTally, 'take' | 'add'>;
  /** The relay tokens with which nodes follow this one. */
  readonly takeContacts: () => ReadonlySet<string>;
}

/** What a node below reported last. */
interface NodeBelow {
  readonly streams: readonly StreamCount[];
  /** What it takes in a report. */
  readonly bytes: number;
  readonly at: number;
}

/**
 * Reports upward what a node without a database knows: how many of its streams took a change, which are open, and the
 * same of all nodes below. Bounded: what does not fit is dropped and counted. Reads and frames never wait for it.
 */
export class ReportSender implements ReadPlaneObserver {
  readonly #options: ReportSenderOptions;
  readonly #below = new Map<string, NodeBelow>();
  #belowBytes = 0;
  readonly #timer: Timer;
  #receipts: DeliveryReceipt[] = [];
  #dropped = 0;
  #turnover = -1;
  #hasChangedBelow = false;
  /** The nodes with streams in the last report that was taken: one that has none any longer is reported once more. */
  #reported: ReadonlySet<string> = new Set();
  /** The upstream asked not to be sent reports before. */
  #pausedUntil = Number.NEGATIVE_INFINITY;
  #presenceAt = Number.NEGATIVE_INFINITY;
  #usageAt = performance.now();
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

  /** Takes the report of nodes below, of which so many receipts and counts were dropped, to pass it on. */
  async take({ receipts, nodes }: DeliveryReport, dropped: number): Promise<void> {
    this.#dropped += dropped;
    for (const receipt of receipts) this.#add(receipt);
    for (const node of nodes) this.#takeNode(node);
  }

  /** Sends what is left, and that this node's streams are closed. Never rejects. Safe to call twice. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#sending;
    if (!this.#isLive) return;
    this.#isLive = false;
    await this.#sendUsage();
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

  /** Keeps what a node below reported, as long as all of them fit a report. */
  #takeNode({ node, streams }: NodeStreams): void {
    this.#hasChangedBelow ||= streams.length > 0 || this.#below.has(node);
    this.#forget(node);
    if (streams.length === 0) return;

    const bytes = reportBytesOf({ node, streams });
    if (this.#belowBytes + bytes > REPORT_LIMITS.nodesBytes) this.#forgetOld();
    if (this.#belowBytes + bytes > REPORT_LIMITS.nodesBytes) {
      this.#dropped += streams.length;
      return;
    }
    this.#below.set(node, { streams, bytes, at: performance.now() });
    this.#belowBytes += bytes;
  }

  #forget(node: string): void {
    this.#belowBytes -= this.#below.get(node)?.bytes ?? 0;
    this.#below.delete(node);
  }

  #forgetOld(): void {
    const forgotten = performance.now() - PRESENCE_MS;
    for (const [node, { at }] of this.#below) if (at < forgotten) this.#forget(node);
  }

  #tick(): void {
    if (!this.#isLive || this.#sending !== undefined || performance.now() < this.#pausedUntil) return;
    if (performance.now() - this.#usageAt >= USAGE_MS) {
      this.#hold(this.#sendUsage());
      return;
    }
    const { streams } = this.#options;
    const hasChanged = streams.turnover !== this.#turnover || this.#hasChangedBelow;
    const isDue =
      performance.now() - this.#presenceAt >= (hasChanged ? EVERY_MS.changed : EVERY_MS.unchanged);
    if (this.#receipts.length === 0 && !isDue) return;
    this.#hold(this.#send(isDue));
  }

  /** One report at a time. */
  #hold(sending: Promise<void>): void {
    this.#sending = sending.finally(() => {
      this.#sending = undefined;
    });
  }

  /** Sends the reads of flags. Those that could not be sent are sent the next time. */
  async #sendUsage(): Promise<void> {
    const { usage, send } = this.#options;
    this.#usageAt = performance.now();
    for (const part of usageParts(usage.take(), FLAGS_IN_REPORT)) {
      try {
        await send({ receipts: [], nodes: [], relays: [], dropped: 0, usage: part });
      } catch (cause) {
        for (const each of part) usage.add(each);
        this.#pause(cause);
      }
    }
  }

  /** Leaves the upstream alone for as long as it asks. */
  #pause(cause: unknown): void {
    const askedMs = cause instanceof StoreOutage ? (cause.retryAfterMs ?? 0) : 0;
    if (askedMs > 0) this.#pausedUntil = performance.now() + askedMs * (1 + Math.random());
  }

  async #send(withPresence: boolean): Promise<void> {
    const receipts = this.#receipts;
    this.#receipts = [];
    if (withPresence) {
      this.#presenceAt = performance.now();
      this.#turnover = this.#options.streams.turnover;
      this.#hasChangedBelow = false;
    }
    const body = this.#bodyOf({ receipts, nodes: withPresence ? this.#nodes() : [] });
    try {
      await this.#options.send(body);
      this.#dropped -= body.dropped;
      if (withPresence) this.#reported = new Set(body.nodes.flatMap(nameIfOpen));
    } catch (cause) {
      // The log stream of the same upstream reports that it is away. Receipts are not worth a retry.
      this.#dropped += receipts.length;
      this.#presenceAt = Number.NEGATIVE_INFINITY;
      this.#pause(cause);
    }
  }

  #bodyOf(report: DeliveryReport): ReportBody {
    const relays = this.#options.takeContacts();
    return { ...report, relays: [...relays].slice(0, REPORT_LIMITS.relays), dropped: this.#dropped };
  }

  #nodes(): DeliveryReport['nodes'] {
    this.#forgetOld();
    const own: NodeStreams = { node: this.#options.node, streams: countStreams(this.#options.streams) };
    let room: number = REPORT_LIMITS.nodesBytes;
    const nodes: NodeStreams[] = [];
    const add = ({ node, streams }: NodeStreams) => {
      const part = { node, streams: streamsWithin(room, { node, streams }) };
      this.#dropped += streams.length - part.streams.length;
      const hasRoom = part.streams.length > 0 || streams.length === 0;
      if (!hasRoom || reportBytesOf(part) > room) return;
      room -= reportBytesOf(part);
      nodes.push(part);
    };

    for (const each of [own, ...this.#nodesBelow()]) add(each);
    const listed = new Set(nodes.map(({ node }) => node));
    for (const node of this.#reported) if (!listed.has(node)) add({ node, streams: [] });
    return nodes;
  }

  /** The nodes below, or one that stands for them. */
  #nodesBelow(): readonly NodeStreams[] {
    const below = [...this.#below].map(([node, { streams }]) => ({ node, streams }));
    if (below.length <= NAMED_BELOW) return below;

    const sums = new Map<string, StreamCount>();
    for (const count of below.flatMap(({ streams }) => streams)) {
      const name = `${count.environmentId} ${count.keyId}`;
      const streams = count.streams + (sums.get(name)?.streams ?? 0);
      sums.set(name, { ...count, streams });
    }
    return [{ node: `${this.#options.node}/below`, streams: [...sums.values()] }];
  }
}

function nameIfOpen({ node, streams }: NodeStreams): readonly string[] {
  return streams.length > 0 ? [node] : [];
}
