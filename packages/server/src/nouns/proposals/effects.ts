import { defined, isRecord } from '@halyard/protocol';
import type { Journal } from '../../storage/journal.ts';
import type { Effect } from './proposal.ts';

/** What an operation does, by the entries of its journal. */
export function effectsOf({ entries }: Pick<Journal, 'entries'>): readonly Effect[] {
  return entries.map(({ action, target, environmentId, before, after }) =>
    defined({ action, target, environmentId, before, after }),
  );
}

/** The first effect that is not the same; `undefined` where both are. What is new with each attempt, such as an id, does not count. */
export function differenceOf(proposed: readonly Effect[], now: readonly Effect[]): Effect | undefined {
  const length = Math.max(proposed.length, now.length);
  for (let index = 0; index < length; index++) {
    const [one, other] = [proposed[index], now[index]];
    if (one === undefined || other === undefined || comparable(one) !== comparable(other))
      return one ?? other;
  }
  return undefined;
}

/** Members of records that are new with each attempt. */
const VOLATILE = new Set(['id', 'revision', 'createdAt', 'nextAt']);

/** Entries whose target is the id of a new record. */
const MAKES_TARGET = new Set(['schedule.created']);

function comparable({ action, environmentId = '', target, before, after }: Effect): string {
  // A state is what readers get: compared as it is.
  const text = action === 'flag.changed' ? (member: string | undefined) => member : stable;
  return JSON.stringify([
    action,
    environmentId,
    MAKES_TARGET.has(action) ? '' : target,
    text(before) ?? null,
    text(after) ?? null,
  ]);
}

function stable(text: string | undefined): string | undefined {
  const record: unknown = JSON.parse(text ?? 'null');
  if (!isRecord(record)) return text;
  return JSON.stringify(Object.entries(record).filter(([name]) => !VOLATILE.has(name)));
}

/** Whether all an operation does is to turn flags off. */
export function onlyTurnsOff(effects: readonly Effect[]): boolean {
  // A running plan of the flag is paused with it.
  const changes = effects.filter(({ action }) => action !== 'rollout.paused');
  return changes.length > 0 && changes.every(turnsOff);
}

function turnsOff({ action, before, after }: Effect): boolean {
  if (action !== 'flag.changed' || before === undefined || after === undefined) return false;
  const [was, is]: unknown[] = [JSON.parse(before), JSON.parse(after)];
  if (!isRecord(was) || !isRecord(is) || is.enabled !== false) return false;
  return Bun.deepEquals({ ...was, enabled: false }, is);
}
