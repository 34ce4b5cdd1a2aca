import type { ProjectDelivery } from '../../api/project-deliveries.ts';
import type { Change } from './group-changes.ts';

/** How far a change came, over all environments that it touched; `undefined` where nothing is known. */
export function deliveryOf(
  change: Change,
  bySeq: ReadonlyMap<number, ProjectDelivery>,
): ProjectDelivery | undefined {
  const known = [...new Set(change.entries.map(({ seq }) => seq))].flatMap((seq) => bySeq.get(seq) ?? []);
  const [first] = known;
  if (first === undefined || known.length === 1) return first;
  return {
    ...first,
    streams: known.reduce((sum, { streams }) => sum + streams, 0),
    seen: known.reduce((sum, { seen }) => sum + seen, 0),
    slowestMs: Math.max(...known.map(({ slowestMs }) => slowestMs)),
  };
}
