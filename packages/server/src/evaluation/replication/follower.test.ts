import { afterEach, describe, expect, test } from 'bun:test';
import { until as eventually, within } from '@halyard/testing';
import type { Cursor, LogRow, LogSession, LogSource } from '../../domain/change-log.ts';
import { UNLIMITED } from '../../domain/people.ts';
import { type Environment, PLAIN_APPEARANCE } from '../../domain/project.ts';
import { logSourceOf } from '../../storage/change-log.ts';
import type { Database } from '../../storage/database.ts';
import { openSqlite } from '../../storage/engines/sqlite.ts';
import { migrate } from '../../storage/schema.ts';
import { SqlStore } from '../../storage/store.ts';
import { beginEpoch, loseRows } from '../../storage/test-engines.ts';
import { Catalog } from '../catalog/catalog.ts';
import { Follower } from './follower.ts';

const ACTOR = { name: 'system', permissions: UNLIMITED };
const PLACE = { id: 'e', projectId: 'p', name: 'production', revision: 0, createdAt: 1 };
const ENVIRONMENT: Environment = { ...PLACE, ...PLAIN_APPEARANCE };

/** A log source whose sessions can be tampered with; everything else is the real thing. */
class FaultySource implements LogSource {
  readonly #source: LogSource;
  #lost: (cause: Error) => void = () => undefined;
  /** Applied to every batch of rows that is read. */
  tamper: (rows: readonly LogRow[]) => readonly LogRow[] = (rows) => rows;
  isSilent = false;
  /** Whether wake-ups come with the rows that were committed. */
  handsOver = false;
  reads = 0;
  /** Runs once between the answer of the next heartbeat and its arrival. */
  beforeHead: (() => Promise<unknown>) | undefined;
  refuses = false;
  snapshots = 0;
  /** Whether sessions are lost at their first question, before or after its answer, and how many were. */
  isDying: false | 'unanswered' | 'answered' = false;
  deaths = 0;
  /** Whether the next snapshot is of a server where the log took another turn at its last row. */
  isNextForeign = false;
  /** Whether the log is read from a copy, such as a standby. */
  isCopy = false;

  constructor(database: Database) {
    this.#source = logSourceOf(database);
  }

  async open(): Promise<LogSession> {
    if (this.refuses) throw new Error('refused');
    const session = await this.#source.open();
    let isDead = false;
    return {
      head: () => {
        if (this.isCopy) return session.head().then((head) => ({ ...head, isCopy: true }));
        if (!this.isDying) return this.#head(session);
        if (!isDead) this.deaths++;
        isDead = true;
        this.lose();
        return this.isDying === 'answered' ? session.head() : Promise.reject(new Error('lost'));
      },
      changeIdAt: (seq) => session.changeIdAt(seq),
      read: async (after) => {
        this.reads++;
        const page = await session.read(after);
        return { ...page, rows: this.tamper(page.rows) };
      },
      onWake: (callback) =>
        session.onWake((committed) => this.isSilent || callback(this.handsOver ? committed : undefined)),
      onLost: (callback) => {
        this.#lost = callback;
      },
      close: () => session.close(),
    };
  }

  async #head(session: LogSession) {
    const head = await session.head();
    const work = this.beforeHead;
    this.beforeHead = undefined;
    await work?.();
    return head;
  }

  async loadSnapshot() {
    this.snapshots++;
    const snapshot = await this.#source.loadSnapshot();
    if (!this.isNextForeign) return snapshot;
    this.isNextForeign = false;
    return { ...snapshot, cursor: { ...snapshot.cursor, changeId: 'another' } };
  }

  async beginEpochAfter(lost: Cursor): Promise<void> {
    await this.#source.beginEpochAfter?.(lost);
  }

  /** The session ends on its own account. */
  lose(): void {
    this.#lost(new Error('lost'));
  }
}

const open: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const close of open.splice(0)) await close();
});

