import type { AuditedWrite, History, Write } from './history.ts';
import type { Timelines } from './timelines.ts';
import type { Report } from './violation.ts';

/**
 * P9 by a second witness: the audit log holds every acknowledged write once, no refused one, as many as there are
 * revisions, and in the order of the revisions.
 */
export function checkAudit(history: History, timelines: Timelines, report: Report): void {
  if (history.audit === undefined) return;

  const tell = (write: Write, story: string): void =>
    report({
      kind: 'wrong-audit',
      at: write.finishedAt,
      environment: write.environment,
      subject: `write ${write.id}`,
      story: `Write ${write.id} of ${write.environment} (${write.outcome}) ${story}`,
    });

  const places = placesOf(history.audit);
  for (const write of history.writes) {
    const count = places.get(write.id)?.size ?? 0;
    if (write.outcome === 'acknowledged' && count === 0) tell(write, 'is not in the audit log.');
    if (write.outcome === 'refused' && count > 0) tell(write, 'is in the audit log.');
    if (count > 1) tell(write, `is in the audit log as ${count} changes.`);
  }

  for (const timeline of timelines.all()) {
    const committed = history.writes.filter(
      (write) => write.environment === timeline.environment && places.has(write.id),
    );
    checkOrder(inOrder(committed, places), (write) => timeline.revisionOfWrite(write), tell);

    const revisions = timeline.newest - timeline.base.revision;
    if (committed.length === revisions) continue;
    report({
      kind: 'wrong-audit',
      at: history.endedAt,
      environment: timeline.environment,
      subject: timeline.environment,
      story: `The audit log holds ${committed.length} changes of ${timeline.environment}, and it has gone through ${revisions} revisions.`,
    });
  }
}

/** A later change never has a lower revision. */
function checkOrder(
  writes: readonly Write[],
  revisionOf: (write: Write) => number | undefined,
  tell: (write: Write, story: string) => void,
): void {
  let highest = 0;
  for (const write of writes) {
    const revision = revisionOf(write);
    if (revision === undefined) continue;
    if (revision <= highest)
      tell(write, `has revision ${revision} and comes after revision ${highest} in the log.`);
    highest = Math.max(highest, revision);
  }
}

/** One change of several flags has several entries, all with one `seq`. */
function placesOf(audit: readonly AuditedWrite[]): ReadonlyMap<number, ReadonlySet<number>> {
  const places = new Map<number, Set<number>>();
  for (const { id, seq } of audit) places.set(id, (places.get(id) ?? new Set()).add(seq));
  return places;
}

function inOrder(
  writes: readonly Write[],
  places: ReadonlyMap<number, ReadonlySet<number>>,
): readonly Write[] {
  const seqOf = (write: Write): number => Math.min(...(places.get(write.id) ?? []));
  return [...writes].sort((a, b) => seqOf(a) - seqOf(b));
}
