import type { AuditEntryRecord } from '../../api/types.ts';
import {
  type ChangeWords,
  changeWords,
  type Detail,
  type NameOf,
} from '../../components/audit/change-words.ts';
import { words } from '../../components/audit/messages.ts';
import { messages } from './messages.ts';

/** The keys of the flags that entries are about. */
export function flagsOf(entries: readonly AuditEntryRecord[]): ReadonlySet<string> {
  return new Set(
    entries.filter(({ action }) => /^(flag|rollout)\./.test(action)).map(({ target }) => target),
  );
}

/** The names of the environments of entries. */
export function placesOf(entries: readonly AuditEntryRecord[]): readonly string[] {
  return [...new Set(entries.map(({ environment }) => environment))].filter((name) => name !== undefined);
}

/** The words of a change with several entries: those that all its entries share, or how many flags it changed. */
export function summaryOf(all: readonly AuditEntryRecord[], flags: number, nameOf: NameOf): ChangeWords {
  const started = all.find(({ action }) => action === 'rollout.started');
  if (started !== undefined) return changeWords(started, nameOf);
  const entries = all.filter(({ action }) => !action.startsWith('rollout.'));
  const interrupted = all.flatMap(({ action }): readonly Detail[] => {
    if (action === 'rollout.paused') return [{ label: words.planPaused }];
    return action === 'rollout.stopped' ? [{ label: words.planStopped }] : [];
  });
  const { verb, details } = wordsOf(entries, flags, nameOf);
  return { verb, details: [...details, ...interrupted.slice(0, 1)] };
}

function wordsOf(entries: readonly AuditEntryRecord[], flags: number, nameOf: NameOf): ChangeWords {
  const lead = entries.find(({ action }) => action.startsWith('flag.') && action !== 'flag.changed');
  if (flags === 1 && lead !== undefined) return { verb: changeWords(lead, nameOf).verb, details: [] };
  const [first, ...others] = entries.map((entry) => changeWords(entry, nameOf));
  const isShared = others.every((each) => JSON.stringify(each) === JSON.stringify(first));
  if (flags > 0 && lead === undefined && first !== undefined && isShared) return first;
  if (flags > 1) return { verb: messages.changedFlags(flags), details: [] };
  if (flags === 0) return { verb: messages.madeChanges(entries.length), details: [] };
  return { verb: messages.changedFlag, details: [] };
}
