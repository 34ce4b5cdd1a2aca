import { describe, expect, test } from 'bun:test';
import { harness } from './support/harness.ts';
import { refuse } from './support/scripted-server.ts';

describe('what a request and its failure say', () => {
  test('each request accepts exactly the type that it expects', async () => {
    const { client, server } = harness();
    await client.ready();
    await client.refresh();
    const accepted = new Map(server.requests.map(({ path, headers }) => [path, headers.get('Accept')]));
    expect([...accepted].sort()).toEqual([
      ['/v1/flags', 'application/json'],
      ['/v1/stream', 'text/event-stream'],
    ]);
  });

  test.each([
    [
      'Node',
      Object.assign(new TypeError('fetch failed'), { cause: { code: 'ECONNREFUSED' } }),
      'ECONNREFUSED',
    ],
    [
      'Bun',
      Object.assign(new Error('Unable to connect.'), { code: 'ConnectionRefused' }),
      'ConnectionRefused',
    ],
    ['a browser', new TypeError('Failed to fetch'), 'TypeError'],
  ])('a failure in %s names its reason and the address', async (_, thrown, reason) => {
    const { client } = harness({ mode: 'manual', fetch: () => Promise.reject(thrown) });
    const { error } = await client.ready();
    expect(error?.message).toBe(`${thrown.message} (${reason}) https://flags.example`);
  });

  test('a log that takes details hears what the connection does', async () => {
    const lines: string[] = [];
    const log = { warn: () => {}, debug: (line: string) => lines.push(line) };
    const { client, server, platform } = harness({ logger: log });
    await client.ready();
    server.latest.end();
    await platform.advance(2_000);
    await client.refresh();
    expect(lines).toEqual([
      '[halyard] stream opened, revision 1',
      '[halyard] stream ended',
      '[halyard] stream opened, revision 1',
      '[halyard] flags loaded, revision 1',
    ]);
  });

  test.each([
    ['throws', () => refuse()],
    ['rejects', () => Promise.reject(new Error('no'))],
  ])('a log that %s holds up nothing', async (_, debug) => {
    const { client } = harness({ logger: { warn: () => {}, debug } });
    expect(await client.ready()).toEqual({ status: 'ready' });
  });
});
