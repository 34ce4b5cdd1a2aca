import { type ClientView, type History, READERS, type Write } from './history.ts';
import { deadlineOf } from './stream-rules.ts';
import type { Placed as Placing, Timelines } from './timelines.ts';
import type { Report, ViolationKind } from './violation.ts';

/** A sighting whose place is known, and the newest revision up to then. */
interface Placed {
  readonly at: number;
  readonly revision: number;
}

/**
 * P14: what a client library shows are committed changes of its own environment, in order, never an older one after a newer
 * one, whatever node it is led to; each acknowledged one, or a newer one, within `withinMs`; and in the end the newest.
 * `acknowledged` holds the writes of each environment in order of their acknowledgment.
 */
export function checkClients(
  history: History,
  timelines: Timelines,
  acknowledged: ReadonlyMap<string, readonly Write[]>,
  withinMs: number,
  report: Report,
): void {
  const unanswered = new Set(
    history.writes.filter(({ outcome }) => outcome === 'unknown').map(({ id }) => id),
  );
  for (const view of history.clients ?? []) {
    const shown = checkOrder(view, timelines, unanswered, report);
    checkDelays(view, shown, acknowledged.get(view.environment) ?? [], withinMs, history, report);
    checkEnd(view, shown, timelines, history, report);
  }
}

/** Returns the sightings in their places, each at the newest revision so far. */
function checkOrder(
  view: ClientView,
  timelines: Timelines,
  unanswered: ReadonlySet<number>,
  report: Report,
): readonly Placed[] {
  const shown: Placed[] = [];
  for (const { at, writeId, revision: said } of view.sightings) {
    const tell = (kind: ViolationKind, story: string): void =>
      report({ kind, at, environment: view.environment, subject: view.reader, story });
    const placed =
      writeId === undefined
        ? placeRevision(said, timelines.of(view.environment).newest)
        : timelines.placeWrite(view.environment, writeId);
    const newest = shown.at(-1)?.revision ?? Number.NEGATIVE_INFINITY;
    if ('revision' in placed) {
      const { revision } = placed;
      if (revision < newest) tell('went-back', `It shows revision ${revision} after revision ${newest}.`);
      shown.push({ at, revision: Math.max(revision, newest) });
    }
    // A write without an answer, which nothing else has seen, may have been committed.
    else if (writeId === undefined || !unanswered.has(writeId)) tell(placed.kind, placed.story);
  }
  return shown;
}

function placeRevision(revision: number, newest: number): Placing {
  if (revision <= newest) return { revision };
  return { kind: 'phantom', story: `It says revision ${revision}, and the newest is ${newest}.` };
}

function checkDelays(
  view: ClientView,
  shown: readonly Placed[],
  acknowledged: readonly Write[],
  withinMs: number,
  history: History,
  report: Report,
): void {
  const waits = (history.cpuWaits ?? []).filter(({ node }) => node === READERS);
  for (const { id, node, revision = 0, finishedAt } of acknowledged) {
    const deadline = deadlineOf(finishedAt, withinMs, waits);
    if (deadline > history.endedAt) return;
    const sighting = shown[firstAtLeast(shown, revision)];
    if (sighting !== undefined && sighting.at <= deadline) continue;
    report({
      kind: 'stuck',
      at: deadline,
      environment: view.environment,
      subject: view.reader,
      story: `Write ${id} was acknowledged as revision ${revision} on ${node}, and ${Math.round(deadline - finishedAt)} ms later the client showed nothing as new.`,
    });
    return;
  }
}

function checkEnd(
  view: ClientView,
  shown: readonly Placed[],
  timelines: Timelines,
  history: History,
  report: Report,
): void {
  const { newest } = timelines.of(view.environment);
  const reached = shown.at(-1)?.revision;
  if (reached === newest) return;
  report({
    kind: 'not-converged',
    at: history.endedAt,
    environment: view.environment,
    subject: view.reader,
    story: `The client ends at revision ${reached} of ${view.environment}; the newest is ${newest}.`,
  });
}

/** The index of the first sighting that is at `revision` or newer; the length if none is. */
function firstAtLeast(shown: readonly Placed[], revision: number): number {
  let low = 0;
  let high = shown.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((shown[middle]?.revision ?? 0) < revision) low = middle + 1;
    else high = middle;
  }
  return low;
}
