import { expect, setDefaultTimeout, test } from 'bun:test';
import { sendRaw, until, within } from '@halyard/testing';
import type { LogSession } from '../../domain/change-log.ts';
import { StoreOutage } from '../../domain/errors.ts';
import { digestOf } from '../../domain/secret.ts';
import { insertRelayToken } from '../../nouns/relays/relay-token-table.ts';
import { createLogger } from '../../observability/logger.ts';
import { loadSnapshot, logSourceOf } from '../../storage/change-log.ts';
import { ADA, changing, seed } from '../../storage/test-records.ts';
import { ReadPlane } from '../read-plane.ts';
import { reconnectDelayMs } from '../replication/pacing.ts';
import { FollowerLimits } from './follower-limits.ts';
import { MessageReader } from './framing.ts';
import { LogServer } from './log-server.ts';
import { LOG_PATH, REPORTS_PATH } from './messages.ts';
import { WHOLE_LOG } from './scope.ts';
import { closeAtEnd, follow, openStore, openUpstream } from './test-upstream.ts';

setDefaultTimeout(60_000);

test('a node that has no catalog cannot judge a token, and does not call it wrong', async () => {
  const log = createLogger({ level: 'silent', format: 'json' });
  const away = () => Promise.reject(new StoreOutage('the database is unreachable'));
  const source = { open: away };
  const plane = new ReadPlane({ source, log, maxQueuedBytes: 1 << 20 });
  const logServer = new LogServer({ plane, docsUrl: 'https://docs.example', log });
  const server = Bun.serve({ port: 0, hostname: '127.0.0.1', routes: logServer.routes });
  closeAtEnd(() => server.stop(true));
  closeAtEnd(() => plane.close());
  closeAtEnd(() => logServer.close());
  plane.start();
  const headers = { Authorization: 'Bearer token' };
  const opening = await fetch(`${server.url.origin}${LOG_PATH}`, { headers });
  const report = await fetch(`${server.url.origin}${REPORTS_PATH}`, { method: 'POST', headers, body: '{}' });
  expect([opening.status, report.status]).toEqual([500, 500]);
});

test('sends heartbeats between its proofs, with the age of the last one', async () => {
  const home = await openStore();
  await seed(home.store);
  const source = logSourceOf(await home.connect());
  const open = async (): Promise<LogSession> => {
    const session = await source.open();
    return {
      snapshot: () => session.snapshot(),
      head: (seq) => Bun.sleep(800).then(() => session.head(seq)),
      read: (afterSeq) => session.read(afterSeq),
      onWake: (callback) => session.onWake(callback),
      onLost: (callback) => session.onLost(callback),
      close: () => session.close(),
    };
  };
  const upstream = await openUpstream(home, {}, { ...source, open });
  const canceled = new AbortController();
  closeAtEnd(() => canceled.abort());
  const { body } = await fetch(`${upstream.url}${LOG_PATH}`, { signal: canceled.signal });
  const ages: number[] = [];
  const messages = new MessageReader();
  for await (const chunk of body ?? []) {
    for (const message of messages.read(chunk)) if (message.type === 'heartbeat') ages.push(message.ageMs);
    // The first comes at once, at any time; those of a proof have the age with which it comes.
    if (ages.slice(1).some((age) => age > 1300)) return;
    if (ages.length > 30) break;
  }
  throw new Error(`all heartbeats came with a proof: ${ages}`);
});

test('passes a new proof on at once, also when an old one was noted again just before', async () => {
  const home = await openStore();
  await seed(home.store);
  const source = logSourceOf(await home.connect());
  // As the session of a relay: its upstream is proven a moment after each question of this node.
  const open = async (): Promise<LogSession> => {
    const session = await source.open();
    let provenAt = performance.now();
    let wake = () => {};
    const prove = () => {
      provenAt = performance.now();
      wake();
    };
    return {
      snapshot: () => session.snapshot(),
      head: async (seq) => {
        const head = { ...(await session.head(seq)), provenAt };
        setTimeout(prove, 100);
        return head;
      },
      read: async (afterSeq) => ({ ...(await session.read(afterSeq)), provenAt }),
      onWake: (callback) => {
        wake = callback;
      },
      onLost: (callback) => session.onLost(callback),
      close: () => session.close(),
    };
  };
  const upstream = await openUpstream(home, {}, { ...source, open });
  const canceled = new AbortController();
  closeAtEnd(() => canceled.abort());
  const { body } = await fetch(`${upstream.url}${LOG_PATH}`, { signal: canceled.signal });
  const ages: number[] = [];
  const messages = new MessageReader();
  for await (const chunk of body ?? []) {
    for (const message of messages.read(chunk)) if (message.type === 'heartbeat') ages.push(message.ageMs);
    // The first comes at once, at any time.
    if (ages.slice(1).some((age) => age < 400)) return;
    if (ages.length > 8) break;
  }
  throw new Error(`no new proof was passed on: ${ages}`);
});

