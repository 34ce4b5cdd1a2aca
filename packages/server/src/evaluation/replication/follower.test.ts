import { describe, expect, test } from 'bun:test';
import { until as eventually, within } from '@halyard/testing';
import { insertFlags } from '../../nouns/flags/flag-table.ts';
import { changeStates } from '../../nouns/states/change-states.ts';
import { ACTOR, COUNTER, ENVIRONMENT, seen, setUp } from './test-follower.ts';

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
        await changeStates(transaction, ENVIRONMENT, [['counter', `{"enabled":true,"value":${n}}`]]);
      }
    });
    await until(seen(3));
    clearImmediate(tick);
    expect(new Set(turns).size).toBe(3);
  });

  test('lets the event loop turn within one large change, which is still one', async () => {
    const { source, store, follower, heard, room } = await setUp();
    source.handsOver = true;
    let turn = 0;
    let tick = setImmediate(function count() {
      turn++;
      tick = setImmediate(count);
    });
    const asked: number[] = [];
    room.wait = async () => void asked.push(turn);
    const state = JSON.stringify({ enabled: true, value: 'x'.repeat(2000) });
    const keys = Array.from({ length: 2000 }, (_, index) => `flag-${index}`);
    const { seq = 0 } = await store.commit(ACTOR, async (transaction) => {
      await insertFlags(
        transaction,
        keys.map((key) => ({ ...COUNTER, key })),
      );
      await changeStates(
        transaction,
        ENVIRONMENT,
        keys.map((key) => [key, state]),
      );
    });
    const committed = turn;
    await follower.waitForApplied(seq);
    clearImmediate(tick);
    expect(heard).toEqual(['live', expect.stringContaining('revision 1')]);
    // Asked once the row is prepared: many turns after its commit.
    expect([asked.length, (asked[0] ?? 0) > committed + 3]).toEqual([1, true]);
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
    'each session that is lost with its question %s is reported once, and never counts as live',
    async (dying) => {
      const { source, heard, until } = await setUp();
      source.isDying = dying;
      source.lose();
      await until('still lost', 3);
      source.isDying = false;
      await until('live', 2);
      const losses = Array.from({ length: source.deaths }, () => 'still lost');
      expect(heard).toEqual(['live', 'lost', ...losses, 'live']);
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

  test.each(['beforeOpening', 'beforeLoading'] as const)(
    'a follower that is closed %s its source has answered ends, and loads nothing',
    async (moment) => {
      const { source, follower, running, heard, write } = await setUp();
      const answered = Promise.withResolvers<void>();
      const asked = new Promise<void>((resolve) => {
        source[moment] = () => {
          resolve();
          return answered.promise;
        };
      });
      // It cannot be read, so that a snapshot follows.
      source.tamper = (rows) => rows.slice(1);
      source.isSilent = true;
      await write(1);
      await write(2);
      await within('the source is asked', asked);
      const { cursor } = follower;
      const before = [...heard];
      follower.close();
      answered.resolve();
      await within('it has ended', running);
      expect([follower.cursor, heard]).toEqual([cursor, before]);
      await expect(source.session?.head() ?? Promise.resolve()).rejects.toThrow();
    },
  );

  test('a closed follower applies and reports nothing more', async () => {
    const { follower, heard, write } = await setUp();
    follower.close();
    await write(1);
    expect(heard).toEqual(['live']);
  });
});
