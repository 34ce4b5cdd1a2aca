import { expect, test } from 'bun:test';
import type { AuditEntryRecord } from '../../api/types.ts';
import { burstsOf, groupChanges } from './group-changes.ts';

test('entries of one change are grouped, newest first', () => {
  const [day] = groupChanges([entry(3), entry(2, { target: 'b' }), entry(2, { target: 'a' })].map(atOf));
  expect(day?.changes.map(({ seq, entries }) => [seq, entries.length])).toEqual([
    [3, 1],
    [2, 2],
  ]);
});

test('an operation over several environments is one change, whatever part of it is listed', () => {
  const operation = 9;
  const days = groupChanges([entry(8, { operation }), entry(7, { operation }), entry(6), entry(5)]);
  expect(days.flatMap(({ changes }) => changes.map(({ seq, entries }) => [seq, entries.length]))).toEqual([
    [9, 2],
    [6, 1],
    [5, 1],
  ]);
});

test('entries of two people are two changes, even if old entries share a number', () => {
  const [day] = groupChanges([entry(1, { actor: 'operator:b' }), entry(1)]);
  expect(day?.changes).toHaveLength(2);
});

test('days are in the local time of the viewer', () => {
  const local = (text: string) => new Date(text).toISOString();
  const days = groupChanges([
    entry(3, { at: local('2027-02-01T00:00:01') }),
    entry(2, { at: local('2027-01-31T23:59:59') }),
    entry(1, { at: local('2027-01-31T00:00:00') }),
  ]);
  expect(days.map(({ day, changes }) => [day, changes.length])).toEqual([
    ['2027-02-01', 1],
    ['2027-01-31', 2],
  ]);
});

test('no day is listed twice if the clocks of two nodes differ around midnight', () => {
  const local = (text: string) => new Date(text).toISOString();
  const days = groupChanges([
    entry(3, { at: local('2027-02-01T00:00:02') }),
    entry(2, { at: local('2027-01-31T23:59:59') }),
    entry(1, { at: local('2027-02-01T00:00:01') }),
  ]);
  expect(days.map(({ day, changes }) => [day, changes.map(({ seq }) => seq)])).toEqual([
    ['2027-02-01', [3]],
    ['2027-01-31', [2, 1]],
  ]);
});

test('changes that one person made in quick succession are one burst', () => {
  const flips = [9, 8, 7, 6].map((seq) => entry(seq));
  const others = [
    entry(5, { actor: 'operator:b' }),
    entry(4),
    entry(3, { note: 'Ticket 7' }),
    entry(2),
    entry(1),
  ];
  expect(read([...flips, ...others].map(atOf))).toEqual([[9, 8, 7, 6], [5], [4], [3], [2], [1]]);
  // Two are not worth it, nor is anything that is not about flags.
  expect(read([entry(2), entry(1)])).toEqual([[2], [1]]);
  const keys = [3, 2, 1].map((seq) => entry(seq, { action: 'key.created' }));
  expect(read(keys)).toHaveLength(3);
  // A pause ends a burst.
  const at = (minute: number) => `2027-01-31T12:${10 + minute}:00.000Z`;
  const paused = [9, 8, 7, 4, 3, 2].map((minute) => entry(minute, { at: at(minute) }));
  expect(read(paused)).toEqual([
    [9, 8, 7],
    [4, 3, 2],
  ]);

  function read(entries: readonly AuditEntryRecord[]): number[][] {
    const listed = groupChanges(entries).flatMap(({ changes }) => burstsOf(changes));
    return listed.map(({ changes }) => changes.map(({ seq }) => seq));
  }
});

test('a burst keeps its identity while changes are added on top or loaded below, and is not redrawn without one', () => {
  const flips = [4, 3, 2, 1].map((seq) => entry(seq));
  const burst = (entries: readonly AuditEntryRecord[]) =>
    burstsOf(groupChanges(entries)[0]?.changes ?? [])[0];
  const before = burst(flips);
  expect(burst([entry(9, { actor: 'operator:b' }), ...flips])).not.toBe(before);
  expect(burst(flips)).toBe(before);
  expect(burst([entry(5), ...flips])?.id).toBe(before?.id ?? '');
  expect(burst([...flips, entry(0)])?.id).toBe(before?.id ?? '');
});

/** Each change at its own time. */
function atOf(given: AuditEntryRecord): AuditEntryRecord {
  return { ...given, at: new Date(Date.UTC(2027, 0, 31, 12, 0, given.seq)).toISOString() };
}

let lastId = 0;

function entry(seq: number, members: Partial<AuditEntryRecord> = {}): AuditEntryRecord {
  const at = '2027-01-31T12:00:00.000Z';
  return {
    id: String(++lastId),
    seq,
    operation: seq,
    actor: 'operator:a',
    action: 'flag.changed',
    target: 'a',
    at,
    ...members,
  };
}