test('a report whose token is revoked while its body arrives is refused', async () => {
  const home = await openStore();
  await seed(home.store);
  let isRevoked = false;
  const asked = Promise.withResolvers<void>();
  const authorize = () => {
    asked.resolve();
    return isRevoked ? undefined : { id: 'slow', scope: WHOLE_LOG };
  };
  const reports: unknown[] = [];
  const onReport = async (report: unknown) => void reports.push(report);
  const upstream = await openUpstream(home, { authorize, onReport });
  const report = new TextEncoder().encode('{"receipts":[],"nodes":[],"relays":[],"dropped":0}');
  const rest = Promise.withResolvers<void>();
  const body = new ReadableStream({
    start: (controller) => controller.enqueue(report.slice(0, 10)),
    pull: async (controller) => {
      await rest.promise;
      controller.enqueue(report.slice(10));
      controller.close();
    },
  });
  const answer = fetch(`${upstream.url}${REPORTS_PATH}`, { method: 'POST', body });
  await within('the request has come', asked.promise);
  isRevoked = true;
  rest.resolve();
  expect([(await answer).status, reports]).toEqual([401, []]);
});

test('a token has its share of the followers, and a follower that leaves makes room', async () => {
  const home = await openStore();
  await seed(home.store);
  const upstream = await openUpstream(home, {
    authorize: ({ headers }) => ({ id: headers.get('Authorization') ?? '', scope: WHOLE_LOG }),
    limits: { followersPerToken: 2 },
  });
  const first = [follow(upstream.remote({ token: 'one' })), follow(upstream.remote({ token: 'one' }))];
  for (const { plane } of first) await plane.firstLive;
  await expect(upstream.remote({ token: 'one' }).open()).rejects.toThrow('too many followers');
  await follow(upstream.remote({ token: 'two' })).plane.firstLive;
  first[0]?.plane.close();
  await until('it has left', () => upstream.logServer.followers === 2);
  await follow(upstream.remote({ token: 'one' })).plane.firstLive;
});

test('a token that opens streams over and over is slowed down, and no other', async () => {
  const home = await openStore();
  await seed(home.store);
  const upstream = await openUpstream(home, {
    authorize: ({ headers }) => ({ id: headers.get('Authorization') ?? '', scope: WHOLE_LOG }),
    limits: { openings: 2 },
  });
  const opening = async (token: string) => {
    const response = await fetch(`${upstream.url}${LOG_PATH}`, { headers: { Authorization: token } });
    await response.body?.cancel();
    return response;
  };
  const refused = await until('it is slowed down', async () => {
    const response = await opening('hasty');
    return response.status === 429 ? response : undefined;
  });
  expect(refused.headers.get('Retry-After')).toBe('1');
  expect((await opening('calm')).status).toBe(200);
});

test('a relay that finds no place to load a large state is asked to come again, and one that continues needs none', async () => {
  const home = await openStore();
  await seed(home.store);
  await home.store.commit(ADA, (transaction) =>
    insertRelayToken(transaction, { id: 'relay', name: 'relay', createdAt: 1 }, digestOf('token')),
  );
  const limits = { loading: 1, largeState: 1 };
  const upstream = await openUpstream(home, { authorize: undefined, limits });
  const { plane } = follow(upstream.remote({ token: 'token' }));
  await plane.firstLive;
  limits.loading = 0;
  const full = await openUpstream(home, { authorize: undefined, limits });
  const refused = await fetch(`${full.url}${LOG_PATH}`, { headers: { Authorization: 'Bearer token' } });
  expect([refused.status, refused.headers.get('Retry-After')]).toEqual([503, '2']);
  expect(await refused.json()).toMatchObject({ error: 'busy' });
  const log = full.remote({ token: 'token' });
  await expect(log.open()).rejects.toMatchObject({ name: 'StoreOutage', retryAfterMs: 2000 });
  const session = await log.open(plane.follower.cursor);
  closeAtEnd(() => session.close());
  expect((await session.head()).seq).toBe(plane.follower.seq);
});

