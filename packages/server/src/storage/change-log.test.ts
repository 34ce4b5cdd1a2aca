import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import type { Cursor } from '../domain/change-log.ts';
import { readProjects, removeProject } from '../nouns/projects/project-table.ts';
import { changeIdAt, loadSnapshot, logSourceOf, pruneLog, readLogPage } from './change-log.ts';
import { ENGINES, loseRows, openTestStore, type TestEngine } from './test-engines.ts';
import { ADA, changing, readLog, seed } from './test-records.ts';

setDefaultTimeout(60_000);

const FUTURE = 9_000_000_000_000;

async function openLog(engine: TestEngine) {
  const home = await openTestStore(engine);
  const { environment } = await seed(home.store);
  for (let value = 1; value <= 8; value++) {
    await home.store.commit(ADA, changing(environment, ['checkout', `{"enabled":true,"value":${value}}`]));
  }
  return { ...home, environment };
}

describe.each(ENGINES)('the change log on $name', (engine: TestEngine) => {
  test('reads from any position, in order, in pages', async () => {
    await using home = await openLog(engine);
    const all = await readLog(home.database, 0, 100);
    expect(all.map((row) => row.seq)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    expect(await readLog(home.database, 4, 3)).toEqual(all.slice(4, 7));
    expect(await readLog(home.database, 10, 3)).toEqual([]);
    expect(new Set(all.map((row) => row.changeId)).size).toBe(10);
  });

  test('a page holds rows up to its limits in rows and bytes, and at least one', async () => {
    await using home = await openLog(engine);
    for (const size of [1_000, 1_000, 5_000, 100]) {
      const state = `{"enabled":true,"value":"${'ä'.repeat(size / 2)}"}`;
      await home.store.commit(ADA, changing(home.environment, ['checkout', state]));
      await home.store.commit(ADA, changing(home.environment, ['checkout', null]));
    }
    const page = async (afterSeq: number, rows: number, bytes: number) => {
      const read = await readLogPage(home.database, afterSeq, { rows, bytes });
      return [read.rows.map(({ seq }) => seq), read.isLast];
    };
    expect(await page(10, 100, 1_500)).toEqual([[11, 12, 13], false]);
    expect(await page(13, 100, 1_500)).toEqual([[14, 15], false]);
    expect(await page(14, 100, 1_500)).toEqual([[15], false]);
    expect(await page(15, 100, 1_500)).toEqual([[16, 17, 18], true]);
    expect(await page(15, 3, 1_500)).toEqual([[16, 17, 18], false]);
    expect(await page(15, 2, 1_500)).toEqual([[16, 17], false]);
    expect(await page(18, 100, 1_500)).toEqual([[], true]);
  });

  test('finds the change id of a row by its seq', async () => {
    await using home = await openLog(engine);
    const [row] = await readLog(home.database, 6, 1);
    expect(await changeIdAt(home.database, 7)).toBe(row?.changeId ?? '');
    expect(await changeIdAt(home.database, 11)).toBeUndefined();
  });

  test('several followers that miss a row begin one new epoch, and revisions rise once', async () => {
    await using home = await openLog(engine);
    const { cursor: lost } = await loadSnapshot(home.database);
    await loseRows(home.database, 3);
    const heard: number[] = [];
    const onEpoch = ({ seq }: Cursor) => heard.push(seq);
    const sources = [home.database, await home.connect()].map((database) =>
      logSourceOf(database, { onEpoch }),
    );
    // One that comes too late may fail, and is tried again.
    await Promise.allSettled(sources.map((source) => source.beginEpochAfter?.(lost)));
    for (const source of sources) await source.beginEpochAfter?.(lost);
    const { cursor, environments } = await loadSnapshot(home.database);
    expect(heard).toEqual([10]);
    expect(cursor.seq).toBe(7);
    expect(cursor.epoch).not.toBe(lost.epoch);
    expect(environments.map(({ revision }) => revision)).toEqual([100_005]);
  });

  test('no epoch begins while the row is there, was pruned, or is of another epoch', async () => {
    await using home = await openLog(engine);
    const { cursor } = await loadSnapshot(home.database);
    const [early] = await readLog(home.database, 3, 1);
    await pruneLog(home.database, { now: FUTURE, olderThan: FUTURE, keepRows: 2 });
    const source = logSourceOf(home.database);
    const held = [cursor, { ...cursor, seq: 4, changeId: early?.changeId ?? '' }];
    for (const kept of [...held, { epoch: 'another', seq: 99, changeId: 'x' }])
      await source.beginEpochAfter?.(kept);
    expect((await loadSnapshot(home.database)).cursor).toEqual(cursor);
    await source.beginEpochAfter?.({ ...cursor, changeId: 'another' });
    expect((await loadSnapshot(home.database)).cursor.epoch).not.toBe(cursor.epoch);
  });

  test('an epoch that it has lost is followed by a later one, above its revisions, once', async () => {
    await using home = await openLog(engine);
    const { cursor: first } = await loadSnapshot(home.database);
    const source = logSourceOf(home.database);
    const lost = { ...first, epoch: '3.lost' };
    for (let n = 0; n < 2; n++) await source.beginEpochAfter?.(lost);
    const { cursor, environments } = await loadSnapshot(home.database);
    expect([first.epoch, cursor.epoch].map((epoch) => epoch.split('.')[0])).toEqual(['2', '4']);
    expect(environments.map(({ revision }) => revision)).toEqual([200_008]);
  });

  test('pruning removes only old rows, and keeps the required number', async () => {
    await using home = await openLog(engine);
    const seqs = async () => (await readLog(home.database, 0, 100)).map((row) => row.seq);
    expect(await pruneLog(home.database, { now: FUTURE, olderThan: 0, keepRows: 1 })).toBe(0);
    expect(await pruneLog(home.database, { now: FUTURE, olderThan: FUTURE, keepRows: 100 })).toBe(0);
    expect(await pruneLog(home.database, { now: FUTURE, olderThan: FUTURE, keepRows: 4 })).toBe(6);
    expect(await seqs()).toEqual([7, 8, 9, 10]);
    expect(await pruneLog(home.database, { now: FUTURE, olderThan: FUTURE, keepRows: 0 })).toBe(3);
    expect(await seqs()).toEqual([10]);
  });

  test('pruning keeps the newest rows, however old they are', async () => {
    await using home = await openLog(engine);
    await home.database.transaction((transaction) => transaction.query('UPDATE change_log SET at = seq'));
    expect(await pruneLog(home.database, { now: FUTURE, olderThan: 9, keepRows: 5 })).toBe(5);
    expect((await readLog(home.database, 0, 100)).map((row) => row.seq)).toEqual([6, 7, 8, 9, 10]);
  });

  test('a clock that went back leaves no gap: no row after a kept one is pruned', async () => {
    await using home = await openLog(engine);
    await home.database.transaction(async (transaction) => {
      await transaction.query('UPDATE change_log SET at = seq');
      await transaction.query('UPDATE change_log SET at = $1 WHERE seq = 4', [20]);
    });
    expect(await pruneLog(home.database, { now: 20, olderThan: 9, keepRows: 1 })).toBe(3);
    expect((await readLog(home.database, 0, 1))[0]?.seq).toBe(4);
  });

  test('a row that a wrong clock dated in the future is pruned with those around it', async () => {
    await using home = await openLog(engine);
    await home.database.transaction(async (transaction) => {
      await transaction.query('UPDATE change_log SET at = seq');
      await transaction.query('UPDATE change_log SET at = $1 WHERE seq = 4', [FUTURE]);
    });
    expect(await pruneLog(home.database, { now: 20, olderThan: 9, keepRows: 1 })).toBe(8);
    expect((await readLog(home.database, 0, 1))[0]?.seq).toBe(9);
  });

  test('the log continues where it was after all but its last row were pruned', async () => {
    await using home = await openLog(engine);
    await pruneLog(home.database, { now: FUTURE, olderThan: FUTURE, keepRows: 1 });
    const { seq } = await home.store.commit(ADA, async (transaction) => {
      const [project] = await readProjects(transaction);
      if (project !== undefined) await removeProject(transaction, project);
    });
    expect(seq).toBe(11);
  });
});