async function setUp() {
  const database = await openSqlite({ path: ':memory:' });
  await migrate(database);
  const store = new SqlStore(database);
  await store.commit(ACTOR, async (transaction) => {
    await transaction.insertProject({ id: 'p', name: 'demo', createdAt: 1 });
    await transaction.insertEnvironment(ENVIRONMENT);
    await transaction.putFlag({
      projectId: 'p',
      key: 'counter',
      description: '',
      tags: [],
      owner: '',
      createdAt: 1,
    });
  });
  const source = new FaultySource(database);
  const heard: string[] = [];
  const events = new EventTarget();
  const hear = (event: string) => {
    heard.push(event);
    events.dispatchEvent(new Event(event));
  };
  const catalog = new Catalog({
    changed: (environment, row) => hear(`revision ${row.revision}: ${environment.select(['counter'])}`),
    environmentGone: () => undefined,
    keyGone: () => undefined,
    malformed: () => undefined,
  });
  const room: { wait?: () => Promise<void> } = {};
  const callbacks = {
    live: () => hear('live'),
    lost: () => hear('lost'),
    room: () => room.wait?.(),
    stillLost: () => hear('still lost'),
  };
  const follower = new Follower({ source, catalog, callbacks, heartbeatMs: 50, pollMs: 20, random: () => 0 });
  const running = follower.run();
  open.push(async () => {
    follower.close();
    await running;
    await database.close();
  });
  /** Waits until the event has happened `times` times in all. */
  const until = async (event: string, times = 1) => {
    while (heard.filter((known) => known === event).length < times) {
      const next = new Promise<void>((resolve) =>
        events.addEventListener(event, () => resolve(), { once: true }),
      );
      await within(`"${event}" is heard ${times} times in all; so far: ${heard.join(', ')}`, next);
    }
  };
  /** Sets the counter to `n`; returns the log row. */
  const write = async (n: number) => {
    const operation = [['counter', `{"enabled":true,"value":${n}}`]] as const;
    const { seq } = await store.commit(ACTOR, (transaction) =>
      transaction.changeStates(ENVIRONMENT, operation),
    );
    return seq ?? 0;
  };
  await until('live');
  return { database, store, source, follower, heard, until, write, room };
}

function seen(n: number): string {
  return `revision ${n}: {"environment":"production","flags":{"counter":{"enabled":true,"value":${n}}}}`;
}

