import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import { until } from '@halyard/testing';
import type { Cursor, LogHead, LogHistory, LogSource } from '../../domain/change-log.ts';
import type { Environment } from '../../domain/project.ts';
import { createLogger } from '../../observability/logger.ts';
import { loadSnapshot, logSourceOf } from '../../storage/change-log.ts';
import { beginEpoch, ENGINES, loseRows, openTestStore, type TestStore } from '../../storage/test-engines.ts';
import { ADA, changing, seed } from '../../storage/test-records.ts';
import { LogBacklog } from './backlog.ts';
import { LOG_PATH } from './messages.ts';
import { SharedHistory } from './shared-history.ts';
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
    ['one tier, a shorter log', 1, 0, false],
    ['two tiers, other rows in their place', 2, 3, false],
    ['two tiers, and the beginning of the epoch', 2, 3, true],
  ])('%s: a new epoch begins', async (_, tiers, later, isWhole) => {
    const home = await openTestStore(engine);
    closeAtEnd(() => home[Symbol.asyncDispose]());
    const { environment } = await seed(home.store);
    const first = await epochOf(home);
    if (isWhole) await beginEpoch(home.database);
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
    await home.database.query('UPDATE feed SET epoch = $1', [(isWhole ? first : cursor?.epoch) ?? '']);
    await change(home, environment, later);

    // New nodes and relays, which have not seen what was lost.
    let node = await openUpstream(home);
    const top = node.plane;
    for (let tier = 1; tier < tiers; tier++) {
      node = await startUpstream(node.remote());
      closeAtEnd(() => node[Symbol.dispose]());
    }
    above = node.remote();
    await until('all follow a new epoch', () =>
      [top, node.plane, plane].every(
        ({ follower }) =>
          follower.isLive && ![first, cursor?.epoch].includes(follower.cursor?.epoch ?? first),
      ),
    );
    for (const { catalog } of [top, plane])
      expect(catalog.environmentWithId(environment.id)?.revision).toBe((isWhole ? 200_001 : 100_001) + later);
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

  // It finds out from its own cursor, sealed or not.
  const next = (await loadSnapshot(home.database)).cursor;
  for (const own of [cursor, seen]) expect(await source.history?.isOver(own)).toBe(true);
  expect(await source.history?.isOver(next)).toBe(false);
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

/** A source that can be made to notice no end of its epoch, and whose next answer about it can be held back on its way. */
function deaf(source: LogSource, history: LogHistory) {
  const state = { isDeaf: false, answer: undefined as Promise<void> | undefined };
  const open: LogSource['open'] = async (...asked) => {
    const session = await source.open(...asked);
    let heard: LogHead | undefined;
    const head = async (seq?: number) => {
      if (!state.isDeaf || heard === undefined) heard = await session.head(seq);
      return heard;
    };
    return { ...session, head };
  };
  const isOver = async (own: Cursor) => {
    const { answer } = state;
    state.answer = undefined;
    const is = await history.isOver(own);
    await answer;
    return is;
  };
  const seal = (row: Cursor) => history.seal(row);
  const hasLost = (row: Cursor) => history.hasLost(row);
  return Object.assign(state, { source: { ...source, open, history: { seal, hasLost, isOver } } });
}

test('neither a node whose epoch is over nor a relay below it takes a follower back, whatever its epoch', async () => {
  const home = await openStore();
  const { environment } = await seed(home.store);
  await change(home, environment, 2);
  const inner = logSourceOf(home.database);
  if (inner.history === undefined) throw new Error('it has no history');
  const node = deaf(inner, inner.history);
  const upstream = await openUpstream(home, {}, node.source);
  const relay = await startUpstream(upstream.remote());
  closeAtEnd(() => relay[Symbol.dispose]());

  // Where a follower is that was led here from a node that has noticed.
  const begin = async (): Promise<Cursor> => {
    await beginEpoch(home.database);
    const { cursor } = await loadSnapshot(home.database);
    return { ...cursor, changeId: node.source.history.seal(cursor) };
  };
  const ask = (...places: Cursor[]) =>
    Promise.all(places.flatMap((at) => [upstream, relay].map(({ url }) => askFrom(url, at))));
  const first = await loadSnapshot(home.database);
  expect(await ask(first.cursor)).toEqual([200, 200]);
  node.isDeaf = true;
  const [second, third] = [await begin(), await begin()];
  expect(await ask(second, third)).toEqual([503, 503, 503, 503]);

  // Once they follow the newest, what is older may come.
  node.isDeaf = false;
  await until('both follow it', () =>
    [upstream, relay].every(
      ({ plane: { follower } }) => follower.isLive && follower.cursor?.epoch === third.epoch,
    ),
  );
  expect(await ask(second)).toEqual([200, 200]);

  // An answer that is on its way is not for a follower of an epoch that has begun since.
  node.isDeaf = true;
  const { promise, resolve } = Promise.withResolvers<void>();
  node.answer = promise;
  const log = createLogger({ level: 'silent', format: 'json' });
  const shared = new SharedHistory({ plane: upstream.plane, backlog: new LogBacklog(1), log });
  const early = shared.lacks('early', second);
  await until('the question is put', () => node.answer === undefined);
  const late = shared.lacks('late', await begin());
  resolve();
  expect(await Promise.all([early, late])).toEqual([false, true]);

  upstream[Symbol.dispose]();
  await expect(upstream.remote().history.isOver(third)).rejects.toThrow();
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
