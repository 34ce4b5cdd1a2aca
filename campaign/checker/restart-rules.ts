import type { CpuWait, History, Restart } from './history.ts';
import type { Report } from './violation.ts';

/** What a node showed of an environment. */
interface Shown {
  readonly node: string;
  readonly environment: string;
  readonly revision: number;
  readonly askedAt: number;
  readonly knownAt: number;
}

/**
 * A node that is restarted while its source is there never answers older than it did before, not even with a mark: it
 * asks its source before it listens. `slackMs` bounds how long it may wait for its source, beyond which it starts with its
 * last known flags; a node that had no processor for longer is not judged.
 */
export function checkRestarts(history: History, slackMs: number, report: Report): void {
  if (history.restarts === undefined) return;
  const shown = [...everythingShown(history)];
  for (const restart of history.restarts) {
    if (waitedMs(history.cpuWaits ?? [], restart) > slackMs) continue;
    const newest = newestBefore(shown, restart);
    for (const { node, environment, revision, askedAt, knownAt } of shown) {
      if (node !== restart.node || askedAt < restart.stoppedAt || askedAt > restart.readyAt) continue;
      const best = newest.get(environment) ?? 0;
      if (revision >= best) continue;
      report({
        kind: 'restarted-in-the-past',
        at: knownAt,
        environment,
        subject: node,
        story: `${node} was restarted while its source was there. It had shown revision ${best} of ${environment}, and ${Math.round(askedAt - restart.stoppedAt)} ms after it was stopped it answered with revision ${revision}.`,
      });
    }
  }
}

/** The highest revision of each environment that the node had shown when it was stopped. */
function newestBefore(shown: readonly Shown[], { node, stoppedAt }: Restart): ReadonlyMap<string, number> {
  const newest = new Map<string, number>();
  for (const each of shown) {
    if (each.node !== node || each.knownAt > stoppedAt) continue;
    newest.set(each.environment, Math.max(each.revision, newest.get(each.environment) ?? 0));
  }
  return newest;
}

function* everythingShown({ reads, streams, eventStreams }: History): Generator<Shown> {
  for (const { node, environment, revision, requestedAt, answeredAt } of reads) {
    if (revision !== undefined)
      yield { node, environment, revision, askedAt: requestedAt, knownAt: answeredAt };
  }
  for (const { node, environment, revision, requestedAt, frames } of [...streams, ...eventStreams]) {
    const first = frames[0];
    if (first !== undefined) yield { node, environment, revision, askedAt: requestedAt, knownAt: first.at };
  }
}

function waitedMs(waits: readonly CpuWait[], { node, stoppedAt, readyAt }: Restart): number {
  const during = waits.filter((wait) => wait.node === node && wait.from >= stoppedAt && wait.from <= readyAt);
  return during.reduce((sum, { ms }) => sum + ms, 0);
}

/** Whatever dies in it, a node with workers answers again within `withinMs`, not counting waits for a processor. */
export function checkSilences(history: History, withinMs: number, report: Report): void {
  for (const { node, from, ms } of history.silences ?? []) {
    const waits = (history.cpuWaits ?? []).filter(
      (wait) => wait.node === node && wait.from + wait.ms >= from && wait.from <= from + ms,
    );
    const excusedMs = waits.reduce((sum, wait) => sum + wait.ms, 0);
    if (ms - excusedMs <= withinMs) continue;
    report({
      kind: 'silent',
      at: from + ms,
      subject: node,
      story: `${node} answered nothing at /healthz for ${Math.round(ms)} ms while its workers were killed; it had waited ${Math.round(excusedMs)} ms of that for a processor.`,
    });
  }
}
