import { expect, test } from 'bun:test';
import { checkKey, checkServer, checkStream } from './doctor-checks.ts';

const KEY = { key: 'proj_live_any', environment: 'production' };
const EAGER = { now: Date.now, patienceMs: 100 };

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

test('a stream whose first frame comes is in order', async () => {
  const finding = await against(
    () => endless(':\n\ndata: {}\n\n'),
    (url) => checkStream(url, KEY, { now: Date.now }),
  );
  expect(finding).toMatchObject({ check: 'stream', outcome: 'ok' });
});

test('a proxy that begins the answer and keeps the frames is noticed', async () => {
  const finding = await against(
    () => endless(''),
    (url) => checkStream(url, KEY, EAGER),
  );
  expect(finding.outcome).toBe('failed');
  expect(finding.detail).toContain('Switch its buffering off');
});

test('a proxy that keeps the whole answer is noticed', async () => {
  const finding = await against(
    () => new Promise<Response>(() => {}),
    (url) => checkStream(url, KEY, EAGER),
  );
  expect(finding.detail).toStartWith('got no answer: a proxy on the way');
});

test('a stream that ends before its first frame is no good', async () => {
  const finding = await against(
    () => new Response(':\n\n'),
    (url) => checkStream(url, KEY, { now: Date.now }),
  );
  expect(finding).toMatchObject({ outcome: 'failed', detail: 'ended before its first frame.' });
});

test('clocks that are far apart are pointed out', async () => {
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
  'a key that can be none is said to be so: %j',
  async (key) => {
    const finding = await against(
      () => new Response('', { status: 401 }),
      (url) => checkKey(url, { ...KEY, key }),
    );
    expect(finding.detail).toStartWith('is empty or holds characters that no key has');
  },
);
