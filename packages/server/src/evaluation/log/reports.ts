import type { FlagReads } from '@halyard/protocol';
import type { Cursor } from '../../domain/change-log.ts';
import type { DeliveryReceipt, DeliveryReport, NodeStreams, StreamCount } from '../../domain/delivery.ts';
import { invalid, type ServiceError } from '../../domain/errors.ts';
import { digestOf } from '../../domain/secret.ts';
import type { EnvironmentUsage } from '../../domain/usage.ts';
import { isCursor } from './messages.ts';

/** Longest body of a report, in bytes. */
export const MAX_REPORT_BYTES = 1024 * 1024;

/**
 * Most receipts and ids of relay tokens in one report, and most bytes of its nodes, with which all of it fits a body.
 * What is beyond is dropped and counted.
 */
export const REPORT_LIMITS = { receipts: 500, relays: 1000, nodesBytes: 640 * 1024 } as const;

/** What a node and a count of streams take in a report besides their names, in bytes. */
const [NODE_BYTES, COUNT_BYTES] = [40, 60];

/** The body of a report. */
export interface ReportBody extends DeliveryReport {
  /** Ids of the relay tokens with which nodes below follow. */
  readonly relays: readonly string[];
  /** Receipts and counts that were dropped since the last report. */
  readonly dropped: number;
  /** Reads of flags, as clients report them; absent in reports of older versions. */
  readonly usage?: readonly EnvironmentUsage[];
  /** The cursor of a follower whose row this node lacks: its upstream knows whether the log has lost it. */
  readonly lost?: Cursor;
  /** The cursor of this node, to which a follower of another epoch has come: its upstream knows whether this epoch is over. */
  readonly over?: Cursor;
}

/** Names of nodes, and ids. */
const NAME = /^[\w.:/-]{1,200}$/;

/** A longer name of a node below becomes a digest, so that no number of tiers makes one too long. */
const MAX_NAME_BELOW = 100;

/** Largest count: sums of many are still exact. */
const MAX_COUNT = 1e9;

/** About what a node takes in a report, in bytes. */
export function reportBytesOf({ node, streams }: NodeStreams): number {
  return streams.reduce((sum, count) => sum + countBytesOf(count), NODE_BYTES + node.length);
}

/** The first counts of a node that fit into so many bytes of a report with its name. */
export function streamsWithin(bytes: number, { node, streams }: NodeStreams): readonly StreamCount[] {
  let used = reportBytesOf({ node, streams: [] });
  const end = streams.findIndex((count) => {
    used += countBytesOf(count);
    return used > bytes;
  });
  return end < 0 ? streams : streams.slice(0, end);
}

function countBytesOf({ environmentId, keyId }: StreamCount): number {
  return COUNT_BYTES + environmentId.length + keyId.length;
}

/** The name of a node that reports through a follower: it must not report as a node elsewhere. */
export function nameBelow(followerId: string, node: string): string {
  return `${followerId.slice(-8)}/${node.length > MAX_NAME_BELOW ? digestOf(node).slice(0, 32) : node}`;
}

/**
 * Reads a report. Entries that are malformed, doubled or too many are dropped and counted, so that one node does not
 * spoil the report of all others. Throws `invalid_argument` for a text that is not a report at all.
 */
export function parseReport(text: string): ReportBody {
  const raw = parse(text);
  const drops = new Drops();
  const receipts = drops.keep(listIn(raw, 'receipts'), parseReceipt, ({ seq, node }) => `${seq} ${node}`);
  const nodes = drops.keep(
    listIn(raw, 'nodes'),
    (node) => parseNode(node, drops),
    ({ node }) => node,
  );
  const relays = new Drops().keep(listIn(raw, 'relays'), parseName, (id) => id);
  return {
    receipts: drops.newest(receipts, REPORT_LIMITS.receipts),
    nodes,
    relays: relays.slice(0, REPORT_LIMITS.relays),
    dropped: drops.count + (countOf(raw.dropped) ?? 0),
    ...(Array.isArray(raw.usage) && { usage: raw.usage.flatMap(parseUsage) }),
    ...(isCursor(raw.lost) && { lost: raw.lost }),
    ...(isCursor(raw.over) && { over: raw.over }),
  };
}

