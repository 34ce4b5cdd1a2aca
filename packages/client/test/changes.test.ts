import { describe, expect, test } from 'bun:test';
import type { FlagsChange } from '../src/index.ts';
import { settle } from './support/fake-platform.ts';
import { harness } from './support/harness.ts';
import { ScriptedServer } from './support/scripted-server.ts';

describe('onChange', () => {
  test('tells the keys that were added, changed and removed, with the new flags and their revision', async () => {
    const { client, server } = harness();
    const changes: FlagsChange[] = [];
    client.onChange((change) => changes.push(change));
    await client.ready();
    server.change({ a: { enabled: false }, b: { enabled: true } });
    server.change({ b: { enabled: true } });
    await settle();
    expect(changes.map(({ changed, revision }) => [changed, revision])).toEqual([
      [['a'], 1],
      [['a', 'b'], 2],
      [['a'], 3],
    ]);
    expect(changes[2]?.flags).toBe(client.all());
  });

  test('is silent when a frame changes nothing, also when members come in another order', async () => {
    const { client, server } = harness();
    server.flags = { a: { enabled: true, value: { x: 1, y: [2] } } };
    await client.ready();
    let calls = 0;
    client.onChange(() => calls++);
    server.change({ a: { value: { y: [2], x: 1 }, enabled: true } });
    await settle();
    expect(calls).toBe(0);
    expect(client.revision).toBe(2);
  });

  test('listens to some keys only, until told to stop or its signal is aborted', async () => {
    const { client, server } = harness();
    await client.ready();
    const heard: string[] = [];
    const controller = new AbortController();
    const stop = client.onChange(() => heard.push('b'), { keys: ['b'] });
    client.onChange(() => heard.push('any'), { signal: controller.signal });
    client.onChange(() => heard.push('never'), { signal: AbortSignal.abort() });
    server.change({ a: { enabled: false } });
    await settle();
    expect(heard).toEqual(['any']);
    server.change({ b: { enabled: false } });
    await settle();
    expect(heard).toEqual(['any', 'b', 'any']);
    stop();
    controller.abort();
    server.change({});
    await settle();
    expect(heard).toHaveLength(3);
  });

  test('the option onChange is its first listener', async () => {
    const heard: string[][] = [];
    const { client } = harness({ onChange: ({ changed }) => heard.push([...changed]) });
    await client.ready();
    expect(heard).toEqual([['a']]);
  });

  test('listeners that throw or reject do no harm and are reported', async () => {
    const { client, server, codes } = harness();
    let calls = 0;
    client.onChange(() => {
      throw new Error('mine');
    });
    client.onChange(async () => {
      throw new Error('mine too');
    });
    client.onStatus(() => {
      throw new Error('and this');
    });
    client.onChange(() => calls++);
    await client.ready();
    await settle();
    expect(calls).toBe(1);
    expect(codes()).toEqual(['listener_error', 'listener_error', 'listener_error']);
    server.change({});
    await settle();
    expect(calls).toBe(2);
    expect(client.isEnabled('a')).toBe(false);
  });

  test('an onError that throws or rejects does no harm', async () => {
    for (const onError of [
      () => {
        throw new Error('no');
      },
      async () => {
        throw new Error('no');
      },
    ]) {
      const server = new ScriptedServer();
      server.fail();
      const { client, platform } = harness({ onError, logger: false }, server);
      expect((await raceWithTime(client.ready(), platform)).status).toBe('failed');
      server.heal();
      await platform.advance(35_000);
      expect(client.status).toBe('ready');
    }
  });
});

describe('onStatus', () => {
  test('follows a connection that is lost and found', async () => {
    const { client, server, platform } = harness();
    const seen: string[] = [];
    client.onStatus((status) => seen.push(status));
    expect(client.status).toBe('connecting');
    await client.ready();
    expect(client.evaluate('a', 0).stale).toBe(false);
    server.fail();
    await platform.advance(29_000);
    expect(client.status).toBe('ready');
    await platform.advance(2_000);
    expect(client.status).toBe('stale');
    expect(client.evaluate('a', 0)).toMatchObject({ stale: true, value: 1 });
    server.heal();
    await platform.advance(31_000);
    expect(client.status).toBe('ready');
    await client.close();
    expect(seen).toEqual(['ready', 'stale', 'ready', 'closed']);
  });

  test('a client that can poll while it has no stream is not stale', async () => {
    const { client, server, platform } = harness();
    await client.ready();
    server.onStream = () => {
      throw new TypeError('blocked');
    };
    server.latest.break();
    server.flags = { a: { enabled: true, value: 2 } };
    server.revision = 2;
    for (let i = 0; i < 20; i++) {
      await platform.advance(30_000);
      expect(client.status).toBe('ready');
    }
    expect(client.getValue('a', 0)).toBe(2);
  });

  test('a node that says its answers are stale does not make a client ready again', async () => {
    const { client, server, platform } = harness();
    await client.ready();
    server.fail();
    server.onRest = () => server.rest({ 'X-Flags-Stale': '12' });
    await platform.advance(60_000);
    expect(client.status).toBe('stale');
  });
});

async function raceWithTime<T>(
  work: Promise<T>,
  platform: { advance(ms: number): Promise<void> },
): Promise<T> {
  await platform.advance(10);
  return await work;
}
