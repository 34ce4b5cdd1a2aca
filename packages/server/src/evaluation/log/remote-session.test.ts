import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import { within } from '@halyard/testing';
import { ADA, changing, seed } from '../../storage/test-records.ts';
import { encodeMessage } from './framing.ts';
import { LOG_TYPE, type LogMessage } from './messages.ts';
import { RemoteLog } from './remote-log.ts';
import { closeAtEnd, openStore, openUpstream } from './test-upstream.ts';

setDefaultTimeout(60_000);

const ON = '{"enabled":true}';

test('a session never counts as current when the connection breaks before the first heartbeat, wherever that is', async () => {
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
    closeAtEnd(() => server.stop(true));
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
    closeAtEnd(() => server.stop(true));
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
    closeAtEnd(() => server.stop(true));
    const session = await new RemoteLog({ url: `http://127.0.0.1:${server.port}`, limits }).open();
    closeAtEnd(() => session.close());
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
    closeAtEnd(() => server.stop(true));
    const session = await new RemoteLog({ url: `http://127.0.0.1:${server.port}`, limits }).open();
    closeAtEnd(() => session.close());
    const lost = Promise.withResolvers<Error>();
    session.onLost(lost.resolve);
    expect((await within('it is given up', lost.promise)).message).toMatch(/rows without an end/);
  });
});

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
  closeAtEnd(() => server.stop(true));
  const session = await new RemoteLog({ url: `http://127.0.0.1:${server.port}` }).open();
  await expect(session.head()).rejects.toThrow(`the upstream ended the stream: ${words}`);
});

/** A server that sends some messages, then others in one piece, and then one after another without an end. */
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
