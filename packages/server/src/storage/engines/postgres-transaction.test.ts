import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import { sharedPostgres, until, within } from '@halyard/testing';
import { StoreBusy, StoreOutage } from '../../domain/errors.ts';
import { insertEnvironment, lockEnvironment } from '../../nouns/environments/environment-table.ts';
import { readFlag, removeFlag, storeFlag } from '../../nouns/flags/flag-table.ts';
import { changeStates } from '../../nouns/states/change-states.ts';
import { SqlUsageStore } from '../../nouns/usage/usage-table.ts';
import { loadSnapshot, logSourceOf } from '../change-log.ts';
import { CommitUncertainError, type Database } from '../database.ts';
import { SqlStore } from '../store.ts';
import { withTransactions } from '../test-engines.ts';
import { ADA, changing, makeEnvironment, makeFlag, readLog } from '../test-records.ts';
import { openPostgres } from './postgres.ts';
import { openHome } from './test-home.ts';

setDefaultTimeout(60_000);

const ON = '{"enabled":true}';

interface Answer {
  readonly answer: boolean;
}

describe('a transaction on PostgreSQL', () => {
  test('its settings keep a frozen node from holding the end of the log, and end with it', async () => {
    const server = await sharedPostgres();
    await using home = await openHome(server);
    const name = new URL(home.url).pathname.slice(1);
    await server.query(`ALTER DATABASE ${name} SET synchronous_commit = off`);
    const database = await openPostgres({ url: home.url, poolSize: 1 });
    const names = [
      'lock_timeout',
      'idle_in_transaction_session_timeout',
      'statement_timeout',
      'synchronous_commit',
    ];
    const settings = `SELECT ${names.map((setting) => `current_setting('${setting}') AS ${setting}`).join(', ')}`;
    expect(await database.transaction((transaction) => transaction.query(settings))).toEqual([
      {
        lock_timeout: '3s',
        idle_in_transaction_session_timeout: '5s',
        statement_timeout: '10s',
        synchronous_commit: 'on',
      },
    ]);
    expect(await database.query(settings)).toEqual([
      {
        lock_timeout: '0',
        idle_in_transaction_session_timeout: '0',
        statement_timeout: '0',
        synchronous_commit: 'off',
      },
    ]);
    await database.close();
  });

  test('a node that was frozen in a transaction has lost its connection, and goes on with another', async () => {
    await using home = await openHome();
    const database = await openPostgres({ url: home.url, poolSize: 1 });
    for (const [end, failure] of [
      ['query', StoreOutage],
      ['commit', CommitUncertainError],
    ] as const) {
      const frozen = database.transaction(async (transaction) => {
        const [session] = await transaction.query<{ pid: number }>(
          `SELECT set_config('idle_in_transaction_session_timeout', '1ms', true), pg_backend_pid() AS pid`,
        );
        // Nothing is read here meanwhile: the next statement meets the server's last words.
        while (Bun.spawnSync(['kill', '-0', String(session?.pid)]).success) Bun.sleepSync(1);
        if (end === 'query') await transaction.query('SELECT 1');
        else transaction.atCommit({ text: 'SELECT 1' });
      });
      await expect(frozen).rejects.toThrow(failure);
      expect(await database.query('SELECT 1 AS one')).toEqual([{ one: 1 }]);
    }
    await database.close();
  });

  test('COMMIT, which may wait for a standby, has no time limit', async () => {
    await using home = await openHome();
    await home.direct.query('CREATE TABLE noted (statement_timeout TEXT NOT NULL)');
    await home.direct.query(`CREATE FUNCTION note_limit() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN INSERT INTO noted VALUES (current_setting('statement_timeout')); RETURN NULL; END $$`);
    // A deferred trigger runs within COMMIT.
    await home.direct.query(`CREATE CONSTRAINT TRIGGER at_commit AFTER UPDATE ON feed
      DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION note_limit()`);
    await home.store.commit(ADA, changing(home.environment, ['checkout', ON]));
    expect(await home.direct.query('SELECT DISTINCT statement_timeout FROM noted')).toEqual([
      { statement_timeout: '0' },
    ]);
  });

  test('two writers in a deadlock both succeed: one runs again', async () => {
    await using home = await openHome();
    const other = makeEnvironment(home.project, 'other');
    await home.store.commit(ADA, (transaction) => insertEnvironment(transaction, other));
    let runs = 0;
    let locks = 0;
    const both = Promise.withResolvers<void>();
    const lockInOrder = (first: string, second: string) =>
      home.store.commit(ADA, async (transaction) => {
        runs += 1;
        await lockEnvironment(transaction, first);
        locks += 1;
        if (locks === 2) both.resolve();
        await within('both hold a lock', both.promise);
        await lockEnvironment(transaction, second);
      });
    const { id } = home.environment;
    await Promise.all([lockInOrder(id, other.id), lockInOrder(other.id, id)]);
    // On a busy machine the one that runs again may take its lock first, so the deadlock can repeat.
    expect(runs).toBeGreaterThan(2);
  });

  test('a writer that waits too long for another fails as busy and writes nothing', async () => {
    await using home = await openHome();
    const { promise: isWaiting, resolve: wait } = Promise.withResolvers<void>();
    const { promise: isOver, resolve: end } = Promise.withResolvers<void>();
    const holder = home.store.commit(ADA, async (transaction) => {
      await lockEnvironment(transaction, home.environment.id);
      wait();
      await isOver;
    });
    await within('the holder has the lock', isWaiting);
    await expect(home.store.commit(ADA, changing(home.environment, ['checkout', ON]))).rejects.toThrow(
      StoreBusy,
    );
    end();
    await holder;
    const { result } = await home.store.commit(ADA, changing(home.environment, ['checkout', ON]));
    expect(result.revision).toBe(1);
  });

  test('work that conflicts with the deletion of a flag runs again without the flag', async () => {
    await using home = await openHome();
    const { environment, project } = home;
    let runs = 0;
    const outcome = home.store.commit(ADA, async (transaction) => {
      runs += 1;
      const flag = await readFlag(transaction, project.id, 'checkout');
      if (flag === undefined) return 'gone';
      if (runs === 1) await new SqlStore(home.direct).commit(ADA, (other) => removeFlag(other, flag));
      await changeStates(transaction, environment, [['checkout', ON]]);
      return 'changed';
    });
    expect((await outcome).result).toBe('gone');
    expect(runs).toBe(2);
  });

  test('work that conflicts with the creation of a flag runs again and does not overwrite it', async () => {
    await using home = await openHome();
    const described = { ...makeFlag(home.project, 'theme'), description: 'Colours' };
    const found: (string | undefined)[] = [];
    let second: Promise<unknown> = Promise.resolve();
    await new SqlStore(home.direct).commit(ADA, async (transaction) => {
      await storeFlag(transaction, described);
      second = home.store.commit(ADA, async (other) => {
        const flag = await readFlag(other, home.project.id, 'theme');
        found.push(flag?.description);
        if (flag === undefined) await storeFlag(other, makeFlag(home.project, 'theme'));
      });
      const waiting = `SELECT pid FROM pg_stat_activity
        WHERE datname = current_database() AND wait_event_type = 'Lock'`;
      await until('a writer waits for a lock', async () => (await home.direct.query(waiting)).length > 0);
    });
    await second;
    expect(found).toEqual([undefined, 'Colours']);
    expect(await home.store.read((reader) => readFlag(reader, home.project.id, 'theme'))).toEqual(described);
  });

  test('a killed connection fails only its current use', async () => {
    await using home = await openHome();
    const killed = home.database.transaction(async (transaction) => {
      await transaction.query('SELECT pg_terminate_backend(pg_backend_pid())');
    });
    await expect(killed).rejects.toThrow();
    const { result } = await home.store.commit(ADA, changing(home.environment, ['checkout', ON]));
    expect(result.revision).toBe(1);
  });

  test('an idle connection that went silent fails its next use within seconds, even a long read', async () => {
    await using home = await openHome();
    await home.database.query('SELECT 1');
    home.proxy.blackhole();
    const read = within('the read fails', loadSnapshot(home.database));
    await expect(read).rejects.toBeInstanceOf(StoreOutage);
    home.proxy.restore();
    expect((await loadSnapshot(home.database)).cursor.seq).toBe(2);
  });

  test('a COMMIT whose answer is lost is uncertain, and the store finds that it was committed', async () => {
    await using home = await openHome();
    const cutting = () => afterWork(home.database, () => home.proxy.cutOn(['COMMIT'], 'after'));
    await expect(
      cutting().transaction((transaction) => transaction.query('SELECT 1')),
    ).rejects.toBeInstanceOf(CommitUncertainError);
    const store = new SqlStore(cutting());
    const committed = await store.commit(ADA, changing(home.environment, ['checkout', ON]));
    expect(committed).toEqual({ result: { revision: 1, changed: ['checkout'] }, seq: 3 });
    expect((await readLog(home.direct, 2, 10)).length).toBe(1);
  });

  test('no epoch begins when the commit that it waited for brings the missing row', async () => {
    await using home = await openHome();
    const { cursor } = await loadSnapshot(home.direct);
    const begun = await home.direct.transaction(async (transaction) => {
      await transaction.query('UPDATE environments SET revision = revision + 1');
      await transaction.query('UPDATE feed SET seq = seq + 1');
      const columns = `change_id, kind, project_id, payload, at, actor FROM change_log WHERE seq = ${cursor.seq}`;
      await transaction.query(`INSERT INTO change_log (seq, change_id, kind, project_id, payload, at, actor)
        SELECT seq + 1, 'shown by a standby' || ${columns}`);
      const source = logSourceOf(home.database);
      const lost = { ...cursor, seq: cursor.seq + 1, changeId: `shown by a standby${cursor.changeId}` };
      const attempt = source.beginEpochAfter?.(lost).catch((error: unknown) => error);
      await until('it waits for this transaction', async () => {
        const text = `SELECT EXISTS (SELECT 1 FROM pg_stat_activity
          WHERE wait_event_type = 'Lock' AND datname = current_database()) AS answer`;
        return (await home.direct.query<Answer>(text))[0]?.answer;
      });
      return { attempt };
    });
    expect(await begun.attempt).toBeInstanceOf(StoreOutage);
    const after = await loadSnapshot(home.direct);
    expect(after.cursor).toMatchObject({ epoch: cursor.epoch, seq: cursor.seq + 1 });
    expect(after.environments).toMatchObject([{ revision: 1 }]);
  });

  test('a COMMIT that never arrives is uncertain, and the store finds that it was not committed', async () => {
    await using home = await openHome();
    const cutting = afterWork(home.database, () => home.proxy.reset());
    const attempt = new SqlStore(cutting).commit(ADA, changing(home.environment, ['checkout', ON]));
    await expect(attempt).rejects.toThrow('rolled back');
    expect(await readLog(home.direct, 2, 10)).toEqual([]);
  });

  test('reads of flags count once when their COMMIT is lost, and are refused when it never arrived', async () => {
    await using home = await openHome();
    const reads = [{ environmentId: home.environment.id, flags: [['checkout', 2, 0] as const] }];
    const stored = () => home.direct.query('SELECT reads FROM flag_usage');
    const usageWith = (strike: () => void) => new SqlUsageStore(afterWork(home.database, strike));
    await usageWith(() => home.proxy.cutOn(['COMMIT'], 'after')).add(reads, 0);
    expect(await stored()).toEqual([{ reads: 2 }]);
    const refused = usageWith(() => home.proxy.reset()).add(reads, 0);
    await expect(refused).rejects.toThrow('the reads were not added');
    expect(await stored()).toEqual([{ reads: 2 }]);
  });
});

/** The same database, with a fault that strikes when the work of the next write is done and COMMIT is to be sent. */
function afterWork(database: Database, strike: () => void): Database {
  let isArmed = true;
  return withTransactions(database, (work) =>
    database.transaction(async (transaction) => {
      const result = await work(transaction);
      if (isArmed) strike();
      isArmed = false;
      return result;
    }),
  );
}