describe('Follower', () => {
  test('every change is applied once, in order, and a writer can wait for its own', async () => {
    const { follower, heard, write } = await setUp();
    for (const n of [1, 2, 3]) await follower.waitForApplied(await write(n));
    expect(heard).toEqual(['live', seen(1), seen(2), seen(3)]);
  });

  test('does not merge changes that are read together', async () => {
    const { source, heard, until, write } = await setUp();
    source.isSilent = true;
    for (const n of [1, 2, 3]) await write(n);
    source.isSilent = false;
    await write(4);
    await until(seen(4));
    expect(heard).toEqual(['live', seen(1), seen(2), seen(3), seen(4)]);
  });

  test('applies what its own process commits at once, without reading it', async () => {
    const { source, follower, heard, write } = await setUp();
    source.handsOver = true;
    source.reads = 0;
    for (const n of [1, 2, 3]) {
      const seq = await write(n);
      expect(follower.seq).toBe(seq);
    }
    expect(heard).toEqual(['live', seen(1), seen(2), seen(3)]);
    expect(source.reads).toBe(0);
  });

  test('reads the log when what was committed does not follow what it has applied', async () => {
    const { database, source, heard, until, write } = await setUp();
    source.handsOver = true;
    source.isSilent = true;
    await write(1);
    source.isSilent = false;
    await write(2);
    await until(seen(2));
    expect(heard).toEqual(['live', seen(1), seen(2)]);
    // As after a failover that lost a row: the number fits, the row before it is another one.
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

  test('lets the event loop turn between the rows of a change of many environments', async () => {
    const { store, until, room } = await setUp();
    const turns: number[] = [];
    let turn = 0;
    let tick = setImmediate(function count() {
      turn++;
      tick = setImmediate(count);
    });
    room.wait = async () => {
      turns.push(turn);
      // As many streams as this takes.
      for (const start = performance.now(); performance.now() - start < 5; );
    };
    await store.commit(ACTOR, async (transaction) => {
      for (const n of [1, 2, 3]) {
        await transaction.changeStates(ENVIRONMENT, [['counter', `{"enabled":true,"value":${n}}`]]);
      }
    });
    await until(seen(3));
    clearImmediate(tick);
    expect(new Set(turns).size).toBe(3);
  });

  test('the heartbeat finds rows whose wake-up was lost', async () => {
    const { source, until, write } = await setUp();
    source.isSilent = true;
    await write(1);
    await until(seen(1));
  });

  test('a lost session is reported at once, and later changes are caught up without a snapshot', async () => {
    const { source, follower, heard, until, write } = await setUp();
    source.refuses = true;
    source.lose();
    expect(heard.at(-1)).toBe('lost');
    expect(follower.isLive).toBe(false);
    await write(1);
    await until('still lost', 2);
    expect(heard.filter((event) => event === 'lost')).toHaveLength(1);
    source.refuses = false;
    await until(seen(1));
    expect(source.snapshots).toBe(1);
  });

  test.each(['unanswered', 'answered'] as const)(
    'each session that is lost with its question %s is told once, and never taken for live',
    async (dying) => {
      const { source, heard, until } = await setUp();
      source.isDying = dying;
      source.lose();
      await until('still lost', 3);
      source.isDying = false;
      await until('live', 2);
      const told = Array.from({ length: source.deaths }, () => 'still lost');
      expect(heard).toEqual(['live', 'lost', ...told, 'live']);
    },
  );

  test('continues after the rows that were applied before a loss', async () => {
    const { source, follower, until, write } = await setUp();
    for (const n of [1, 2]) await follower.waitForApplied(await write(n));
    source.lose();
    await until('live', 2);
    await write(3);
    await until(seen(3));
    expect(source.snapshots).toBe(1);
  });

  test('also notices a missing row that changes no flags', async () => {
    const { source, store, until } = await setUp();
    source.isSilent = true;
    source.tamper = (rows) => (rows.length < 2 ? [] : rows.slice(1));
    for (const name of ['one', 'two'])
      await store.commit(ACTOR, (transaction) => transaction.insertProject({ id: name, name, createdAt: 1 }));
    await until('lost');
    source.tamper = (rows) => rows;
    await until('live', 2);
    expect(source.snapshots).toBe(2);
  });

  test('each heartbeat proves that the catalog is current; without one its age grows', async () => {
    const { source, follower } = await setUp();
    const provenAt = () => performance.now() - follower.sinceProofMs();
    const first = provenAt();
    await eventually('another heartbeat', () => provenAt() > first + 20);
    source.refuses = true;
    source.lose();
    const last = provenAt();
    await eventually('a second without a proof', () => follower.sinceProofMs() > 500);
    expect(provenAt()).toBeCloseTo(last, -1);
  });

  test('does not report a session as still lost when the first attempt succeeds', async () => {
    const { source, heard, until } = await setUp();
    source.lose();
    await until('live', 2);
    expect(heard).toEqual(['live', 'lost', 'live']);
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

  test('a row waits until there is room for its frames', async () => {
    const { room, heard, until, write } = await setUp();
    const gate = Promise.withResolvers<void>();
    const asked = new Promise<void>((resolve) => {
      room.wait = () => {
        resolve();
        return gate.promise;
      };
    });
    await write(1);
    await within('the follower asks for room', asked);
    expect(heard).toEqual(['live']);
    delete room.wait;
    gate.resolve();
    await until(seen(1));
  });

  test.each(['lost', 'closed'] as const)(
    'when the session is %s while a row waits for room, nothing more is applied',
    async (end) => {
      const { source, follower, room, heard, until, write } = await setUp();
      const gate = Promise.withResolvers<void>();
      const asked = new Promise<void>((resolve) => {
        room.wait = () => {
          resolve();
          return gate.promise;
        };
      });
      await write(1);
      await within('the follower asks for room', asked);
      delete room.wait;
      source.refuses = true;
      if (end === 'lost') source.lose();
      else follower.close();
      gate.resolve();
      if (end === 'lost') await until('still lost', 2);
      else await Bun.sleep(0);
      expect(heard.filter((event) => event.startsWith('revision'))).toEqual([]);
    },
  );

  test('notices another history of the database, and loads a snapshot', async () => {
    const { database, source, until } = await setUp();
    await beginEpoch(database, 'restored');
    await until('lost');
    await until('live', 2);
    expect(source.snapshots).toBe(2);
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
    'notices through the same session that its last row is another one now, with %p rows after it',
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

  test('does not follow a snapshot of another server than its session, as after a failover', async () => {
    const { database, source, heard, until } = await setUp();
    source.isNextForeign = true;
    await beginEpoch(database, 'promoted');
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

  test('a closed follower applies and reports nothing more', async () => {
    const { follower, heard, write } = await setUp();
    follower.close();
    await write(1);
    expect(heard).toEqual(['live']);
  });
});
