import type { History } from './history.ts';
import type { Report } from './violation.ts';

/**
 * P12: a node that is restarted while its source is there asks it before it listens. So no read at its address fails or
 * says that it may be old, after its old process has ended. A node waits `patienceMs` for its source at most, and what it
 * answers after that is not judged.
 */
export function checkRestarts(history: History, patienceMs: number, report: Report): void {
  for (const { node, stoppedAt, readyAt } of history.restarts ?? []) {
    const until = Math.min(readyAt, stoppedAt + patienceMs);
    for (const read of history.reads) {
      const { requestedAt, kind, status, freshness, revision } = read;
      if (read.node !== node || requestedAt < stoppedAt || requestedAt > until) continue;
      if (kind === 'stream' || (status < 500 && freshness === 'current')) continue;

      const said = status < 500 ? `revision ${revision}, which it said may be old` : `status ${status}`;
      report({
        kind: 'restarted-in-the-past',
        at: read.answeredAt,
        environment: read.environment,
        subject: node,
        story: `${node} was restarted while its source was there. ${Math.round(requestedAt - stoppedAt)} ms after its process had ended, and ${Math.round(readyAt - requestedAt)} ms before it was ready, it answered a ${kind} of ${read.environment} with ${said}.`,
      });
    }
  }
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
