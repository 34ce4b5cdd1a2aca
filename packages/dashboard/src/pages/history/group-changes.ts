import type { AuditEntryRecord } from '../../api/types.ts';

/** Everything that one operation did. */
export interface Change {
  /** The number of the change, which revert uses. */
  readonly seq: number;
  /** Never empty. */
  readonly entries: readonly AuditEntryRecord[];
  readonly first: AuditEntryRecord;
}

/** The changes of one day, newest first. */
interface Day {
  /** In local time, as `2027-01-31`. */
  readonly day: string;
  readonly changes: readonly Change[];
}

/** Groups entries, newest first, into days and changes; entries of one operation form one change. */
export function groupChanges(entries: readonly AuditEntryRecord[]): readonly Day[] {
  const days: { day: string; changes: Change[] }[] = [];
  for (const change of changesOf(entries)) {
    const day = localDay(new Date(change.first.at));
    const last = days.at(-1);
    // The clocks of nodes differ, so days may be out of order; each day is listed once.
    if (last !== undefined && last.day <= day) last.changes.push(change);
    else days.push({ day, changes: [change] });
  }
  return days;
}

function changesOf(entries: readonly AuditEntryRecord[]): readonly Change[] {
  const changes: { seq: number; first: AuditEntryRecord; entries: AuditEntryRecord[] }[] = [];
  for (const entry of entries) {
    const last = changes.at(-1);
    if (last !== undefined && isOneOperation(last.entries.at(-1) ?? last.first, entry))
      last.entries.push(entry);
    else changes.push({ seq: entry.operation, first: entry, entries: [entry] });
  }
  return changes.map(sameAsBefore);
}

/** Changes by their first entry, so that a change that is listed again is the same object and is not redrawn. */
const grouped = new WeakMap<AuditEntryRecord, Change>();

function sameAsBefore(change: Change): Change {
  const before = grouped.get(change.first);
  const isSame =
    before?.entries.length === change.entries.length &&
    before.entries.every((entry, index) => entry === change.entries[index]);
  if (isSame) return before;
  grouped.set(change.first, change);
  return change;
}

/**
 * Whether two entries belong to one operation, which is reverted as a whole. Entries from before operations were numbered
 * may share a number with another person's, so the author must match too.
 */
function isOneOperation(newer: AuditEntryRecord, older: AuditEntryRecord): boolean {
  return newer.operation === older.operation && newer.actor === older.actor;
}

function localDay(date: Date): string {
  const two = (number: number) => String(number).padStart(2, '0');
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}

/** Changes that one person or token made in quick succession, newest first. Most are of a single change. */
export interface Burst {
  /** Stays the same while newer changes are added on top, and older ones are loaded below. */
  readonly id: string;
  /** Never empty. */
  readonly changes: readonly Change[];
  readonly newest: Change;
}

/** Two changes of a burst are at most this far apart, in milliseconds. */
const PAUSE_MS = 120_000;
/** Fewer changes are listed one by one. */
const FEWEST = 3;

/** Groups the changes of flags that one author made in quick succession. A change that has a note stays alone. */
export function burstsOf(changes: readonly Change[]): readonly Burst[] {
  const runs: Change[][] = [];
  for (const change of changes) {
    const [run, last] = [runs.at(-1), runs.at(-1)?.at(-1)];
    if (run !== undefined && last !== undefined && isOneBurst(last, change)) run.push(change);
    else runs.push([change]);
  }
  return runs
    .flatMap((run) => (run.length < FEWEST ? run.map((change) => [change]) : [run]))
    .flatMap(toBurst);
}

function toBurst(changes: readonly Change[]): readonly Burst[] {
  const [newest, oldest] = [changes[0], changes.at(-1)];
  if (newest === undefined || oldest === undefined) return [];
  const id = changes.map((each) => ids.get(each)).find((known) => known !== undefined) ?? oldest.first.id;
  for (const each of changes) ids.set(each, id);
  const before = bursts.get(newest);
  const isSame =
    before?.changes.length === changes.length &&
    before.changes.every((each, index) => each === changes[index]);
  if (isSame) return [before];
  const burst = { id, changes, newest };
  bursts.set(newest, burst);
  return [burst];
}

/** Bursts by their newest change, so that one that is listed again is the same object and is not redrawn. */
const bursts = new WeakMap<Change, Burst>();

/** The ids of bursts by their changes. */
const ids = new WeakMap<Change, string>();

function isOneBurst(newer: Change, older: Change): boolean {
  const [one, other] = [newer.first, older.first];
  const gap = Math.abs(Date.parse(one.at) - Date.parse(other.at));
  const isAboutFlags = [...newer.entries, ...older.entries].every(({ action }) => action.startsWith('flag.'));
  const isSamePlace = one.actor === other.actor && one.project === other.project && one.note === other.note;
  return isAboutFlags && isSamePlace && gap <= PAUSE_MS;
}
