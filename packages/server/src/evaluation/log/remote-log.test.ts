import { afterEach, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { sendRaw, startTcpProxy, until, within } from '@halyard/testing';
import type { LogRow } from '../../domain/change-log.ts';
import { StoreOutage } from '../../domain/errors.ts';
import { digestOf } from '../../domain/secret.ts';
import { createLogger } from '../../observability/logger.ts';
import { logSourceOf } from '../../storage/change-log.ts';
import { beginEpoch, ENGINES, openTestStore, type TestStore } from '../../storage/test-engines.ts';
import { ADA, changing, makeEnvironment, makeKey, makeProject, seed } from '../../storage/test-records.ts';
import { ReadPlane, type ReadPlaneObserver } from '../read-plane.ts';
import { encodeMessage } from './framing.ts';
import { LogServer } from './log-server.ts';
import { LOG_PATH, LOG_TYPE, type LogMessage, REPORTS_PATH } from './messages.ts';
import { RemoteLog } from './remote-log.ts';
import { WHOLE_LOG } from './scope.ts';
import { startUpstream, type TestUpstream, type UpstreamOptions } from './test-upstream.ts';

setDefaultTimeout(60_000);

const ON = '{"enabled":true}';
const OFF = '{"enabled":false}';
const [SQLITE] = ENGINES;

const open: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

async function openStore(): Promise<TestStore> {
  if (SQLITE === undefined) throw new Error('no engine');
  const home = await openTestStore(SQLITE);
  open.push(() => home[Symbol.asyncDispose]());
  return home;
}

async function openUpstream(home: TestStore, options: UpstreamOptions = {}): Promise<TestUpstream> {
  const upstream = await startUpstream(logSourceOf(await home.connect()), options);
  open.push(() => upstream[Symbol.dispose]());
  return upstream;
}

/** A plane that follows `source`, and what it says. */
function follow(source: RemoteLog) {
  const heard: string[] = [];
  const rows: LogRow[] = [];
  const log = createLogger({ level: 'silent', format: 'json' });
  const plane = new ReadPlane({ source, log, maxQueuedBytes: 1 << 20 });
  const observer: ReadPlaneObserver = {
    loaded: ({ seq }) => heard.push(`loaded ${seq}`),
    live: (seq) => heard.push(`live ${seq}`),
    lost: () => heard.push('lost'),
    applied: (row) => rows.push(row),
  };
  plane.observe(observer);
  plane.start();
  open.push(() => plane.close());
  return { plane, heard, rows };
}

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
    open.push(() => proxy.close());
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

  test('notices a silent upstream, and catches up without a gap', async () => {
    const home = await openStore();
    const { environment } = await seed(home.store);
    const upstream = await openUpstream(home);
    const proxy = await startTcpProxy({ port: Number(new URL(upstream.url).port) });
    open.push(() => proxy.close());
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

  test('never counts as current when the connection breaks before the first heartbeat, wherever that is', async () => {
    const home = await openStore();
    const { environment } = await seed(home.store);
    await home.store.commit(ADA, changing(environment, ['checkout', ON]));
    const upstream = await openUpstream(home);
    const bytes = await recordStream(upstream.url);
    for (let cut = 0; cut < bytes.length; cut++) {
      const server = serveBytes(bytes.subarray(0, cut));
      const session = await new RemoteLog({ url: `http://127.0.0.1:${server.port}` })
        .open()
        .catch(() => undefined);
      if (session !== undefined) await expect(session.head()).rejects.toThrow();
      session?.close();
      await server.stop(true);
    }
  });

  test('a delay on the way counts as age', async () => {
    const home = await openStore();
    await seed(home.store);
    const upstream = await openUpstream(home);
    const proxy = await startTcpProxy({ port: Number(new URL(upstream.url).port) });
    open.push(() => proxy.close());
    const { plane } = follow(new RemoteLog({ url: `http://127.0.0.1:${proxy.port}` }));
    await plane.firstLive;
    proxy.delay(1500);
    let oldest = 0;
    await until('heartbeats arrive late', () => {
      oldest = Math.max(oldest, plane.follower.sinceProofMs());
      return oldest > 2000 && plane.follower.isLive;
    });
  });

  test('a token that is revoked ends its streams and no other', async () => {
    const home = await openStore();
    await seed(home.store);
    const tokens = ['one', 'two'].map((name) => ({ id: name, name, createdAt: 1 }));
    for (const token of tokens) {
      await home.store.commit(ADA, (transaction) => transaction.relays.insert(token, digestOf(token.name)));
    }
    const upstream = await openUpstream(home, { authorize: undefined });
    // A node behind a node knows the token from the log.
    const second = await startUpstream(upstream.remote({ token: 'two' }), { authorize: undefined });
    open.push(() => second[Symbol.dispose]());
    const one = follow(second.remote({ token: 'one' }));
    const two = follow(upstream.remote({ token: 'two' }));
    await Promise.all([one.plane.firstLive, two.plane.firstLive]);
    await home.store.commit(ADA, async (transaction) => {
      for (const token of tokens.slice(0, 1)) await transaction.relays.revoke(token, 2);
    });
    await until('the first is lost', () => one.plane.follower.lostCause?.message.includes('relay token'));
    expect(two.heard).toEqual(['loaded 4', 'live 4']);
  });
});

test('a node that has no catalog cannot judge a token, and does not call it wrong', async () => {
  const log = createLogger({ level: 'silent', format: 'json' });
  const away = () => Promise.reject(new StoreOutage('the database is unreachable'));
  const source = { open: away, loadSnapshot: away };
  const plane = new ReadPlane({ source, log, maxQueuedBytes: 1 << 20 });
  const logServer = new LogServer({ plane, docsUrl: 'https://docs.example', log });
  const server = Bun.serve({ port: 0, hostname: '127.0.0.1', routes: logServer.routes });
  open.push(
    () => server.stop(true),
    () => plane.close(),
    () => logServer.close(),
  );
  plane.start();
  const headers = { Authorization: 'Bearer token' };
  const opening = await fetch(`${server.url.origin}${LOG_PATH}`, { headers });
  const report = await fetch(`${server.url.origin}${REPORTS_PATH}`, { method: 'POST', headers, body: '{}' });
  expect([opening.status, report.status]).toEqual([500, 500]);
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

test('a snapshot is forgotten once no follower needs it, although followers stay', async () => {
  const home = await openStore();
  await seed(home.store);
  const upstream = await openUpstream(home, { limits: { snapshotMs: 1 } });
  const { plane } = follow(upstream.remote());
  await plane.firstLive;
  await until('it is forgotten', () => upstream.logServer.snapshots === 0);
  expect(upstream.logServer.followers).toBe(1);
});

describe('a scope', () => {
  test('has its own projects and environments, and only the cursor of all others', async () => {
    const home = await openStore();
    const { project, environment } = await seed(home.store);
    const other = makeProject('secret');
    const hidden = makeEnvironment(other, 'production');
    const staging = makeEnvironment(project, 'staging');
    await home.store.commit(ADA, async (transaction) => {
      await transaction.insertEnvironment(staging);
      await transaction.insertProject(other);
      await transaction.insertEnvironment(hidden);
    });
    const keys = [
      { ...makeKey(project, 'both'), environments: ['production', 'staging'] },
      { ...makeKey(project, 'staging'), environments: ['staging'] },
      makeKey(other, 'foreign'),
    ];
    const insert = (index: number) =>
      home.store.commit(ADA, async (transaction) => {
        const key = keys[index];
        if (key !== undefined) await transaction.insertKey(key, String(index).repeat(64));
      });
    await insert(0);
    const scope = { projects: new Set([project.id]), environments: new Set(['production']) };
    const upstream = await openUpstream(home, { authorize: () => ({ id: 'relay', scope }) });
    const { plane, rows } = follow(upstream.remote());
    await plane.firstLive;
    expect([...plane.catalog.environments()].map(({ id }) => id)).toEqual([environment.id]);
    expect([...plane.catalog.projects()]).toEqual([['demo', project.id]]);

    await home.store.commit(ADA, changing(staging, ['checkout', ON]));
    await home.store.commit(ADA, changing(environment, ['checkout', ON]));
    await insert(1);
    await insert(2);
    await home.store.commit(ADA, (transaction) => transaction.deleteEnvironment(staging));
    await home.store.commit(ADA, (transaction) => transaction.deleteEnvironment(environment));
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
        const entries = [...catalog.keys.records()].map(({ id }) => catalog.keys.withId(id));
        expect([name, entries.map((entry) => entry?.environments.size)]).toEqual([name, [0]]);
      }
    }
  });
});

describe('an upstream that cannot be followed', () => {
  const hello: LogMessage = { type: 'hello', version: 1, epoch: 'e', scope: 's', continues: false };

  test.each<[string, readonly LogMessage[], RegExp]>([
    [
      'a newer one',
      [{ ...hello, version: 2 }],
      /speaks version 2 of the log protocol, and this program version 1/,
    ],
    ['one that continues nothing', [{ ...hello, continues: true }], /nothing was asked/],
    ['one that begins with a row', [{ type: 'heartbeat', seq: 1, sentMs: 0, ageMs: 0 }], /out of order/],
  ])('%s is refused in one line', async (_, messages, reason) => {
    const server = serveBytes(Buffer.concat(messages.map(encodeMessage)));
    open.push(() => server.stop(true));
    const error = await new RemoteLog({ url: `http://127.0.0.1:${server.port}` })
      .open()
      .catch((cause) => cause);
    expect(error.name).toBe('StorageError');
    expect(error.message).toMatch(reason);
    expect(error.message).not.toContain('\n');
  });

  test.each<[string, () => Response, RegExp]>([
    [
      'another server',
      () => new Response('<html>', { headers: { 'Content-Type': 'text/html' } }),
      /not an upstream/,
    ],
    ['a server that redirects', () => Response.redirect('http://127.0.0.1:1/'), /redirects/],
    ['a server without a log', () => new Response('', { status: 404 }), /does not offer a log/],
    [
      'a server that refuses the token',
      () => Response.json({ error: 'invalid_access_token' }, { status: 401 }),
      /relay token/,
    ],
    ['a server that is not ready', () => new Response('', { status: 500 }), /status 500/],
  ])('%s is reported with its reason', async (_, answer, reason) => {
    const server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: answer });
    open.push(() => server.stop(true));
    const opening = new RemoteLog({ url: `http://127.0.0.1:${server.port}`, token: 'secret' }).open();
    const error = await within(
      'an answer',
      opening.catch((cause) => cause),
    );
    expect(error.message).toMatch(reason);
    expect(error.message).not.toContain('secret');
  });
});

