import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import { startTcpProxy, until } from '@halyard/testing';
import type { LogSession, LogSource } from '../../domain/change-log.ts';
import { digestOf } from '../../domain/secret.ts';
import { insertEnvironment, removeEnvironment } from '../../nouns/environments/environment-table.ts';
import { insertKey, storeKeyRevocation } from '../../nouns/keys/key-table.ts';
import { insertProject } from '../../nouns/projects/project-table.ts';
import { insertRelayToken, storeRevocation } from '../../nouns/relays/relay-token-table.ts';
import { logSourceOf } from '../../storage/change-log.ts';
import { beginEpoch } from '../../storage/test-engines.ts';
import { ADA, changing, makeEnvironment, makeKey, makeProject, seed } from '../../storage/test-records.ts';
import { RemoteLog } from './remote-log.ts';
import { closeAtEnd, follow, openStore, openUpstream, startUpstream } from './test-upstream.ts';

setDefaultTimeout(60_000);

/** A source that ends at a row, as a copy of the database that is behind. */
function endingAt(source: LogSource, end: number) {
  const held = { end, source: { ...source, open } };
  async function open(): Promise<LogSession> {
    const session = await source.open();
    return {
      snapshot: () => session.snapshot(),
      head: async (seq) => {
        const head = await session.head(seq);
        return { ...head, seq: Math.min(head.seq, held.end) };
      },
      read: async (afterSeq) => {
        const page = await session.read(afterSeq);
        return { ...page, rows: page.rows.filter(({ seq }) => seq <= held.end) };
      },
      onWake: (callback) => session.onWake(callback),
      onLost: (callback) => session.onLost(callback),
      close: () => session.close(),
    };
  }
  return held;
}

const ON = '{"enabled":true}';
const OFF = '{"enabled":false}';

