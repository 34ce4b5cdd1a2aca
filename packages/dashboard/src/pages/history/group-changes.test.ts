import { expect, test } from 'bun:test';
import type { AuditEntryRecord } from '../../api/audit.ts';
import { groupChanges } from './group-changes.ts';

test('entries of one change stand together, newest first', () => {
  const [day] = groupChanges([entry(3), entry(2, { target: 'b' }), entry(2, { target: 'a' })].map(atOf));
  expect(day?.changes.map(({ seq, entries }) => [seq, entries.length])).toEqual([
    [3, 1],
    [2, 2],
  ]);
});

test('an operation over several environments is one change, with the number of its last', () => {
  const at = '2027-01-31T12:00:00.000Z';
  const days = groupChanges([entry(9, { at }), entry(8, { at }), entry(7, { at }), entry(5, { at })]);
  expect(days.flatMap(({ changes }) => changes.map(({ seq, entries }) => [seq, entries.length]))).toEqual([
    [9, 3],
    [5, 1],
  ]);
});

test('two people who change something in the same moment are two changes', () => {
  const at = '2027-01-31T12:00:00.000Z';
  const [day] = groupChanges([entry(2, { at, actor: 'operator:b' }), entry(1, { at })]);
  expect(day?.changes).toHaveLength(2);
});

test('days are those of the person who looks', () => {
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

/** Each change at a time of its own. */
function atOf(given: AuditEntryRecord): AuditEntryRecord {
  return { ...given, at: new Date(Date.UTC(2027, 0, 31, 12, 0, given.seq)).toISOString() };
}

let lastId = 0;

function entry(seq: number, members: Partial<AuditEntryRecord> = {}): AuditEntryRecord {
  const at = '2027-01-31T12:00:00.000Z';
  return {
    id: String(++lastId),
    seq,
    actor: 'operator:a',
    action: 'flag.changed',
    target: 'a',
    at,
    ...members,
  };
}