describe('an upstream that never ends', () => {
  const hello: LogMessage = { type: 'hello', version: 1, epoch: 'e', scope: 's', continues: false };
  const end: LogMessage = { type: 'snapshot-end', cursor: { epoch: 'e', seq: 0, changeId: 'c' }, records: 0 };
  const limits = { snapshotBytes: 2_000_000, rowsBytes: 2_000_000, catchUpMs: 600 };
  const row = {
    kind: 'records.changed',
    projectId: '',
    payload: '{}',
    actor: 'a'.repeat(100_000),
    at: 1,
  } as const;
  const heartbeat: LogMessage = { type: 'heartbeat', seq: 0, sentMs: 0, ageMs: 0 };
  const project = { id: 'p', name: 'n'.repeat(100_000) };
  let seq = 0;
  const nextRow = (): LogMessage => ({ type: 'row', row: { ...row, seq: ++seq, changeId: `c${seq}` } });
  const part = (): LogMessage => ({ type: 'snapshot', projects: [project] });

  test.each<[string, readonly LogMessage[], () => LogMessage, number, RegExp]>([
    ['a snapshot', [hello], part, 0, /cannot be followed: it sends a snapshot without an end/],
    ['rows', [hello, end], nextRow, 0, /cannot be followed: it sends rows without an end/],
    [
      'a snapshot that arrives drop by drop',
      [hello],
      () => ({ type: 'snapshot' }),
      100,
      /all that it has in time/,
    ],
  ])('%s is given up', async (_, first, next, everyMs, reason) => {
    seq = 0;
    const server = serveEndless(first, next, everyMs);
    open.push(() => server.stop(true));
    const session = await new RemoteLog({ url: `http://127.0.0.1:${server.port}`, limits }).open();
    open.push(() => session.close());
    const head = session.head().catch((cause) => cause);
    expect((await within('it is given up', head)).message).toMatch(reason);
  });

  test('rows in one piece are bounded also when the follower is current', async () => {
    seq = 0;
    const rows = Array.from({ length: 30 }, nextRow);
    const server = serveEndless(
      [hello, end, heartbeat],
      () => ({ type: 'end', reason: 'lost' }),
      60_000,
      rows,
    );
    open.push(() => server.stop(true));
    const session = await new RemoteLog({ url: `http://127.0.0.1:${server.port}`, limits }).open();
    open.push(() => session.close());
    const lost = Promise.withResolvers<Error>();
    session.onLost(lost.resolve);
    expect((await within('it is given up', lost.promise)).message).toMatch(/rows without an end/);
  });
});