type Members = Readonly<Record<string, unknown>>;

/** Counts the entries of lists that are dropped. */
class Drops {
  count = 0;

  /** The entries that `read` accepts; of those with the same key the last one. */
  keep<T>(
    raw: readonly unknown[],
    read: (entry: unknown) => T | undefined,
    keyOf: (entry: T) => string,
  ): T[] {
    const kept = new Map<string, T>();
    for (const each of raw) {
      const entry = read(each);
      if (entry !== undefined) kept.set(keyOf(entry), entry);
    }
    this.count += raw.length - kept.size;
    return [...kept.values()];
  }

  /** The last entries, at most so many. */
  newest<T>(entries: readonly T[], most: number): readonly T[] {
    const kept = entries.slice(-most);
    this.count += entries.length - kept.length;
    return kept;
  }
}

function parseReceipt(raw: unknown): DeliveryReceipt | undefined {
  const { seq, at, ...receipt } = membersIn(raw);
  const [node, environmentId] = [parseName(receipt.node), parseName(receipt.environmentId)];
  const [streams, seen, slowestMs] = [receipt.streams, receipt.seen, receipt.slowestMs].map(countOf);
  if (node === undefined || environmentId === undefined || !isWhole(seq) || !isWhole(at)) return undefined;
  if (streams === undefined || seen === undefined || slowestMs === undefined || seen > streams)
    return undefined;
  return { seq, node, environmentId, streams, seen, slowestMs, at };
}

function parseNode(raw: unknown, drops: Drops): NodeStreams | undefined {
  const { node: name, streams } = membersIn(raw);
  const node = parseName(name);
  if (node === undefined || !Array.isArray(streams)) return undefined;
  return {
    node,
    streams: drops.keep(streams, parseCount, ({ environmentId, keyId }) => `${environmentId} ${keyId}`),
  };
}

function parseCount(raw: unknown): StreamCount | undefined {
  const count = membersIn(raw);
  const [environmentId, keyId] = [parseName(count.environmentId), parseName(count.keyId)];
  const streams = countOf(count.streams);
  if (environmentId === undefined || keyId === undefined || streams === undefined) return undefined;
  return { environmentId, keyId, streams };
}

/** Reads of flags. Malformed ones are dropped without adding to `dropped`, which is about receipts and streams. */
function parseUsage(raw: unknown): EnvironmentUsage[] {
  const { environmentId: id, flags } = membersIn(raw);
  const environmentId = parseName(id);
  if (environmentId === undefined || !Array.isArray(flags)) return [];
  return [{ environmentId, flags: flags.filter(isReads) }];
}

function isReads(raw: unknown): raw is FlagReads {
  if (!Array.isArray(raw) || raw.length !== 3) return false;
  const [flagKey, ...counts] = raw;
  return typeof flagKey === 'string' && counts.every(isWhole);
}

function parse(text: string): Members {
  let raw: unknown;
  try {
    raw = JSON.parse(text);
  } catch (cause) {
    throw malformed('the body', cause);
  }
  return membersIn(raw);
}

/** The members of an object; none of anything else. */
function membersIn(raw: unknown): Members {
  return typeof raw === 'object' && raw !== null ? (raw as Members) : {};
}

function listIn(raw: Members, name: string): readonly unknown[] {
  const list = raw[name];
  if (!Array.isArray(list)) throw malformed(name);
  return list;
}

function isWhole(raw: unknown): raw is number {
  return typeof raw === 'number' && Number.isSafeInteger(raw) && raw >= 0;
}

function countOf(raw: unknown): number | undefined {
  return isWhole(raw) && raw <= MAX_COUNT ? raw : undefined;
}

function parseName(raw: unknown): string | undefined {
  return typeof raw === 'string' && NAME.test(raw) ? raw : undefined;
}

function malformed(what: string, cause?: unknown): ServiceError {
  return invalid(`The report of a relay is malformed (${what}): use the same version.`, { cause });
}
