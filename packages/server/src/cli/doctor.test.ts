import { expect, test } from 'bun:test';
import { checkKey, checkServer, checkStream } from './doctor.ts';

const KEY = { key: 'proj_live_any', environment: 'production' };
const EAGER = { now: Date.now, timeoutMs: 100 };

/** Runs `check` against a server that answers everything with `answer`. */
async function against<T>(
  answer: () => Response | Promise<Response>,
  check: (url: string) => Promise<T>,
): Promise<T> {
  const server = Bun.serve({ port: 0, hostname: '127.0.0.1', idleTimeout: 0, fetch: () => answer() });
  try {
    return await check(`http://127.0.0.1:${server.port}`);
  } finally {
    await server.stop(true);
  }
}

/** A stream that sends `text` and then nothing, without an end. */
function endless(text: string): Response {
  const body = new ReadableStream({
    start: (controller) => {
      if (text !== '') controller.enqueue(new TextEncoder().encode(text));
    },
    pull: () => new Promise(() => {}),
  });
  return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
}

test('a stream whose first frame arrives is ok', async () => {
  const finding = await against(
    () => endless(':\n\ndata: {}\n\n'),
    (url) => checkStream(url, KEY, { now: Date.now }),
  );
  expect(finding).toMatchObject({ check: 'stream', outcome: 'ok' });
});

test('detects a proxy that buffers frames', async () => {
  const finding = await against(
    () => endless(''),
    (url) => checkStream(url, KEY, EAGER),
  );
  expect(finding.outcome).toBe('failed');
  expect(finding.detail).toContain('Turn off its buffering');
});

test('detects a proxy that buffers the whole response', async () => {
  const finding = await against(
    () => new Promise<Response>(() => {}),
    (url) => checkStream(url, KEY, EAGER),
  );
  expect(finding.detail).toStartWith('no response: a proxy buffers or blocks');
});

test('a stream that ends before its first frame fails', async () => {
  const finding = await against(
    () => new Response(':\n\n'),
    (url) => checkStream(url, KEY, { now: Date.now }),
  );
  expect(finding).toMatchObject({ outcome: 'failed', detail: 'the stream ended before its first frame.' });
});

test('warns about clocks that differ', async () => {
  const findings = await against(
    () => new Response('ok', { headers: { date: new Date(Date.now() - 3_600_000).toUTCString() } }),
    (url) => checkServer(url, Date.now),
  );
  expect(findings).toMatchObject([
    { check: 'server', outcome: 'ok' },
    { check: 'clock', outcome: 'warning' },
  ]);
});

test.each(['proj_live_…cdef', 'proj_live_ cdef', ''])(
  'a malformed key fails before it is sent: %j',
  async (key) => {
    const finding = await against(
      () => new Response('', { status: 401 }),
      (url) => checkKey(url, { ...KEY, key }),
    );
    expect(finding.detail).toStartWith('the key is empty or contains invalid characters');
  },
);