/** A server that sends some messages, then others in one piece, and then one after the other for ever. */
function serveEndless(
  first: readonly LogMessage[],
  next: () => LogMessage,
  everyMs: number,
  atOnce: readonly LogMessage[] = [],
) {
  const pieces = [first, atOnce].map((messages) => Buffer.concat(messages.map(encodeMessage)));
  const body = () =>
    new ReadableStream<Uint8Array>({
      async pull(controller) {
        const piece = pieces.shift();
        if (piece === undefined) await Bun.sleep(everyMs);
        controller.enqueue(piece ?? encodeMessage(next()));
      },
    });
  return Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: () => new Response(body(), { headers: { 'Content-Type': LOG_TYPE } }),
  });
}

/** A server that answers with these bytes and then ends the connection. */
function serveBytes(bytes: Uint8Array) {
  return Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: () => new Response(Buffer.from(bytes), { headers: { 'Content-Type': LOG_TYPE } }),
  });
}

test.each([
  ['slow', 'this node took its messages too slowly'],
  ['stopping', 'it stops'],
  ['lost', 'it lost its own log'],
  ['newer', 'for a reason of its own'],
])('a stream that ended with %s says so', async (reason, words) => {
  const hello = { type: 'hello', version: 1, epoch: 'e', scope: 's', continues: false } as const;
  // A newer upstream may have reasons that this version does not know.
  const end = { type: 'end', reason: reason as 'slow' } as const;
  const server = serveBytes(Buffer.concat([hello, end].map(encodeMessage)));
  open.push(() => server.stop(true));
  const session = await new RemoteLog({ url: `http://127.0.0.1:${server.port}` }).open();
  await expect(session.head()).rejects.toThrow(`the upstream ended the stream: ${words}`);
});

