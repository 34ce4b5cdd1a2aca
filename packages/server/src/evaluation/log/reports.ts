import type { DeliveryReceipt, DeliveryReport, NodeStreams, StreamCount } from '../../domain/delivery.ts';
import { invalid, ServiceError } from '../../domain/errors.ts';

/** Longest body of a report, in bytes. */
export const MAX_REPORT_BYTES = 1024 * 1024;

/** Most receipts, and most counts of streams, in one report: what is beyond is dropped and counted. */
export const REPORT_LIMITS = { receipts: 500, counts: 5000, relays: 1000 } as const;

/** The body of a report. */
export interface ReportBody extends DeliveryReport {
  /** Ids of the relay tokens with which nodes below follow. */
  readonly relays: readonly string[];
  /** Receipts and counts that were dropped since the last report. */
  readonly dropped: number;
}

const NODE_NAME = /^[\w.:/-]{1,200}$/;

/** Reads a report. Throws `invalid_argument` for anything that is not one. */
export function parseReport(text: string): ReportBody {
  const raw = parse(text);
  const receipts = listIn(raw, 'receipts', REPORT_LIMITS.receipts).map(parseReceipt);
  const nodes = listIn(raw, 'nodes', REPORT_LIMITS.counts).map(parseNode);
  if (nodes.reduce((sum, { streams }) => sum + streams.length, 0) > REPORT_LIMITS.counts)
    throw malformed('nodes');
  const relays = listIn(raw, 'relays', REPORT_LIMITS.relays).map((id) => textOf(id, 'relays'));
  return { receipts, nodes, relays, dropped: countOf(raw, 'dropped') };
}

type Members = Readonly<Record<string, unknown>>;

function parseReceipt(raw: unknown): DeliveryReceipt {
  const receipt = recordOf(raw, 'receipts');
  const [streams, seen] = [countOf(receipt, 'streams'), countOf(receipt, 'seen')];
  if (seen > streams) throw malformed('seen');
  return {
    seq: countOf(receipt, 'seq'),
    node: nameOf(receipt),
    environmentId: textOf(receipt.environmentId, 'environmentId'),
    streams,
    seen,
    slowestMs: countOf(receipt, 'slowestMs'),
    at: countOf(receipt, 'at'),
  };
}

function parseNode(raw: unknown): NodeStreams {
  const node = recordOf(raw, 'nodes');
  return { node: nameOf(node), streams: listIn(node, 'streams', REPORT_LIMITS.counts).map(parseCount) };
}

function parseCount(raw: unknown): StreamCount {
  const count = recordOf(raw, 'streams');
  return {
    environmentId: textOf(count.environmentId, 'environmentId'),
    keyId: textOf(count.keyId, 'keyId'),
    streams: countOf(count, 'streams'),
  };
}

function parse(text: string): Members {
  try {
    return recordOf(JSON.parse(text), 'the body');
  } catch (cause) {
    throw cause instanceof ServiceError ? cause : malformed('the body');
  }
}

function recordOf(raw: unknown, what: string): Members {
  if (typeof raw !== 'object' || raw === null || Array.isArray(raw)) throw malformed(what);
  return raw as Members;
}

function listIn(raw: Members, name: string, most: number): readonly unknown[] {
  const list = raw[name];
  if (!Array.isArray(list) || list.length > most) throw malformed(name);
  return list;
}

function countOf(raw: Members, name: string): number {
  const count = raw[name];
  if (typeof count !== 'number' || !Number.isSafeInteger(count) || count < 0) throw malformed(name);
  return count;
}

function textOf(raw: unknown, name: string): string {
  if (typeof raw !== 'string' || raw.length > 200) throw malformed(name);
  return raw;
}

function nameOf({ node }: Members): string {
  if (typeof node !== 'string' || !NODE_NAME.test(node)) throw malformed('node');
  return node;
}

function malformed(what: string): ServiceError {
  return invalid(`The report of a relay is malformed (${what}): use the same version.`);
}
