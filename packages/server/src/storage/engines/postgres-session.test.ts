import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import { sharedPostgres, until, within } from '@halyard/testing';
import { StoreOutage } from '../../domain/errors.ts';
import { logSourceOf } from '../change-log.ts';
import { SqlStore } from '../store.ts';
import { ADA, changing, readLog } from '../test-records.ts';
import { openHome } from './test-home.ts';

setDefaultTimeout(60_000);

const ON = '{"enabled":true}';

describe('the log session on PostgreSQL', () => {
  test('a terminated session is lost at once and reported once, and a new one works', async () => {
    const server = await sharedPostgres();
    await using home = await openHome(server);
    const session = await home.database.openLogSession();
    const causes: Error[] = [];
    const lost = new Promise<void>((resolve) => {
      session.onLost((cause) => {
        causes.push(cause);
        resolve();
      });
    });
    await home.direct.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE datname = current_database() AND query = 'LISTEN halyard_feed'`,
    );
    await within('the session is lost', lost);
    await expect(session.head()).rejects.toThrow();
    session.close();
    expect(causes.length).toBe(1);
    expect((await (await home.database.openLogSession()).head()).seq).toBe(2);
  });

  test('a session that went silent is lost with the next heartbeat', async () => {
    await using home = await openHome();
    const session = await home.database.openLogSession();
    let losses = 0;
    session.onLost(() => {
      losses += 1;
    });
    home.proxy.blackhole();
    const beats = await Promise.allSettled([session.head(), readLog(session, 0, 10)]);
    expect(beats.map((beat) => beat.status)).toEqual(['rejected', 'rejected']);
    expect(losses).toBe(1);
    home.proxy.restore();
  });

  test('reads rows of many megabytes over a slow link, however long that takes', async () => {
    await using home = await openHome();
    const direct = new SqlStore(home.direct);
    // Together, and the last one alone, more than the link carries in the time of a heartbeat.
    for (const [letter, megabytes] of Object.entries({ a: 3, b: 3, c: 3, d: 10 })) {
      const state = `{"enabled":true,"value":"${letter.repeat(megabytes * 1_000_000)}"}`;
      await direct.commit(ADA, changing(home.environment, ['checkout', state]));
    }
    home.proxy.throttle(4_000_000);
    const session = await logSourceOf(home.database).open();
    const seqs: number[] = [];
    for (let isLast = false; !isLast; ) {
      const page = await session.read(2 + seqs.length);
      seqs.push(...page.rows.map(({ seq }) => seq));
      isLast = page.isLast;
    }
    expect(seqs).toEqual([3, 4, 5, 6]);
    expect(await session.head()).toMatchObject({ seq: 6 });
  });

  test('an answer that stops in the middle is a lost session', async () => {
    await using home = await openHome();
    const state = `{"enabled":true,"value":"${'x'.repeat(6_000_000)}"}`;
    await new SqlStore(home.direct).commit(ADA, changing(home.environment, ['checkout', state]));
    const session = await home.database.openLogSession();
    const lost = new Promise<Error>((resolve) => session.onLost(resolve));
    home.proxy.throttle(4_000_000);
    const before = home.proxy.passedBytes;
    const reading = readLog(session, 2, 10).catch((error: unknown) => error);
    await until('a megabyte is on its way', () => home.proxy.passedBytes >= before + 1_000_000);
    home.proxy.blackhole();
    expect(await reading).toBeInstanceOf(StoreOutage);
    expect((await within('the session is lost', lost)).message).toContain('sent nothing');
  });

  test('a session that lost its channel reports that nothing is pushed', async () => {
    await using home = await openHome();
    const session = await home.database.openLogSession();
    expect(await session.head()).toMatchObject({ pushed: true });
    await session.query('UNLISTEN *');
    expect(await session.head()).toMatchObject({ pushed: false });
  });

  test('a session that keeps its channel but hears nothing, as behind a pooler, reports that until it hears again', async () => {
    await using home = await openHome();
    const session = await home.database.openLogSession();
    expect(await session.head()).toMatchObject({ seq: 2, pushed: true });
    await home.direct.query('UPDATE feed SET seq = seq + 1');
    await session.head();
    expect(await session.head()).toMatchObject({ seq: 3, pushed: false });
    const woken = new Promise<void>((resolve) => session.onWake(() => resolve()));
    await home.store.commit(ADA, changing(home.environment, ['checkout', ON]));
    await within('the session is woken', woken);
    expect(await session.head()).toMatchObject({ seq: 4, pushed: true });
  });
});
