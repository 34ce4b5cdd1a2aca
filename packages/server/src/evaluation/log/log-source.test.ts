import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import { until, within } from '@halyard/testing';
import type { LogSession, LogSource, Snapshot } from '../../domain/change-log.ts';
import { insertKey } from '../../nouns/keys/key-table.ts';
import { logSourceOf } from '../../storage/change-log.ts';
import { ENGINES, openTestStore, type TestStore } from '../../storage/test-engines.ts';
import { ADA, changing, makeKey, seed } from '../../storage/test-records.ts';
import { Catalog } from '../catalog/catalog.ts';
import { Follower } from '../replication/follower.ts';
import { startUpstream, type TestUpstream } from './test-upstream.ts';

setDefaultTimeout(60_000);

/** A database with a project, and a source that gives its log. */
interface Place extends AsyncDisposable {
  readonly home: TestStore;
  readonly source: LogSource;
  readonly upstreams: readonly TestUpstream[];
}

/** How many nodes are between the follower and the database, and what the last of them listens on. */
interface Way {
  readonly name: string;
  readonly hops: number;
  readonly isLocal?: boolean;
}

const WAYS: readonly Way[] = [
  { name: 'the database itself', hops: 0 },
  { name: 'a node over TCP', hops: 1 },
  { name: 'a node over a Unix socket', hops: 1, isLocal: true },
  { name: 'two nodes in a row', hops: 2 },
];

const CASES = ENGINES.flatMap((engine) =>
  WAYS.map((way) => ({ engine, way, name: `${engine.name}: ${way.name}` })),
);

const ON = '{"enabled":true}';
const OFF = '{"enabled":false}';

describe.each(CASES)('the log of $name', ({ engine, way }) => {
  async function open(): Promise<Place> {
    const home = await openTestStore(engine);
    let source: LogSource = logSourceOf(await home.connect());
    const upstreams: TestUpstream[] = [];
    for (let hop = 0; hop < way.hops; hop++) {
      const upstream = await startUpstream(source, { isLocal: way.isLocal === true });
      upstreams.push(upstream);
      source = upstream.remote();
    }
    return {
      home,
      source,
      upstreams,
      [Symbol.asyncDispose]: async () => {
        for (const upstream of upstreams.reverse()) upstream[Symbol.dispose]();
        await home[Symbol.asyncDispose]();
      },
    };
  }

  test('a snapshot has everything at one position, and the session continues there', async () => {
    await using place = await open();
    const { project, environment } = await seed(place.home.store, ['a', 'b']);
    await place.home.store.commit(ADA, (transaction) =>
      insertKey(transaction, makeKey(project), 'd'.repeat(64)),
    );
    await place.home.store.commit(ADA, changing(environment, ['a', ON], ['b', OFF]));
    await caughtUp(place, 4);
    const session = await place.source.open();
    const snapshot = await session.snapshot();
    expect(snapshot.cursor.seq).toBe(4);
    expect(plain(snapshot)).toEqual({
      projects: [{ id: project.id, name: project.name }],
      environments: [{ id: environment.id, projectId: project.id, name: 'production', revision: 1 }],
      states: [
        { environmentId: environment.id, flagKey: 'a', state: ON },
        { environmentId: environment.id, flagKey: 'b', state: OFF },
      ],
      keys: [{ projectId: project.id, digest: 'd'.repeat(64), environments: ['production'], isLive: true }],
    });
    const { epoch, changeId } = snapshot.cursor;
    expect(await session.head(4)).toMatchObject({ epoch, seq: 4, changeId, pushed: true });
    session.close();
  });

  test('every change wakes the session, and its row is read once, in order', async () => {
    await using place = await open();
    const { environment } = await seed(place.home.store);
    await caughtUp(place, 2);
    const session = await place.source.open();
    await session.snapshot();
    const rows = follow(session, 2);
    for (let n = 1; n <= 20; n++)
      await place.home.store.commit(ADA, changing(environment, ['checkout', n % 2 === 0 ? ON : OFF]));
    const read = await within('20 rows', rows(20));
    expect(read.map(({ seq, revision }) => [seq, revision])).toEqual(read.map((_, n) => [3 + n, 1 + n]));
    expect((await session.head()).seq).toBe(22);
    session.close();
  });

  test('a session continues at a cursor of an earlier one', async () => {
    await using place = await open();
    const { environment } = await seed(place.home.store);
    await caughtUp(place, 2);
    const first = await place.source.open();
    const { cursor } = await first.snapshot();
    first.close();
    await place.home.store.commit(ADA, changing(environment, ['checkout', ON]));
    await caughtUp(place, 3);
    const second = await place.source.open(cursor);
    const { epoch, seq, changeId } = cursor;
    expect(await second.head(seq)).toMatchObject({ epoch, changeId });
    expect((await follow(second, cursor.seq)(1)).map(({ seq }) => seq)).toEqual([3]);
    second.close();
  });

  test('a cursor of another turn of the log is not its own', async () => {
    await using place = await open();
    await seed(place.home.store);
    await caughtUp(place, 2);
    const first = await place.source.open();
    const { cursor } = await first.snapshot();
    first.close();
    const other = { ...cursor, changeId: 'another' };
    const second = await place.source.open(other);
    expect((await second.head(other.seq)).changeId).not.toBe('another');
    expect((await second.snapshot()).cursor).toEqual(cursor);
    second.close();
  });

  test('a closed session is silent', async () => {
    await using place = await open();
    const { environment } = await seed(place.home.store);
    await caughtUp(place, 2);
    const session = await place.source.open();
    const heard: string[] = [];
    session.onWake(() => heard.push('wake'));
    session.onLost(() => heard.push('lost'));
    session.close();
    session.close();
    await place.home.store.commit(ADA, changing(environment, ['checkout', ON]));
    await caughtUp(place, 3);
    expect(heard).toEqual([]);
    await expect(session.head()).rejects.toThrow();
  });

  test('a follower applies every change once, in order', async () => {
    await using place = await open();
    const { environment } = await seed(place.home.store);
    const applied: (number | undefined)[] = [];
    const catalog = new Catalog({
      changed: (_, row) => applied.push(row.revision),
      environmentGone: () => {},
      keyGone: () => {},
      malformed: () => {},
    });
    const live = Promise.withResolvers<void>();
    const callbacks = { live: live.resolve, lost: () => {}, stillLost: () => {} };
    const follower = new Follower({ source: place.source, catalog, callbacks });
    const running = follower.run();
    await within('the follower is live', live.promise);
    for (let n = 1; n <= 10; n++)
      await place.home.store.commit(ADA, changing(environment, ['checkout', n % 2 === 0 ? ON : OFF]));
    await until('all changes were applied', () => follower.seq === 12);
    follower.close();
    await running;
    const expected = Array.from({ length: 10 }, (_, index) => index + 1);
    expect(applied).toEqual(expected.slice(expected.length - applied.length));
    expect(catalog.environment(environment.projectId, 'production')?.revision).toBe(10);
    catalog.close();
  });
});

