import { describe, expect, test } from 'bun:test';
import type { FlagsClient } from '../src/index.ts';
import { settle } from './support/fake-platform.ts';
import { harness } from './support/harness.ts';
import { errorAnswer, ScriptedServer } from './support/scripted-server.ts';

describe('a client that is closed in its own', () => {
  test.each(['stream_error', 'invalid_response'])('onError, at a %s, never asks again', async (code) => {
    let client: FlagsClient | undefined;
    const made = harness({ onError: () => void client?.close() });
    client = made.client;
    await client.ready();
    const asked = made.server.requests.length;
    if (code === 'stream_error') made.server.latest.break();
    else made.server.latest.text('data: [\n\n');
    await settle();
    expect(client.status).toBe('closed');
    expect(made.platform.pending).toBe(0);
    await made.platform.advance(600_000);
    expect(made.server.requests.length).toBe(asked);
  });

  test.each(['stream', 'poll'] as const)('onStatus, in the mode %s, never asks again', async (mode) => {
    const { client, server, platform } = harness({ mode });
    server.fail(() => errorAnswer(401, 'invalid_api_key'));
    client.onStatus((status) => status === 'failed' && void client.close());
    await platform.advance(1_500);
    expect(client.status).toBe('closed');
    expect(platform.pending).toBe(0);
    const asked = server.requests.length;
    await platform.advance(600_000);
    expect(server.requests.length).toBe(asked);
  });

  test('onChange stays closed', async () => {
    let client: FlagsClient | undefined;
    const { another } = harness();
    await another().ready();
    client = another({ onChange: () => void client?.close() });
    client.isEnabled('a');
    await settle();
    expect(client.status).toBe('closed');
  });
});

test('a client that another one’s listener closes hears nothing more and stays closed', async () => {
  const heard: string[] = [];
  const { client, another } = harness({ onError: () => {} });
  const other = another({ onChange: () => heard.push('change'), onError: () => heard.push('error') });
  client.onStatus(() => void other.close());
  other.onStatus((status) => heard.push(status));
  await client.ready();
  expect(client.status).toBe('ready');
  expect(other.status).toBe('closed');
  expect(heard).toEqual(['closed']);
});

test.each(['stream', 'poll'] as const)(
  'a client that its own fetch closes, in the mode %s, leaves nothing behind',
  async (mode) => {
    let client: FlagsClient | undefined;
    const server = new ScriptedServer();
    const made = harness({
      mode,
      fetch: (url, init) => {
        void client?.close();
        return server.fetch(url, init);
      },
    });
    client = made.client;
    client.isEnabled('a');
    await settle();
    expect(client.status).toBe('closed');
    expect(made.platform.pending).toBe(0);
    await made.platform.advance(600_000);
    expect(server.requests.length).toBeLessThanOrEqual(1);
    expect(server.streams.every(({ isCancelled }) => isCancelled)).toBe(true);
  },
);

test('a client that its own logger closes during its first read asks nothing more', async () => {
  Object.assign(globalThis, { document: {} });
  try {
    let client: FlagsClient | undefined;
    const { client: made, platform, server } = harness({ logger: { warn: () => void client?.close() } });
    client = made;
    client.isEnabled('a');
    await settle();
    expect(client.status).toBe('closed');
    expect(platform.pending).toBe(0);
    const asked = server.requests.length;
    await platform.advance(600_000);
    expect(server.requests.length).toBe(asked);
    expect(server.streams.every(({ isCancelled }) => isCancelled)).toBe(true);
  } finally {
    Reflect.deleteProperty(globalThis, 'document');
  }
});

test('a second client calls no listener during its first read', async () => {
  const { client, another } = harness();
  await client.ready();
  const heard: string[] = [];
  const late = another({ onChange: ({ changed }) => heard.push(changed.join()) });
  late.onStatus((status) => heard.push(status));
  expect(late.isEnabled('a')).toBe(true);
  expect(late.status).toBe('ready');
  expect(heard).toEqual([]);
  await settle();
  expect(heard).toEqual(['ready', 'a']);
});

test('the first change is heard by a client that is ready', async () => {
  const seen: unknown[] = [];
  const { client } = harness();
  client.onChange(() => seen.push([client.status, client.evaluate('a', 0).stale]));
  client.onStatus((status) => seen.push([status, client.getValue('a', 0)]));
  await client.ready();
  expect(seen).toEqual([
    ['ready', 1],
    ['ready', false],
  ]);
});

test('refreshing at each failure asks no more often than refreshing does', async () => {
  let client: FlagsClient | undefined;
  const made = harness({ mode: 'manual', onError: () => void client?.refresh() });
  client = made.client;
  made.server.fail();
  await client.refresh();
  await settle();
  expect(made.server.requests).toHaveLength(1);
});

test('three ready() at once in the mode manual are one load', async () => {
  const { client, server } = harness({ mode: 'manual' });
  const results = await Promise.all([client.ready(), client.ready(), client.ready(), client.refresh()]);
  expect(results).toEqual([{ status: 'ready' }, { status: 'ready' }, { status: 'ready' }, true]);
  expect(server.requests).toHaveLength(1);
});

test('an error that makes a listener close another client does not reach that one', async () => {
  const heard: string[] = [];
  let other: FlagsClient | undefined;
  const { client, another, server } = harness({ onError: () => void other?.close() });
  other = another({ onError: ({ code }) => heard.push(code) });
  await Promise.all([client.ready(), other.ready()]);
  server.latest.break();
  await settle();
  expect(heard).toEqual([]);
});

test('a client that joins in an onError hears of the next failure only', async () => {
  const heard: string[] = [];
  const { client, another, server } = harness({
    onError: ({ code }) => {
      heard.push(code);
      another({ onError: () => heard.push('late') }).isEnabled('a');
    },
  });
  await client.ready();
  server.latest.break();
  await settle();
  expect(heard).toEqual(['stream_error']);
});

test('a listener that is removed while a change is passed on is no longer called', async () => {
  const { client } = harness();
  const heard: string[] = [];
  const controller = new AbortController();
  client.onChange(() => {
    stop();
    controller.abort();
  });
  const stop = client.onChange(() => heard.push('stopped'));
  client.onChange(() => heard.push('aborted'), { signal: controller.signal });
  await client.ready();
  expect(heard).toEqual([]);
});

test('a client whose options are wrong and that is closed at once stays closed', async () => {
  const { client, codes } = harness({ environment: '' });
  client.isEnabled('a');
  await client.close();
  await settle();
  expect(client.status).toBe('closed');
  expect(codes()).toEqual([]);
});

test.each([1, 2, 3, 4, 5, 6, 7, 8])(
  'a client closed %d turns after a stream was answered asks nothing',
  async (turns) => {
    const { client, server, platform } = harness();
    server.revision = undefined;
    server.sendsFirstFrame = false;
    server.onStream = async (request) => {
      let turn = Promise.resolve();
      for (let i = 0; i < turns; i++) turn = turn.then(() => {});
      void turn.then(() => client.close());
      return server.stream(request);
    };
    client.isEnabled('a');
    await settle();
    expect(client.status).toBe('closed');
    expect(platform.pending).toBe(0);
    await platform.advance(600_000);
    expect(server.count('/v1/flags')).toBe(0);
  },
);
