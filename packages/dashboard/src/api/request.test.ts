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
