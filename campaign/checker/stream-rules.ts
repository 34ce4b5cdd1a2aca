import { type CpuWait, type History, READERS, type StreamSession, type Write } from './history.ts';
import type { Timelines } from './timelines.ts';
import type { Report, ViolationKind } from './violation.ts';

/** A stream, whatever it sends. */
export type AnySession = StreamSession<{ readonly at: number }>;

/** P1 to P3: each frame of a stream is the next revision, in order, none missing, none twice, none foreign. */
export function checkStreamOrder(stream: StreamSession, timelines: Timelines, report: Report): void {
  let expected = stream.revision;
  for (const [index, frame] of stream.frames.entries()) {
    const placed = timelines.place(stream.environment, frame.content);
    const where = `Frame ${index} of stream ${describe(stream)}`;
    const tell = (kind: ViolationKind, story: string): void =>
      report({ kind, at: frame.at, environment: stream.environment, subject: stream.id, story });
    if (!namesItsRevisions(stream, index)) {
      const { from, to } = frame.change ?? {};
      tell(
        'wrong-change',
        `${where} should make revision ${expected} and is a change from ${from} to ${to}.`,
      );
    }
    if (!('revision' in placed)) {
      tell(placed.kind, `${where} should be revision ${expected}. ${placed.story}`);
      expected += 1;
      continue;
    }
    if (placed.revision !== expected) {
      tell(
        wrongOrder(placed.revision, expected, index),
        `${where} should be revision ${expected} and is revision ${placed.revision}.`,
      );
    }
    expected = placed.revision + 1;
  }
}

/** Whether a change names the revision that its reader has, or none, and the next one. The first is one from nothing. */
function namesItsRevisions({ frames, revision }: StreamSession, index: number): boolean {
  const change = frames[index]?.change;
  if (change === undefined) return true;
  const before = index === 0 ? null : (frames[index - 1]?.change?.to ?? null);
  return change.to === revision + index && (change.from === null || change.from === before);
}

/** How a revision that is not the expected one breaks the order. */
export function wrongOrder(revision: number, expected: number, index: number): ViolationKind {
  if (index === 0) return 'wrong-revision';
  if (revision === expected - 1) return 'repeat';
  return revision > expected ? 'skip' : 'went-back';
}

/**
 * P5: once a node has said that it lost the log, nothing more leaves on the streams it had open. Frames on their way are
 * read within `slackMs`, not counting the time in which the readers waited for a processor.
 */
export function checkFailStop(stream: AnySession, history: History, slackMs: number, report: Report): void {
  const waits = (history.cpuWaits ?? []).filter(({ node }) => node === READERS);
  for (const loss of history.losses) {
    if (loss.node !== stream.node || loss.at < stream.openedAt) continue;
    if (stream.ended !== undefined && stream.ended.at < loss.at) continue;
    const latest = deadlineOf(loss.at, slackMs, waits);
    const late = stream.frames.find((frame) => frame.at > latest);
    if (late === undefined) continue;
    report({
      kind: 'sent-after-loss',
      at: late.at,
      environment: stream.environment,
      subject: stream.id,
      story: `${stream.node} said that it lost the log, and ${Math.round(late.at - loss.at)} ms later stream ${describe(stream)} still received a frame.`,
    });
    return;
  }
}

/**
 * P4, bounded: a stream that is open has every acknowledged revision within `withinMs`, or is closed by then. Time in which
 * the node waited for a processor does not count, because that delay is the machine's.
 * `acknowledged` holds the environment's writes in order of their acknowledgement.
 */
export function checkLiveness(
  stream: AnySession,
  acknowledged: readonly Write[],
  withinMs: number,
  history: History,
  report: Report,
): void {
  const openUntil = stream.ended?.at ?? history.endedAt;
  const waits = (history.cpuWaits ?? []).filter(({ node }) => node === stream.node);
  for (const write of acknowledged) {
    const deadline = deadlineOf(Math.max(write.finishedAt, stream.openedAt), withinMs, waits);
    if (deadline > openUntil) return;
    const index = (write.revision ?? 0) - stream.revision;
    const frame = stream.frames[Math.max(0, index)];
    if (frame !== undefined && frame.at <= deadline) continue;
    report({
      kind: 'stuck',
      at: deadline,
      environment: stream.environment,
      subject: stream.id,
      story: `Write ${write.id} was acknowledged as revision ${write.revision} on ${write.node}; ${Math.round(deadline - write.finishedAt)} ms later stream ${describe(stream)} was open and had not received it.`,
    });
    return;
  }
}

/** When something that began `from` is late; time in which its node or reader waited for a processor does not count. */
export function deadlineOf(from: number, withinMs: number, waits: readonly CpuWait[]): number {
  let deadline = from + withinMs;
  for (const wait of waits) {
    if (wait.from >= deadline) break;
    if (wait.from + wait.ms > from) deadline += wait.ms;
  }
  return deadline;
}

/** A stream for a story. */
export function describe(stream: AnySession): string {
  return `${stream.id} (${stream.environment} on ${stream.node}, opened at revision ${stream.revision}, ${stream.frames.length} frames)`;
}
