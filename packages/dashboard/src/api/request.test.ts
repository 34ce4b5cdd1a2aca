import { afterEach, expect, test } from 'bun:test';
import { noteSignIn, onSignedOut, request } from './request.ts';

const servers: Bun.Server<undefined>[] = [];
afterEach(() => Promise.all(servers.splice(0).map((server) => server.stop(true))));

/** A server that refuses every request when the test says so. */
function refusing() {
  const { promise: mayAnswer, resolve: answer } = Promise.withResolvers<void>();
  const { promise: asked, resolve: ask } = Promise.withResolvers<void>();
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: async () => {
      ask();
      await mayAnswer;
      const body = { error: 'not_signed_in', message: '-', docs: '-' };
      return Response.json(body, { status: 401, headers: { Connection: 'close' } });
    },
  });
  servers.push(server);
  return { url: `${server.url}api/projects`, asked, answer };
}

/** A server that answers writes with `answer`. It fails once, and then knows the change 7 under every reference. */
function answering(answer: () => Response): string {
  let lookups = 0;
  const lookUp = () =>
    lookups++ === 0 ? failure() : Response.json({ changes: [{ seq: 7 }], running: false });
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: ({ method }) => (method === 'GET' ? lookUp() : answer()),
  });
  servers.push(server);
  return server.url.origin;
}

const failure = () => Response.json({ error: 'internal_error' }, { status: 500 });

test.each<[string, () => Response]>([
  ['a failure of the server', failure],
  ['the page of a proxy', () => new Response('<h1>Bad gateway</h1>', { status: 502 })],
  [
    'the page of a proxy that calls itself a success',
    () => new Response('<h1>Sign in</h1>', { headers: { 'Content-Type': 'text/html' } }),
  ],
])('%s says nothing about a change, so it is looked up, again after a failure', async (_, answer) => {
  const origin = answering(answer);
  const { fetch } = globalThis;
  // The page's own address, which a program does not have.
  globalThis.fetch = Object.assign(
    (path: string, init: RequestInit) => fetch(new URL(path, origin), init),
    fetch,
  ) as typeof fetch;
  try {
    const change = request('PUT', '/api/projects/shop', { body: {} });
    await expect(change).rejects.toMatchObject({ code: 'answer_lost', changes: [7] });
  } finally {
    globalThis.fetch = fetch;
  }
});

test('a refusal without a session is reported as the end of the session', async () => {
  const { url, answer } = refusing();
  let ended = 0;
  const stop = onSignedOut(() => ended++);
  answer();
  await expect(request('GET', url)).rejects.toMatchObject({ code: 'not_signed_in' });
  stop();
  expect(ended).toBe(1);
});

test('a refusal of a request from before the sign-in does not end the new session', async () => {
  const { url, asked, answer } = refusing();
  let ended = 0;
  const stop = onSignedOut(() => ended++);
  const late = request('GET', url);
  await asked;
  noteSignIn();
  answer();
  expect(await late.catch((error: unknown) => error)).toMatchObject({ code: 'not_signed_in' });
  stop();
  expect(ended).toBe(0);
});
