import type { OpenStreams } from './read-side.ts';

/** One node's report on one change: how many of its streams took the frame, and how soon. */
export interface DeliveryReceipt {
  /** The change's row in the change log. */
  readonly seq: number;
  readonly node: string;
  readonly environmentId: string;
  /** Streams of the environment that were open on the node when the frame went out. */
  readonly streams: number;
  /** How many of them have taken it. */
  readonly seen: number;
  /** Milliseconds from the commit, by the writer's clock, until the slowest of those; 0 without any. */
  readonly slowestMs: number;
  /** When the node stopped counting, in epoch milliseconds. */
  readonly at: number;
}

/** A change and the receipts that the nodes have written for it. */
export interface Delivery {
  readonly seq: number;
  readonly project: string;
  readonly environment: string;
  readonly revision: number;
  /** Epoch milliseconds, by the writer's clock. */
  readonly committedAt: number;
  /** By node. */
  readonly receipts: readonly DeliveryReceipt[];
}

/** How many streams of an environment a node holds open with one key. */
export interface StreamPresence {
  readonly node: string;
  readonly environmentId: string;
  /** Public id of the project key; empty for streams that were opened without one. */
  readonly keyId: string;
  readonly streams: number;
  /** When the node last reported it, in epoch milliseconds. */
  readonly seenAt: number;
}

/** Which deliveries to list. */
export interface DeliveryFilter {
  readonly limit: number;
  /** Only changes from this row of the log on. */
  readonly from?: number;
  /** Only changes up to this row. */
  readonly to?: number;
}

/** The delivery of a change over all nodes. */
export interface DeliveryTotals {
  readonly streams: number;
  readonly seen: number;
  readonly slowestMs: number;
  readonly nodes: number;
}

/** A node's own count for {@link DeliveryStore.savePresence}. */
export type StreamCount = Pick<StreamPresence, 'environmentId' | 'keyId' | 'streams'>;

/** Lists the open streams of a node, one count for each environment and key. */
export function countStreams(open: Pick<OpenStreams, 'streamsByKey'>): StreamCount[] {
  return [...open.streamsByKey()].flatMap(([environmentId, byKey]) =>
    [...byKey].map(([keyId, streams]) => ({ environmentId, keyId, streams })),
  );
}

/**
 * Where receipts and presence are kept, for all nodes to read. Writes are not changes: no log row, no audit row, and
 * losses are accepted. Failures reject with the engine's error.
 */
export interface DeliveryStore {
  saveReceipts(receipts: readonly DeliveryReceipt[]): Promise<void>;
  /** The receipts of the changes from one row of the log to another, both included. */
  receipts(fromSeq: number, toSeq: number): Promise<readonly DeliveryReceipt[]>;
  /** A change with its receipts; `undefined` if it has none or they were pruned. */
  delivery(seq: number): Promise<Delivery | undefined>;
  /** The newest changes of a project that have receipts, newest first. */
  deliveries(projectId: string, which: DeliveryFilter): Promise<readonly Delivery[]>;
  /** Replaces the counts of nodes, in one transaction. */
  savePresence(nodes: readonly NodeStreams[], seenAt: number): Promise<void>;
  /** The counts of nodes that have reported within {@link PRESENCE_MS} of `now`, epoch milliseconds. */
  presence(now: number): Promise<readonly StreamPresence[]>;
  /** Removes the counts of a node that stops. */
  removePresence(node: string): Promise<void>;
  /** Removes receipts beyond {@link RECEIPT_RETENTION} and nodes beyond {@link PRESENCE_MS}. */
  prune(now: number): Promise<void>;
}

/** The reads of a {@link DeliveryStore} that management uses. */
export type DeliveryReader = Pick<DeliveryStore, 'delivery' | 'deliveries' | 'presence'>;

/** A node without a report for this long no longer counts, in milliseconds. */
export const PRESENCE_MS = 30_000;

/** How many receipts are kept: of the newest changes, and not longer than this. */
export const RECEIPT_RETENTION = { changes: 10_000, days: 7 } as const;

/** Adds up the receipts of one change. */
export function totalOf(
  receipts: Iterable<Pick<DeliveryReceipt, 'streams' | 'seen' | 'slowestMs'>>,
): DeliveryTotals {
  let [streams, seen, slowestMs, nodes] = [0, 0, 0, 0];
  for (const receipt of receipts) {
    streams += receipt.streams;
    seen += receipt.seen;
    slowestMs = Math.max(slowestMs, receipt.slowestMs);
    nodes++;
  }
  return { streams, seen, slowestMs, nodes };
}

/** The delivery of a change on this node. Of `streams`, those neither `seen` nor `closed` have not taken it yet. */
export interface DeliveryProgress {
  readonly seq: number;
  readonly environmentId: string;
  /** Streams that were open when the frame went out. */
  readonly streams: number;
  /** Streams that have taken the frame. */
  readonly seen: number;
  /** Streams that ended before they were seen to take it. */
  readonly closed: number;
  /** Milliseconds from the commit until the slowest of `seen` took the frame; 0 while none has. */
  readonly slowestMs: number;
  /** Whether the counts are final. */
  readonly isSettled: boolean;
}

/** The open streams of one node. */
export interface NodeStreams {
  readonly node: string;
  readonly streams: readonly StreamCount[];
}

/** What the nodes below an upstream report: receipts of changes, and the streams that are open now. */
export interface DeliveryReport {
  readonly receipts: readonly DeliveryReceipt[];
  /** Each node with all its streams; one without streams has closed its last. */
  readonly nodes: readonly NodeStreams[];
}
