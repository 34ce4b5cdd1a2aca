import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import { until } from '@halyard/testing';
import type { Cursor, LogSource } from '../../domain/change-log.ts';
import type { Environment } from '../../domain/project.ts';
import { loadSnapshot, logSourceOf } from '../../storage/change-log.ts';
import { ENGINES, loseRows, openTestStore, type TestStore } from '../../storage/test-engines.ts';
import { ADA, changing, seed } from '../../storage/test-records.ts';
import { LOG_PATH } from './messages.ts';
import { closeAtEnd, follow, openStore, openUpstream, startUpstream } from './test-upstream.ts';

setDefaultTimeout(60_000);

/** Changes the flag so often; each change makes a row. */
async function change({ store }: TestStore, environment: Environment, times: number): Promise<void> {
  for (let n = 0; n < times; n++) {
    const state = `{"enabled":true,"value":"${crypto.randomUUID()}"}`;
    await store.commit(ADA, changing(environment, ['checkout', state]));
  }
}

describe.each(ENGINES)('history that only relays have seen is lost on $name', (engine) => {
  test.each([
    ['one tier, a shorter log', 1, 0],
    ['two tiers, other rows in their place', 2, 3],
  ])('%s: a new epoch begins', async (_, tiers, later) => {
    const home = await openTestStore(engine);
    closeAtEnd(() => home[Symbol.asyncDispose]());
    const { environment } = await seed(home.store);
    await change(home, environment, 3);
    const before = await openUpstream(home);
    let above: LogSource = before.remote();
    const { plane } = follow({
      open: (...asked) => above.open(...asked),
    });
    await until('it has all', () => plane.follower.seq === 5);
    const { cursor } = plane.follower;
    before[Symbol.dispose]();
    await loseRows(home.database, 2);
    await change(home, environment, later);

    // New nodes and relays, which have not seen what was lost.
    let node = await openUpstream(home);
    const first = node.plane;
    for (let tier = 1; tier < tiers; tier++) {
      node = await startUpstream(node.remote());
      closeAtEnd(() => node[Symbol.dispose]());
    }
    above = node.remote();
    await until('all follow a new epoch', () =>
      [first, node.plane, plane].every(
        ({ follower }) => follower.isLive && follower.cursor?.epoch !== cursor?.epoch,
      ),
    );
    for (const { catalog } of [first, plane])
      expect(catalog.environmentWithId(environment.id)?.revision).toBe(100_001 + later);
  });
});

test.each(ENGINES)('a lost row stays lost once its epoch is over, on $name', async (engine) => {
  await using home = await openTestStore(engine);
  const { environment } = await seed(home.store);
  await change(home, environment, 3);
  const source = logSourceOf(home.database);
  (await source.open()).close();
  const { cursor } = await loadSnapshot(home.database);
  const seen = { ...cursor, changeId: source.history?.seal(cursor) ?? '' };
  expect(await source.history?.hasLost(seen)).toBe(false);
  await loseRows(home.database, 1);
  expect(await source.history?.hasLost(seen)).toBe(true);

  // A node that follows the old epoch for a moment longer would take its follower back.
  const epoch = await epochOf(home);
  expect(epoch).not.toBe(cursor.epoch);
  expect(await source.history?.hasLost(seen)).toBe(true);
  expect(await epochOf(home)).toBe(epoch);

  // Nor one that follows the new epoch already.
  const next = (await loadSnapshot(home.database)).cursor;
  const ofNext = { ...next, changeId: source.history?.seal(next) ?? '' };
  expect(await source.history?.holds(ofNext)).toBe(true);
  expect(await source.history?.holds(seen)).toBe(false);
});

/** Asks for the log from a place on, as a follower does; gives the status of the answer. */
async function askFrom(url: string, { epoch, seq, changeId }: Cursor): Promise<number> {
  const query = new URLSearchParams({ epoch, seq: String(seq), changeId });
  const answer = await fetch(`${url}${LOG_PATH}?${query}`);
  await answer.body?.cancel();
  return answer.status;
}

async function epochOf({ database }: TestStore): Promise<string | undefined> {
  const [feed] = await database.query<{ epoch: string }>('SELECT epoch FROM feed');
  return feed?.epoch;
}

test('a follower cannot make an epoch with a row that was never there', async () => {
  const home = await openStore();
  const { environment } = await seed(home.store);
  await change(home, environment, 2);
  const upstream = await openUpstream(home);
  const { plane } = follow(upstream.remote());
  await plane.firstLive;
  const { cursor } = plane.follower;
  if (cursor === undefined) throw new Error('it has no cursor');
  const ask = (at: Cursor) => askFrom(upstream.url, at);
  const [id] = cursor.changeId.split('.');
  const forged = `${id}.${'0'.repeat(32)}`;
  const statuses = await Promise.all([
    // The seal is of another place, forged or missing; then nothing is ahead of the node, and it gives what it has.
    ask({ ...cursor, seq: cursor.seq + 1 }),
    ask({ ...cursor, seq: cursor.seq + 1, changeId: forged }),
    ask({ ...cursor, seq: cursor.seq - 1 }),
    ask({ ...cursor, changeId: forged }),
    ask({ ...cursor, changeId: id ?? '' }),
  ]);
  expect(statuses).toEqual([503, 503, 200, 200, 200]);
  // A row that is there proves nothing either.
  expect(await ask(cursor)).toBe(200);
  expect(await epochOf(home)).toBe(cursor.epoch);
});

test('a relay asks its upstream whether a row is in the log: it takes back no follower of a newer epoch than its own', async () => {
  const home = await openStore();
  const { environment } = await seed(home.store);
  await change(home, environment, 2);
  const upstream = await openUpstream(home);
  const source = upstream.remote();
  const { plane } = follow(source);
  await plane.firstLive;
  const { cursor } = plane.follower;
  if (cursor === undefined) throw new Error('it has no cursor');

  expect(await source.history.holds(cursor)).toBe(true);
  expect(await source.history.holds({ ...cursor, epoch: crypto.randomUUID() })).toBe(false);
  upstream[Symbol.dispose]();
  await expect(source.history.holds(cursor)).rejects.toThrow();
});

test('a row that was lost makes one epoch, and none under the name of a later one', async () => {
  const home = await openStore();
  const { environment } = await seed(home.store);
  await change(home, environment, 2);
  const before = await openUpstream(home);
  const { plane } = follow(before.remote());
  await plane.firstLive;
  const { cursor } = plane.follower;
  if (cursor === undefined) throw new Error('it has no cursor');
  before[Symbol.dispose]();
  await loseRows(home.database, 1);
  await change(home, environment, 1);

  const { url, plane: node } = await openUpstream(home);
  await askFrom(url, cursor);
  const isNew = ({ cursor: now, isLive }: typeof node.follower) => isLive && now?.epoch !== cursor.epoch;
  await until('the node follows a new epoch', () => isNew(node.follower));
  const epoch = await epochOf(home);
  expect(await askFrom(url, { ...cursor, epoch: epoch ?? '' })).toBe(200);
  expect(await epochOf(home)).toBe(epoch);
});