test('a few load a large state at once; neither a slow link nor one token holds up the others', () => {
  const limits = new FollowerLimits({ loading: 3, loadingPerToken: 2, largeState: 100, loadingMs: 5000 });
  const stream = (id: string, isLoading: boolean, ms: number) =>
    [{ isLoading, sentMs: () => ms }, { id }] as const;
  const [one, other] = [stream('one', true, 10), stream('other', true, 10)];
  const [slow, done] = [stream('one', true, 5000), stream('one', false, 10)];
  expect(limits.mayLoad(100, 'one', [one, slow, done])).toBe(true);
  expect(limits.mayLoad(100, 'one', [one, one])).toBe(false);
  expect(limits.mayLoad(100, 'other', [one, one])).toBe(true);
  expect(limits.mayLoad(100, 'third', [one, one, other])).toBe(false);
  expect(limits.mayLoad(99, 'one', [one, one, other])).toBe(true);
});

test('those who are asked to come again do not come together, and no sooner', () => {
  expect([0, 0.5, 1].map((chance) => reconnectDelayMs(0, () => chance, 2000))).toEqual([2000, 3000, 4000]);
  expect([0, 1].map((chance) => reconnectDelayMs(0, () => chance))).toEqual([25, 50]);
});

test('a follower gets no snapshot that is older than what it has', async () => {
  const home = await openStore();
  const { environment } = await seed(home.store);
  const upstream = await openUpstream(home);
  const { plane: first } = follow(upstream.remote());
  await first.firstLive;
  // As a follower of another scope, or of an older version, that is at the end of the log.
  const { seq = 0 } = await home.store.commit(ADA, changing(environment, ['checkout', '{"enabled":false}']));
  await upstream.plane.waitForApplied(seq);
  const { epoch } = (await loadSnapshot(home.database)).cursor;
  const session = await upstream.remote().open({ epoch, seq, changeId: 'unsealed' });
  closeAtEnd(() => session.close());
  expect((await session.snapshot()).cursor.seq).toBe(seq);
});

test('a connection that carried the log ends with it', async () => {
  const home = await openStore();
  await seed(home.store);
  const upstream = await openUpstream(home);
  const exchange = sendRaw(upstream.url, `GET ${LOG_PATH} HTTP/1.1\r\nHost: here\r\n\r\n`);
  await until('it follows', () => upstream.logServer.followers === 1);
  upstream.logServer.lost();
  // It is reset where a message was on its way.
  expect((await exchange).ended).not.toBe('open');
});

test('a follower that reads nothing is cut once the backlog has moved past it, and no other', async () => {
  const home = await openStore();
  const { environment } = await seed(home.store);
  const upstream = await openUpstream(home, { backlogBytes: 8 * 1024 * 1024 });
  const { plane, heard } = follow(upstream.remote());
  await plane.firstLive;
  const canceled = new AbortController();
  const stuck = await fetch(`${upstream.url}/log/v1`, { signal: canceled.signal });
  await until('both follow', () => upstream.logServer.followers === 2);
  for (let n = 0; upstream.logServer.followers === 2 && n < 1000; n++) {
    // Random, so that compression does not help.
    const value = crypto.getRandomValues(new Uint8Array(30_000)).toHex();
    await home.store.commit(ADA, changing(environment, ['checkout', `{"enabled":true,"value":"${value}"}`]));
  }
  expect(upstream.logServer.followers).toBe(1);
  expect(heard).toEqual(['loaded 2', 'live 2']);
  expect(upstream.logServer.backlogBytes).toBeLessThanOrEqual(8 * 1024 * 1024);
  canceled.abort();
  await stuck.body?.cancel().catch(() => {});
});
