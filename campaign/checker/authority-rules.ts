import type { ChangeEvent, EndedKey, Frame, History, Read, StreamSession } from './history.ts';
import { type AnySession, describe } from './stream-rules.ts';
import type { Timelines } from './timelines.ts';
import type { Report } from './violation.ts';

/** How long a key may go on working after its end. */
export interface AuthorityLimits {
  /** A change asked for later than this after the end must not be delivered. Milliseconds. */
  readonly frameMs: number;
  /** A request sent later than this after the end must be refused. Milliseconds. */
  readonly requestMs: number;
  /** Streams must be closed by then. Milliseconds. */
  readonly closeMs: number;
}

/** P10: nothing is granted on the ended keys of `history`, and their streams are closed. */
export function checkGrants(
  history: History,
  timelines: Timelines,
  limits: AuthorityLimits,
  report: Report,
): void {
  const ended = new Map(history.endedKeys.map((key) => [key.key, key]));
  for (const stream of [...history.streams, ...history.eventStreams]) {
    const key = ended.get(stream.key);
    if (key === undefined) continue;
    checkOpening(stream, key, limits, report);
    checkFrames(stream, key, timelines, limits, report);
    checkClosed(stream, key, limits, history, report);
  }
  for (const read of history.reads) {
    const key = ended.get(read.key);
    if (key !== undefined) checkGrant(read, key, limits, report);
  }
}

/** A temporary failure is never answered with 401 or 404. */
export function checkRefusals(history: History, report: Report): void {
  const ended = new Map(history.endedKeys.map((key) => [key.key, key]));
  for (const read of history.reads) {
    const mayEndAt = ended.get(read.key)?.mayEndAt ?? Number.POSITIVE_INFINITY;
    const isWrong401 = read.status === 401 && read.answeredAt < mayEndAt;
    if (read.status !== 400 && read.status !== 404 && !isWrong401) continue;
    report({
      kind: 'wrong-refusal',
      at: read.answeredAt,
      environment: read.environment,
      subject: read.node,
      story: `${describeRead(read)} was answered with ${read.status}, and key, request and environment were right.`,
    });
  }
}

function checkOpening(stream: AnySession, key: EndedKey, limits: AuthorityLimits, report: Report): void {
  const afterMs = stream.requestedAt - key.endedAt;
  if (afterMs <= limits.requestMs) return;
  report({
    kind: 'served-after-end',
    at: stream.openedAt,
    environment: stream.environment,
    subject: stream.id,
    story: `Key ${key.key} was ${key.cause}; ${Math.round(afterMs)} ms later it was used to open stream ${describe(stream)}.`,
  });
}

function checkFrames(
  stream: StreamSession<Frame | ChangeEvent>,
  key: EndedKey,
  timelines: Timelines,
  limits: AuthorityLimits,
  report: Report,
): void {
  const timeline = timelines.of(stream.environment);
  for (const frame of stream.frames) {
    const revision = 'content' in frame ? timeline.revisionOf(frame.content) : frame.revision;
    const write = revision === undefined ? undefined : timeline.writeAt(revision);
    // A change is committed no earlier than it was asked for, so no clock of a busy reader is needed here.
    if (write === undefined || write.startedAt <= key.endedAt + limits.frameMs) continue;
    report({
      kind: 'served-after-end',
      at: frame.at,
      environment: stream.environment,
      subject: stream.id,
      story: `Key ${key.key} was ${key.cause}; write ${write.id} was asked for ${Math.round(write.startedAt - key.endedAt)} ms later and was delivered on stream ${describe(stream)}.`,
    });
    return;
  }
}

function checkClosed(
  stream: AnySession,
  key: EndedKey,
  limits: AuthorityLimits,
  history: History,
  report: Report,
): void {
  const openUntil = stream.ended?.at ?? history.endedAt;
  const afterMs = openUntil - key.endedAt;
  if (afterMs <= limits.closeMs) return;
  report({
    kind: 'not-closed',
    at: openUntil,
    environment: stream.environment,
    subject: stream.id,
    story: `Key ${key.key} was ${key.cause}; stream ${describe(stream)} was open for ${Math.round(afterMs)} ms after that.`,
  });
}

function checkGrant(read: Read, key: EndedKey, limits: AuthorityLimits, report: Report): void {
  // A node that says it may be stale cannot know of the end.
  if ((read.status !== 200 && read.status !== 304) || read.freshness === 'stale') return;
  const afterMs = read.requestedAt - key.endedAt;
  if (afterMs <= limits.requestMs) return;
  report({
    kind: 'served-after-end',
    at: read.answeredAt,
    environment: read.environment,
    subject: read.node,
    story: `Key ${key.key} was ${key.cause}; ${describeRead(read)} ${Math.round(afterMs)} ms later was granted.`,
  });
}

function describeRead(read: Read): string {
  return `a ${read.kind} of ${read.environment} on ${read.node}`;
}