describe('a node that follows another', () => {
  test('loses its log in the turn in which the upstream loses its own, and continues without a snapshot', async () => {
    const home = await openStore();
    const { environment } = await seed(home.store);
    const upstream = await openUpstream(home);
    const { plane, heard, rows } = follow(upstream.remote());
    await plane.firstLive;
    upstream.logServer.lost();
    await until('it is lost', () => heard.includes('lost'));
    await home.store.commit(ADA, changing(environment, ['checkout', ON]));
    await until('it has the row and is live', () => plane.follower.seq === 3 && plane.follower.isLive);
    expect(rows.map(({ seq }) => seq)).toEqual([3]);
    expect(heard.filter((event) => event.startsWith('loaded'))).toEqual(['loaded 2']);
  });

  test('loads a snapshot when the upstream no longer has the rows', async () => {
    const home = await openStore();
    const { environment } = await seed(home.store);
    const first = await openUpstream(home, { backlogBytes: 1 });
    const proxy = await startTcpProxy({ port: Number(new URL(first.url).port) });
    closeAtEnd(() => proxy.close());
    const { plane, heard } = follow(new RemoteLog({ url: `http://127.0.0.1:${proxy.port}` }));
    await plane.firstLive;
    proxy.refuse();
    await until('it is lost', () => heard.includes('lost'));
    await home.store.commit(ADA, changing(environment, ['checkout', ON]));
    await home.store.commit(ADA, changing(environment, ['checkout', OFF]));
    await until('the upstream has both', () => first.plane.follower.seq === 4);
    proxy.restore();
    await until('it is live', () => heard.at(-1) === 'live 4');
    expect(heard).toEqual(['loaded 2', 'live 2', 'lost', 'loaded 4', 'live 4']);
  });

  test('is never taken back by an upstream that is behind: it waits, or marks what it serves', async () => {
    const home = await openStore();
    const { project, environment } = await seed(home.store);
    const key = makeKey(project);
    const { seq: before = 0 } = await home.store.commit(ADA, (transaction) =>
      insertKey(transaction, key, digestOf('a key')),
    );
    const behind = endingAt(logSourceOf(await home.connect()), before);
    const [ahead, late] = [await openUpstream(home), await openUpstream(home, {}, behind.source)];
    let upstream: LogSource = ahead.remote();
    const balanced: LogSource = {
      open: (...asked) => upstream.open(...asked),
    };
    const { plane, heard } = follow(balanced);
    await plane.firstLive;
    await home.store.commit(ADA, (transaction) => storeKeyRevocation(transaction, key, 2));
    await home.store.commit(ADA, changing(environment, ['checkout', ON]));
    await until('the revocation is applied', () => plane.follower.seq === before + 2);
    const { cursor } = plane.follower;
    upstream = late.remote();
    ahead.logServer.lost();
    await until('it is refused', () => plane.follower.lostCause?.message.includes('behind'));
    expect([plane.follower.cursor, plane.freshness.mayLackRecords()]).toEqual([cursor, true]);
    // One that needs a snapshot anyway gets none that is older, either.
    await expect(late.remote().open(cursor, { mustReload: true })).rejects.toThrow('behind');
    behind.end = Number.POSITIVE_INFINITY;
    await until('it is live', () => heard.filter((event) => event.startsWith('live')).length === 2);
    expect(heard).toEqual([`loaded ${before}`, `live ${before}`, 'lost', `live ${before + 2}`]);
    expect(plane.catalog.keys.authenticate('a key')).toBeUndefined();
  });

  test('notices a silent upstream, and catches up without a gap', async () => {
    const home = await openStore();
    const { environment } = await seed(home.store);
    const upstream = await openUpstream(home);
    const proxy = await startTcpProxy({ port: Number(new URL(upstream.url).port) });
    closeAtEnd(() => proxy.close());
    const { plane, heard, rows } = follow(new RemoteLog({ url: `http://127.0.0.1:${proxy.port}` }));
    await plane.firstLive;
    proxy.blackhole();
    await home.store.commit(ADA, changing(environment, ['checkout', ON]));
    await until('it is lost', () => heard.includes('lost'));
    proxy.restore();
    await home.store.commit(ADA, changing(environment, ['checkout', OFF]));
    await until('both rows are applied', () => rows.length === 2);
    expect(rows.map(({ seq }) => seq)).toEqual([3, 4]);
    expect(heard.filter((event) => event.startsWith('loaded'))).toEqual(['loaded 2']);
  });

  test('a delay on the way counts as age', async () => {
    const home = await openStore();
    await seed(home.store);
    const upstream = await openUpstream(home);
    const proxy = await startTcpProxy({ port: Number(new URL(upstream.url).port) });
    closeAtEnd(() => proxy.close());
    const { plane } = follow(new RemoteLog({ url: `http://127.0.0.1:${proxy.port}` }));
    await plane.firstLive;
    proxy.delay(1500);
    let oldest = 0;
    await until('heartbeats arrive late', () => {
      oldest = Math.max(oldest, plane.follower.sinceProofMs());
      return oldest > 2000 && plane.follower.isLive;
    });
  });

  test('a slow start does not count as age for long', async () => {
    const home = await openStore();
    await seed(home.store);
    const upstream = await openUpstream(home);
    const proxy = await startTcpProxy({ port: Number(new URL(upstream.url).port) });
    closeAtEnd(() => proxy.close());
    proxy.delay(1200);
    const { plane, heard } = follow(new RemoteLog({ url: `http://127.0.0.1:${proxy.port}` }));
    await until('the snapshot has come', () => heard.length > 0);
    proxy.delay(0);
    await until('its proofs are young', () => plane.follower.sinceProofMs() < 500);
  });

  test('a new token is not refused by a node that has yet to hear of it', async () => {
    const home = await openStore();
    await seed(home.store);
    const source = logSourceOf(await home.connect());
    const open = async () => Object.assign(await source.open(), { onWake: () => {} });
    const upstream = await openUpstream(home, { authorize: undefined }, { ...source, open });
    await home.store.commit(ADA, (transaction) =>
      insertRelayToken(transaction, { id: 'new', name: 'new', createdAt: 1 }, digestOf('new')),
    );
    const session = await upstream.remote({ token: 'new' }).open();
    expect((await session.head()).seq).toBe(3);
    session.close();
    await expect(upstream.remote({ token: 'wrong' }).open()).rejects.toThrow('refused the relay token');
  });

  test('a token that is revoked ends its streams and no other', async () => {
    const home = await openStore();
    await seed(home.store);
    const tokens = ['one', 'two'].map((name) => ({ id: name, name, createdAt: 1 }));
    for (const token of tokens) {
      await home.store.commit(ADA, (transaction) =>
        insertRelayToken(transaction, token, digestOf(token.name)),
      );
    }
    const upstream = await openUpstream(home, { authorize: undefined });
    // A node behind a node knows the token from the log.
    const second = await startUpstream(upstream.remote({ token: 'two' }), { authorize: undefined });
    closeAtEnd(() => second[Symbol.dispose]());
    const one = follow(second.remote({ token: 'one' }));
    const two = follow(upstream.remote({ token: 'two' }));
    await Promise.all([one.plane.firstLive, two.plane.firstLive]);
    await home.store.commit(ADA, async (transaction) => {
      for (const token of tokens.slice(0, 1)) await storeRevocation(transaction, token, 2);
    });
    await until('the first is lost', () => one.plane.follower.lostCause?.message.includes('relay token'));
    expect(two.heard).toEqual(['loaded 4', 'live 4']);
  });
});

