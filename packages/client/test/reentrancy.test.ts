import { describe, expect, test } from 'bun:test';
import type { FlagsClient } from '../src/index.ts';
import { settle } from './support/fake-platform.ts';
import { harness } from './support/harness.ts';
import { errorAnswer } from './support/scripted-server.ts';

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
