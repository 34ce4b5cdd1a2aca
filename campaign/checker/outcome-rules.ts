import type { Final, History } from './history.ts';
import { type AnySession, describe } from './stream-rules.ts';
import type { Timelines } from './timelines.ts';
import type { Report } from './violation.ts';

/** P6 and P9: at the end every source and every reader holds the newest state, and no acknowledged write is lost. */
export function checkOutcome(history: History, timelines: Timelines, report: Report): void {
  for (const final of history.finals) checkFinal(final, history, timelines, report);
  for (const last of lastSessions(history)) checkReader(last, history, timelines, report);
}

/** A node keeps running, whatever breaks around it. */
export function checkCrashes(history: History, report: Report): void {
  for (const { node, at, story } of history.crashes) {
    report({ kind: 'crashed', at, subject: node, story: `The process of ${node} ended by itself. ${story}` });
  }
}

/** P15: what a pointer of published files names is there. */
export function checkPointers({ missingObjects = [] }: History, report: Report): void {
  for (const { environment, at, object } of missingObjects) {
    const story = `The pointer of ${environment} named ${object}, which was not there.`;
    report({ kind: 'missing-object', at, environment, subject: environment, story });
  }
}

/** A write that was to follow revision `expected` follows it directly, or was refused. */
export function checkConditionalWrites(history: History, report: Report): void {
  for (const { id, environment, outcome, revision, expected, finishedAt, node } of history.writes) {
    if (outcome !== 'acknowledged' || expected === undefined || revision === expected + 1) continue;
    report({
      kind: 'lost-update',
      at: finishedAt,
      environment,
      subject: `write ${id}`,
      story: `Write ${id} of ${environment} on ${node} was to happen only after revision ${expected} and was acknowledged as revision ${revision}.`,
    });
  }
}

function checkFinal(final: Final, history: History, timelines: Timelines, report: Report): void {
  const tell = (kind: 'lost-write' | 'not-converged' | 'foreign' | 'phantom', story: string): void =>
    report({ kind, at: history.endedAt, environment: final.environment, subject: final.source, story });
  const placed = timelines.place(final.environment, final.content);
  if (!('revision' in placed)) {
    // A source without a map, most likely because it did not answer, has not got there.
    tell(
      placed.kind === 'mix' ? 'not-converged' : placed.kind,
      `${final.source} shows a final map of ${final.environment}. ${placed.story}`,
    );
    return;
  }
  const { newest } = timelines.of(final.environment);
  const shown = Math.min(placed.revision, final.revision);
  if (shown === newest && placed.revision === final.revision) return;
  tell(
    'not-converged',
    `${final.source} ends at revision ${final.revision} of ${final.environment} with the map of revision ${placed.revision}; the newest is ${newest}.`,
  );
  for (const write of history.writes) {
    if (write.environment !== final.environment || write.outcome !== 'acknowledged') continue;
    if ((write.revision ?? 0) <= shown) continue;
    tell(
      'lost-write',
      `Write ${write.id} was acknowledged by ${write.node} as revision ${write.revision} and is not in the final state that ${final.source} shows.`,
    );
    return;
  }
}

function checkReader(last: AnySession, history: History, timelines: Timelines, report: Report): void {
  // Whose key has ended cannot come back; the rules of authority judge it.
  if (history.endedKeys.some((ended) => ended.key === last.key)) return;
  const { newest } = timelines.of(last.environment);
  const reached = last.revision + last.frames.length - 1;
  if (last.ended === undefined && reached === newest) return;
  report({
    kind: 'not-converged',
    at: history.endedAt,
    environment: last.environment,
    subject: last.reader,
    story: `Reader ${last.reader} ends ${last.ended === undefined ? 'with an open stream' : `without a stream (${last.ended.how})`} at revision ${reached}; the newest of ${last.environment} is ${newest}. Its last stream: ${describe(last)}.`,
  });
}

function lastSessions(history: History): Iterable<AnySession> {
  const last = new Map<string, AnySession>();
  for (const stream of [...history.streams, ...history.eventStreams]) {
    const other = last.get(stream.reader);
    if (other === undefined || other.openedAt < stream.openedAt) last.set(stream.reader, stream);
  }
  return last.values();
}
