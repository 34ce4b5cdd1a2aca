import { expect, test } from 'bun:test';
import { type BacklogRow, EncodedRows } from './backlog.ts';
import { MessageReader } from './framing.ts';
import { rowIn, WHOLE_LOG } from './scope.ts';

/** A row whose message is a little larger than `size` bytes. */
function rowOf(seq: number, size = 100): BacklogRow {
  const payload = JSON.stringify([['a', crypto.getRandomValues(new Uint8Array(size / 2)).toHex()]]);
  const place = { projectId: 'p', environmentId: 'e', revision: seq };
  const row = {
    seq,
    changeId: `c${seq}`,
    kind: 'flags.changed',
    ...place,
    payload,
    actor: '',
    at: 1,
  } as const;
  return { row, environmentName: 'production' };
}

test('followers of one scope share the message of a row, also before the newest; others get their own', () => {
  const encoded = new EncodedRows(1024 * 1024);
  const rows = [rowOf(1), rowOf(2), rowOf(3)];
  const first = rows.map((row) => encoded.of(row, WHOLE_LOG, 'whole'));
  const second = rows.map((row) => encoded.of(row, WHOLE_LOG, 'whole'));
  for (const [index, message] of first.entries()) expect(second[index]).toBe(message);
  const elsewhere = rows.map((row) => encoded.of(row, { projects: new Set(['other']) }, 'other'));
  const read = (messages: Uint8Array[]) => messages.flatMap((bytes) => [...new MessageReader().read(bytes)]);
  expect(read(first)).toMatchObject(rows.map(({ row }) => ({ type: 'row', row })));
  expect(read(elsewhere)).toMatchObject(rows.map(({ row }) => ({ row: { seq: row.seq, projectId: '' } })));
});

test('a kind of row that this program does not know reaches no follower with a scope', () => {
  const { row, environmentName } = rowOf(1);
  // As a newer node may send it.
  const newer = { row: { ...row, kind: 'environment.renamed' as never }, environmentName };
  const scope = { projects: new Set(['p']), environments: new Set(['production']) };
  expect(rowIn(scope, { row, environmentName })).toEqual(row);
  expect(rowIn(scope, newer)).toMatchObject({ seq: 1, kind: 'records.changed', projectId: '' });
  expect(rowIn(WHOLE_LOG, newer)).toEqual(newer.row);
});

test('messages are bounded in bytes, whatever their size', () => {
  const encoded = new EncodedRows(100_000);
  for (let seq = 1; seq <= 50; seq++) {
    encoded.of(rowOf(seq, 10_000), WHOLE_LOG, 'whole');
    expect(encoded.bytes).toBeLessThanOrEqual(100_000);
  }
  const large = rowOf(51, 500_000);
  const message = encoded.of(large, WHOLE_LOG, 'whole');
  expect(encoded.of(large, WHOLE_LOG, 'whole')).toBe(message);
  encoded.of(rowOf(52), WHOLE_LOG, 'whole');
  expect(encoded.bytes).toBeLessThanOrEqual(100_000);
  encoded.clear();
  expect(encoded.bytes).toBe(0);
});