test('a restored database begins another history, which a follower notices', async () => {
  const home = await openStore();
  await seed(home.store);
  const upstream = await openUpstream(home);
  const { plane, heard } = follow(upstream.remote());
  await plane.firstLive;
  const epoch = await beginEpoch(home.database);
  await until('it has loaded the new history', () => plane.follower.cursor?.epoch === epoch);
  await until('it is live', () => plane.follower.isLive);
  expect(heard.slice(0, 4)).toEqual(['loaded 2', 'live 2', 'lost', 'loaded 2']);
});

describe('a scope', () => {
  test('has its own projects and environments, and only the cursor of all others', async () => {
    const home = await openStore();
    const { project, environment } = await seed(home.store);
    const other = makeProject('secret');
    const hidden = makeEnvironment(other, 'production');
    const staging = makeEnvironment(project, 'staging');
    await home.store.commit(ADA, async (transaction) => {
      await insertEnvironment(transaction, staging);
      await insertProject(transaction, other);
      await insertEnvironment(transaction, hidden);
    });
    const keys = [
      { ...makeKey(project, 'both'), environments: ['production', 'staging'] },
      { ...makeKey(project, 'staging'), environments: ['staging'] },
      makeKey(other, 'foreign'),
      { ...makeKey(project, 'early'), environments: ['staging'] },
      makeKey(other, 'early and foreign'),
    ];
    const insert = (index: number) =>
      home.store.commit(ADA, async (transaction) => {
        const key = keys[index];
        if (key !== undefined) await insertKey(transaction, key, String(index).repeat(64));
      });
    for (const index of [0, 3, 4]) await insert(index);
    const scope = { projects: new Set([project.id]), environments: new Set(['production']) };
    const upstream = await openUpstream(home, { authorize: () => ({ id: 'relay', scope }) });
    const { plane, rows } = follow(upstream.remote());
    await plane.firstLive;
    expect([...plane.catalog.environments()].map(({ id }) => id)).toEqual([environment.id]);
    expect([...plane.catalog.projects()]).toEqual([['demo', project.id]]);
    // Not even the digests of the other keys are in the snapshot that it got.
    const session = await upstream.remote().open();
    expect((await session.snapshot()).keys.map(({ digest }) => digest)).toEqual(['0'.repeat(64)]);
    session.close();

    await home.store.commit(ADA, changing(staging, ['checkout', ON]));
    await home.store.commit(ADA, changing(environment, ['checkout', ON]));
    await insert(1);
    await insert(2);
    await home.store.commit(ADA, (transaction) => removeEnvironment(transaction, staging));
    await home.store.commit(ADA, (transaction) => removeEnvironment(transaction, environment));
    const { seq } = upstream.plane.follower;
    await until('all rows are applied', () => plane.follower.seq >= seq && rows.length >= 6);
    expect(rows.map(({ kind }) => kind)).toEqual([
      'records.changed',
      'flags.changed',
      'records.changed',
      'records.changed',
      'records.changed',
      'environment.deleted',
    ]);
    const text = JSON.stringify(rows.filter(({ kind }) => kind === 'records.changed'));
    for (const secret of [staging.id, other.id, hidden.id, '1'.repeat(64), '2'.repeat(64), 'ada@'])
      expect(text).not.toContain(secret);
    expect(rows.map(({ actor }) => actor)).toEqual(rows.map(() => ''));
    // The key opens nothing any longer and is still valid, as at the node; also after a reload, there or here.
    const restarted = await openUpstream(home, { authorize: () => ({ id: 'relay', scope }) });
    for (const [name, source] of Object.entries({ upstream, restarted })) {
      const later = follow(source.remote());
      await later.plane.firstLive;
      for (const { catalog } of [plane, later.plane]) {
        const entries = catalog.keys
          .served()
          .flatMap((keys) => [...keys].map(({ id }) => catalog.keys.withId(id)));
        expect([name, entries.map((entry) => entry?.environments.size)]).toEqual([name, [0]]);
      }
    }
  });
});
