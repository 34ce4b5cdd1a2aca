import type { EventSession, History } from './history.ts';
import { describe, wrongOrder } from './stream-rules.ts';
import type { Report, ViolationKind } from './violation.ts';

/**
 * P2 and P3 for streams of events: one event for each revision, in order, none missing, none twice. Only the opening of
 * a reader that had this very revision last may be silent.
 */
export function checkEventOrder(stream: EventSession, report: Report): void {
  let expected = stream.revision;
  for (const [index, { at, revision, asksToRead }] of stream.frames.entries()) {
    const where = `Event ${index} of stream ${describe(stream)}`;
    const tell = (kind: ViolationKind, story: string): void =>
      report({ kind, at, environment: stream.environment, subject: stream.id, story });
    if (revision !== expected) {
      tell(
        wrongOrder(revision, expected, index),
        `${where} should be revision ${expected} and is revision ${revision}.`,
      );
    }
    if (!asksToRead && (index > 0 || stream.lastEventId !== revision)) {
      const last = stream.lastEventId ?? 'nothing';
      tell('skip', `${where} does not ask its reader, which had ${last} last, to read revision ${revision}.`);
    }
    expected = revision + 1;
  }
}

/** P7 across nodes: a read that an event caused is at least as new as the event, or says that it may be old. */
export function checkEventReads(history: History, report: Report): void {
  for (const { after, revision, freshness, environment, node, answeredAt } of history.reads) {
    if (after === undefined || revision === undefined || revision >= after || freshness === 'stale') continue;
    report({
      kind: 'behind-event',
      at: answeredAt,
      environment,
      subject: node,
      story: `An event said revision ${after} of ${environment}; ${node} answered the read for it with revision ${revision}, as current.`,
    });
  }
}
