import { describe, expect, test } from 'bun:test';
import type { LogRow } from '../../domain/change-log.ts';
import { insertProject } from '../../nouns/projects/project-table.ts';
import { beginEpoch, loseRows } from '../../storage/test-engines.ts';
import { ACTOR, seen, setUp } from './test-follower.ts';

describe('a follower whose log does not continue', () => {
  test('reads the log when what was committed does not follow what it has applied', async () => {
    const { database, source, heard, until, write } = await setUp();
    source.handsOver = true;
    source.isSilent = true;
    await write(1);
    source.isSilent = false;
    await write(2);
    await until(seen(2));
    expect(heard).toEqual(['live', seen(1), seen(2)]);
    // As after a failover that lost a row: the number fits, but the row before it has changed.
    await database.query(`UPDATE change_log SET change_id = 'another' WHERE seq = (SELECT seq FROM feed)`);
    const { snapshots } = source;
    await write(3);
    await until('live', 2);
    expect(heard).not.toContain(seen(3));
    expect(source.snapshots).toBe(snapshots + 1);
  });

  test('a heartbeat that was answered before a commit of its own process is not another history', async () => {
    const { source, heard, until, write } = await setUp();
    source.handsOver = true;
    const over = new Promise<void>((resolve) => {
      source.beforeHead = () => write(1).then(() => resolve());
    });
    await over;
    await write(2);
    await until(seen(2));
    expect(heard).toEqual(['live', seen(1), seen(2)]);
    expect(source.snapshots).toBe(1);
  });

  test('also notices a missing row that changes no flags', async () => {
    const { source, store, until } = await setUp();
    source.isSilent = true;
    source.tamper = (rows) => (rows.length < 2 ? [] : rows.slice(1));
    for (const name of ['one', 'two'])
      await store.commit(ACTOR, (transaction) =>
        insertProject(transaction, { id: name, name, createdAt: 1 }),
      );
    await until('lost');
    source.tamper = (rows) => rows;
    await until('live', 2);
    expect(source.snapshots).toBe(2);
  });

  test.each([
    ['a row is missing', (rows: readonly LogRow[]) => rows.slice(1)],
    ['a row comes twice', (rows: readonly LogRow[]) => [...rows.slice(0, 1), ...rows]],
    ['rows are swapped', (rows: readonly LogRow[]) => [...rows].reverse()],
    ['a row cannot be read', (rows: readonly LogRow[]) => rows.map((row) => ({ ...row, payload: '{' }))],
  ])(
    'when %s nothing of it reaches a reader; the node stops, says so and begins from a snapshot',
    async (_, tamper) => {
      const { source, heard, until, write } = await setUp();
      source.isSilent = true;
      source.tamper = (rows) => (rows.length < 2 ? [] : tamper(rows));
      await write(1);
      await write(2);
      await until('lost');
      source.tamper = (rows) => rows;
      await until('live', 2);
      await write(3);
      await until(seen(3));
      expect(source.snapshots).toBe(2);
      const revisions = heard.flatMap((event) => /^revision (\d+)/.exec(event)?.[1] ?? []).map(Number);
      expect(revisions).toEqual([...new Set(revisions)].sort((a, b) => a - b));
    },
  );

  test('loads a snapshot after a second failed read at the same row', async () => {
    const { source, heard, until, write } = await setUp();
    let failures = 0;
    source.tamper = () => {
      failures++;
      throw new Error('too large for this link');
    };
    await write(1);
    await write(2);
    await until('live', 2);
    source.tamper = (rows) => rows;
    await write(3);
    await until(seen(3));
    expect([failures, source.snapshots]).toEqual([2, 2]);
    expect(heard.filter((event) => event.startsWith('revision'))).toEqual([seen(3)]);
  });

  test('notices another history of the database, and loads a snapshot', async () => {
    const { database, source, until } = await setUp();
    await beginEpoch(database);
    await until('lost');
    await until('live', 2);
    expect(source.snapshots).toBe(2);
  });

  test('applies no row of another history, also before a heartbeat has seen it', async () => {
    const { database, source, follower, until } = await setUp();
    const { cursor } = follower;
    await database.transaction(async (transaction) => {
      await transaction.query(`INSERT INTO change_log (seq, change_id, kind, project_id, payload, actor, at)
        SELECT seq + 1, 'next', 'records.changed', '', '{"actions":[]}', '', 1 FROM feed`);
      await transaction.query(`UPDATE feed SET epoch = '9.restored', seq = seq + 1`);
      source.refuses = true;
    });
    database.announce();
    await until('lost');
    expect(follower.cursor).toEqual(cursor);
    source.refuses = false;
    await until('live', 2);
    expect(follower.cursor).toMatchObject({ epoch: '9.restored', changeId: 'next' });
  });

  test('begins a new epoch, with greater revisions, when the log has lost rows that were applied', async () => {
    const { database, source, follower, until, write } = await setUp();
    for (const n of [1, 2, 3]) await follower.waitForApplied(await write(n));
    const { epoch } = follower.cursor ?? {};
    await loseRows(database, 2);
    await until('live', 2);
    expect(follower.cursor).toMatchObject({ seq: follower.seq });
    expect(follower.cursor?.epoch).not.toBe(epoch);
    await write(4);
    // Revision 1 was left, and 100,000 are beyond everything that was served before.
    await until(
      'revision 100002: {"environment":"production","flags":{"counter":{"enabled":true,"value":4}}}',
    );
    expect(source.snapshots).toBe(2);
  });

  test.each([0, 1])(
    'notices through the same session that its last row has changed, with %p rows after it',
    async (count) => {
      const { database, source, follower, until, write } = await setUp();
      await follower.waitForApplied(await write(1));
      const { epoch } = follower.cursor ?? {};
      source.isSilent = true;
      await database.transaction(async (transaction) => {
        await transaction.query(
          `UPDATE change_log SET change_id = 'another' WHERE seq = (SELECT seq FROM feed)`,
        );
        await transaction.query('UPDATE feed SET seq = seq + $1', [count]);
        await transaction.query(`INSERT INTO change_log
            (seq, change_id, kind, project_id, environment_id, revision, payload, actor, at)
          SELECT feed.seq, 'next', kind, project_id, environment_id, revision + 1, payload, actor, at
          FROM change_log, feed WHERE change_log.seq = feed.seq - 1 AND change_id = 'another'`);
      });
      await until('live', 2);
      expect(source.snapshots).toBe(2);
      expect(follower.cursor?.epoch).not.toBe(epoch);
    },
  );

  test('waits for a copy that does not have the rows yet that were applied elsewhere', async () => {
    const { database, source, follower, until, write } = await setUp();
    for (const n of [1, 2]) await follower.waitForApplied(await write(n));
    const { epoch } = follower.cursor ?? {};
    source.refuses = true;
    source.lose();
    await database.query('UPDATE feed SET seq = seq - 1');
    source.isCopy = true;
    source.refuses = false;
    await until('still lost', 2);
    expect([source.snapshots, follower.isLive]).toEqual([1, false]);
    await database.query('UPDATE feed SET seq = seq + 1');
    await until('live', 2);
    expect([source.snapshots, follower.cursor?.epoch]).toEqual([1, epoch]);
  });

  test('a copy that never gets the rows again has lost them: a new epoch begins', async () => {
    const { database, source, follower, until, write } = await setUp({ patienceMs: 100 });
    for (const n of [1, 2]) await follower.waitForApplied(await write(n));
    const { epoch } = follower.cursor ?? {};
    source.refuses = true;
    source.lose();
    await loseRows(database, 1);
    source.isCopy = true;
    source.refuses = false;
    await until('live', 2);
    expect(follower.cursor?.epoch).not.toBe(epoch);
  });

  test.each([false, true])('loads no earlier epoch than its own, also from a copy: %p', async (isCopy) => {
    const { database, source, follower, until, write } = await setUp({ patienceMs: 100 });
    await follower.waitForApplied(await write(1));
    const [first] = await database.query<{ epoch: string }>('SELECT epoch FROM feed');
    await loseRows(database, 1);
    await until('live', 2);
    await follower.waitForApplied(await write(2));
    const { cursor } = follower;

    // A standby that is behind, or what a failover to it has left, with more rows than the node has.
    source.refuses = true;
    source.lose();
    await loseRows(database, 1);
    await database.query('UPDATE feed SET epoch = $1', [first?.epoch ?? '']);
    for (const n of [3, 4, 5]) await write(n);
    source.isCopy = isCopy;
    source.refuses = false;
    await until('live', 3);
    expect([first?.epoch, cursor?.epoch]).not.toContain(follower.cursor?.epoch);
    await write(6);
    await until(seen(6).replace(/\d+/, '200004'));
  });

  test('loads no other history under the name of its own, as from a copy that lacks the new epoch yet', async () => {
    const { database, source, follower, heard, until, write } = await setUp();
    await follower.waitForApplied(await write(1));
    const { epoch } = follower.cursor ?? {};
    source.isSilent = true;
    // What is begun in the database shows later in the copy.
    source.beginEpochAfter = async () => void Reflect.deleteProperty(source, 'beginEpochAfter');
    await database.query(`UPDATE change_log SET change_id = 'another' WHERE seq = (SELECT seq FROM feed)`);
    await until('live', 2);
    expect(heard).toEqual(['live', seen(1), 'lost', 'still lost', 'live']);
    expect(follower.cursor?.epoch).not.toBe(epoch);
  });

  test('is not current when the rows that it lacks were removed from the log, and loads a snapshot', async () => {
    const { source, follower, until, write } = await setUp();
    source.tamper = () => [];
    const seq = await write(1);
    await until('live', 2);
    expect([source.snapshots, follower.seq]).toEqual([2, seq]);
  });

  test.each([
    ['rows are lost', 0],
    ['rows are lost and others take their places', 3],
  ])('does not go back when %s between the look at the log and the snapshot', async (_, later) => {
    const { database, source, follower, until, write } = await setUp();
    await follower.waitForApplied(await write(1));
    const { epoch } = follower.cursor ?? {};
    source.isSilent = true;
    source.tamper = (rows) => rows.map((row) => ({ ...row, payload: '{' }));
    source.beforeLoading = async () => {
      source.tamper = (rows) => rows;
      await loseRows(database, 2);
      for (let n = 0; n < later; n++) await write(10 + n);
    };
    await write(2);
    await until('live', 2);
    expect(source.snapshots).toBe(3);
    expect(follower.cursor?.epoch).not.toBe(epoch);
  });

  test('does not follow a snapshot of another server than its session, as after a failover', async () => {
    const { database, source, heard, until } = await setUp();
    source.isNextForeign = true;
    await beginEpoch(database);
    await until('live', 2);
    expect(heard).toEqual(['live', 'lost', 'still lost', 'live']);
    expect(source.snapshots).toBe(3);
  });

  test('a writer stops waiting when its row came with a new snapshot', async () => {
    const { source, follower, until, write } = await setUp();
    source.isSilent = true;
    source.tamper = () => [];
    const seq = await write(1);
    const applied = follower.waitForApplied(seq);
    source.tamper = (rows) => rows.map((row) => ({ ...row, seq: row.seq + 1 }));
    await until('live', 2);
    await applied;
    expect(follower.seq).toBe(seq);
  });
});