/** Everything that an upstream sends up to its first heartbeat, without the last byte of that. */
async function recordStream(url: string): Promise<Uint8Array> {
  const canceled = new AbortController();
  const response = await fetch(`${url}/log/v1`, { signal: canceled.signal });
  const chunks: Uint8Array[] = [];
  for await (const chunk of response.body ?? []) {
    chunks.push(chunk);
    if (Buffer.concat(chunks).includes('"type":"heartbeat"')) break;
  }
  canceled.abort();
  return Buffer.concat(chunks);
}

test('a connection that carried the log ends with it', async () => {
  const home = await openStore();
  await seed(home.store);
  const upstream = await openUpstream(home);
  const exchange = sendRaw(upstream.url, `GET ${LOG_PATH} HTTP/1.1\r\nHost: here\r\n\r\n`);
  await until('it follows', () => upstream.logServer.followers === 1);
  upstream.logServer.lost();
  expect((await exchange).ended).toBe('closed');
});

test('a restored database begins another history, which a follower notices', async () => {
  const home = await openStore();
  await seed(home.store);
  const upstream = await openUpstream(home);
  const { plane, heard } = follow(upstream.remote());
  await plane.firstLive;
  await beginEpoch(home.database, 'restored');
  await until('it has loaded the new history', () => plane.follower.cursor?.epoch === 'restored');
  await until('it is live', () => plane.follower.isLive);
  expect(heard.slice(0, 4)).toEqual(['loaded 2', 'live 2', 'lost', 'loaded 2']);
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