/** Waits until every node on the way has applied row `seq`. */
async function caughtUp({ upstreams }: Place, seq: number): Promise<void> {
  for (const { plane } of upstreams) await until(`row ${seq} is applied`, () => plane.follower.seq >= seq);
}

/** Reads a session as its follower would; returns a function that waits for so many rows in all. */
function follow(session: LogSession, afterSeq: number) {
  const rows: Awaited<ReturnType<LogSession['read']>>['rows'][number][] = [];
  let changed = Promise.withResolvers<void>();
  let reading = Promise.resolve();
  const read = async () => {
    const page = await session.read(rows.at(-1)?.seq ?? afterSeq);
    rows.push(...page.rows);
    changed.resolve();
    changed = Promise.withResolvers();
  };
  const look = () => {
    reading = reading.then(read).catch((error: unknown) => {
      // A read that is cut off by the close of its session at the end of a test concerns no one.
      changed.promise.catch(() => {});
      changed.reject(error);
    });
  };
  session.onWake(look);
  look();
  return async (count: number) => {
    while (rows.length < count) await within(`${count} rows`, changed.promise);
    return rows;
  };
}

/** A snapshot without what differs between sources: order, text or list, and members that say nothing. */
function plain({ projects, environments, states, keys }: Snapshot) {
  return {
    projects,
    environments,
    states: states.toSorted((a, b) => (a.flagKey < b.flagKey ? -1 : 1)),
    keys: keys.map(({ projectId, digest, environments: names, expiresAt, revokedAt }) => ({
      projectId,
      digest,
      environments: typeof names === 'string' ? JSON.parse(names) : names,
      isLive: (expiresAt ?? revokedAt ?? undefined) === undefined,
    })),
  };
}
