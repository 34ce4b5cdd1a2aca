import type { CpuWait, History, Restart } from './history.ts';
import type { Report } from './violation.ts';

/**
 * P12: a node that is restarted while its source is there asks it before it listens. So no read at its address fails or
 * says that it may be old, from the moment the old process has ended until the new one is ready. A node waits only so long for its source, so one
 * that had no processor for longer than `slackMs` is not judged.
 */
export function checkRestarts(history: History, slackMs: number, report: Report): void {
  for (const restart of history.restarts ?? []) {
    if (waitedMs(history.cpuWaits ?? [], restart) > slackMs) continue;
    for (const read of history.reads) {
      const { node, requestedAt, kind, status, freshness, revision } = read;
      if (node !== restart.node || requestedAt < restart.stoppedAt || requestedAt > restart.readyAt) continue;
      if (kind === 'stream' || (status < 500 && freshness === 'current')) continue;
      const said = status < 500 ? `revision ${revision}, which it said may be old` : `status ${status}`;
      report({
        kind: 'restarted-in-the-past',
        at: read.answeredAt,
        environment: read.environment,
        subject: node,
        story: `${node} was restarted while its source was there. ${Math.round(requestedAt - restart.stoppedAt)} ms after its process had ended, and ${Math.round(restart.readyAt - requestedAt)} ms before it was ready, it answered a ${kind} of ${read.environment} with ${said}.`,
      });
    }
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
