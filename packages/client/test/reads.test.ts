import { describe, expect, test } from 'bun:test';
import { createTestClient } from '../src/testing.ts';
import { settle } from './support/fake-platform.ts';
import { harness } from './support/harness.ts';
import { refuse, ScriptedServer } from './support/scripted-server.ts';

const FLAGS = {
  on: { enabled: true },
  off: { enabled: false, value: 'x' },
  text: { enabled: true, value: 'hello' },
  number: { enabled: true, value: 42 },
  no: { enabled: true, value: false },
  list: { enabled: true, value: [1, { a: 2 }] },
  record: { enabled: true, value: { a: { b: 1 } } },
  nothing: { enabled: true, value: null },
  part: { enabled: true, value: 'new', rolloutPct: 50 },
};

async function loaded(options: Parameters<typeof harness>[0] = {}) {
  const server = new ScriptedServer();
  server.flags = FLAGS;
  const all = harness(options, server);
  expect(await all.client.ready()).toEqual({ status: 'ready' });
  return all;
}

describe('isEnabled', () => {
  test('is the flag’s switch, whatever its value', async () => {
    const { client } = await loaded();
    expect(client.isEnabled('on')).toBe(true);
    expect(client.isEnabled('off')).toBe(false);
    expect(client.isEnabled('no')).toBe(true);
    expect(client.isEnabled('absent')).toBe(false);
  });

  test('decides a partial rollout by the published buckets once it knows for whom', async () => {
    const server = new ScriptedServer();
    server.flags = { 'new-checkout': { enabled: true, rolloutPct: 51.93 } }; // user-1 is 51929, user-3 74416
    const { client } = harness({}, server);
    await client.ready();
    expect(client.isEnabled('new-checkout', { targetingKey: 'user-1' })).toBe(true);
    expect(client.isEnabled('new-checkout', { targetingKey: 'user-2' })).toBe(true);
    expect(client.isEnabled('new-checkout', { targetingKey: 'user-3' })).toBe(false);
    expect(client.isEnabled('new-checkout')).toBe(true);
  });

  test('uses the client’s targeting key unless the read names one', async () => {
    const server = new ScriptedServer();
    server.flags = { 'new-checkout': { enabled: true, rolloutPct: 51.93 } };
    const { client } = harness({ targetingKey: 'user-3' }, server);
    await client.ready();
    expect(client.isEnabled('new-checkout')).toBe(false);
    expect(client.isEnabled('new-checkout', { targetingKey: 'user-1' })).toBe(true);
  });

  test('gives the fallback as long as the flag cannot be resolved, and no longer', async () => {
    const fallback = { fallback: true };
    const server = new ScriptedServer();
    server.flags = FLAGS;
    const { client } = harness({}, server);
    expect(client.isEnabled('off', fallback)).toBe(true); // before the first load
    expect(client.isEnabled('off')).toBe(false);
    await client.ready();
    expect(client.isEnabled('off', fallback)).toBe(false);
    expect(client.isEnabled('on', fallback)).toBe(true);
    expect(client.isEnabled('absent', fallback)).toBe(true);
    expect(client.isEnabled('absent', { fallback: 'yes' as never })).toBe(false);
    const broken = {
      get fallback(): boolean {
        throw new Error('no');
      },
    };
    expect(client.isEnabled('absent', broken)).toBe(false);
  });

  test('gives the fallback after a first load that failed', async () => {
    const { client, server, platform } = harness();
    server.fail();
    void client.ready();
    await platform.advance(1_500);
    expect(client.status).toBe('failed');
    expect(client.isEnabled('kill-switch', { fallback: true })).toBe(true);
  });

  test('a partial rollout read without a targeting key is pointed out once', async () => {
    const lines: string[] = [];
    const { client, codes } = await loaded({ logger: { warn: (line) => lines.push(line) } });
    for (let i = 0; i < 5; i++) client.isEnabled('part');
    expect(lines).toHaveLength(1);
    expect(lines[0]).toContain('part');
    expect(codes()).toEqual([]);
  });
});

describe('getValue', () => {
  test('gives the value where it is the same kind of JSON as the default', async () => {
    const { client } = await loaded();
    expect(client.getValue('text', '')).toBe('hello');
    expect(client.getValue('number', 0)).toBe(42);
    expect(client.getValue('no', true)).toBe(false);
    expect(client.getValue('list', [])).toEqual([1, { a: 2 }]);
    expect(client.getValue('record', {})).toEqual({ a: { b: 1 } });
    expect<unknown>(client.getValue('nothing', null)).toBeNull();
    expect<unknown>(client.getValue('text', null)).toBe('hello');
    expect<unknown>(client.getValue('text', undefined)).toBe('hello');
  });

  test('gives the default when the flag is off, absent, has no value or excludes the reader', async () => {
    const { client } = await loaded();
    expect(client.getValue('off', 'default')).toBe('default');
    expect(client.getValue('absent', 7)).toBe(7);
    expect(client.getValue('on', 'default')).toBe('default');
    expect(client.getValue('part', 'old', { targetingKey: 'x' })).toBe(
      client.isEnabled('part', { targetingKey: 'x' }) ? 'new' : 'old',
    );
  });

  test('gives the default for a value of another kind, and reports that once per flag', async () => {
    const { client, errors } = await loaded();
    for (let i = 0; i < 3; i++) {
      expect(client.getValue('text', 5) as unknown).toBe(5);
      expect(client.getValue('record', []) as unknown).toEqual([]);
      expect(client.getValue('nothing', 'x') as unknown).toBe('x');
    }
    expect(errors.map(({ code, flagKey }) => `${code} ${flagKey}`)).toEqual([
      'type_mismatch text',
      'type_mismatch record',
      'type_mismatch nothing',
    ]);
  });

  test('what comes out cannot be changed, deep down', async () => {
    const { client } = await loaded();
    const record = client.getValue('record', { a: { b: 0 } });
    expect(() => {
      // A caller without types.
      (record.a as { b: number }).b = 2;
    }).toThrow();
    expect(Object.isFrozen(client.all())).toBe(true);
    expect(Object.isFrozen(client.getState('record'))).toBe(true);
  });
});

describe('evaluate', () => {
  test.each([
    ['text', 'd', { value: 'hello', enabled: true, reason: 'static' }],
    ['off', 'd', { value: 'd', enabled: false, reason: 'disabled' }],
    ['on', 'd', { value: 'd', enabled: true, reason: 'default' }],
    ['absent', 'd', { value: 'd', enabled: false, reason: 'error', errorCode: 'flag_not_found' }],
    ['number', 'd', { value: 'd', enabled: true, reason: 'error', errorCode: 'type_mismatch' }],
    ['part', 'd', { value: 'new', enabled: true, reason: 'split' }],
  ])('explains %s', async (key, defaultValue, expected) => {
    const { client } = await loaded({ logger: false });
    expect(client.evaluate(key, defaultValue)).toMatchObject({ key, stale: false, ...expected });
  });

  test('tells a missing map from a missing flag', async () => {
    const { client, server } = harness();
    server.fail(refuse);
    expect(client.evaluate('a', 1)).toEqual({
      key: 'a',
      value: 1,
      enabled: false,
      stale: true,
      reason: 'error',
      errorCode: 'not_ready',
    });
    await settle();
  });
});

describe('without flags', () => {
  test('reads answer before, during and after a failed first load', async () => {
    const { client, server, platform, codes } = harness();
    server.fail(refuse);
    const check = () => {
      expect(client.isEnabled('a')).toBe(false);
      expect(client.getValue('a', 'fallback')).toBe('fallback');
      expect(client.getState('a')).toBeUndefined();
      expect(Object.keys(client.all())).toEqual([]);
    };
    check();
    const ready = client.ready();
    await platform.advance(10);
    check();
    const result = await ready;
    expect(result.status).toBe('failed');
    expect(result.error?.code).toBe('network_error');
    expect(client.status).toBe('failed');
    check();
    expect(codes()).toEqual(['network_error']); // the poll failed in the same way and is not said twice
  });
});

describe('hostile reads', () => {
  test('keys of any kind resolve to nothing', async () => {
    const { client } = await loaded();
    const keys: unknown[] = [
      undefined,
      null,
      1,
      {},
      [],
      Symbol('x'),
      '\uD800',
      '',
      '..',
      'a\nb',
      '😀',
      () => 1,
    ];
    keys.push({
      toString() {
        throw new Error('no');
      },
    });
    keys.push('constructor', 'toString', 'hasOwnProperty', 'valueOf', '__proto__', 'prototype');
    for (const key of keys) {
      const untyped = key as string; // what a caller without types may pass
      expect(client.isEnabled(untyped)).toBe(false);
      expect(client.getValue(untyped, 3)).toBe(3);
      expect(client.getState(untyped)).toBeUndefined();
      expect(client.evaluate(untyped, 3).value).toBe(3);
    }
  });

  test('flags called __proto__ and constructor are only flags', async () => {
    const server = new ScriptedServer();
    server.flags = JSON.parse('{"__proto__":{"enabled":true,"value":1},"constructor":{"enabled":true}}');
    const { client } = harness({}, server);
    await client.ready();
    expect(client.isEnabled('__proto__')).toBe(true);
    expect(client.getValue('__proto__', 0)).toBe(1);
    expect(client.isEnabled('constructor')).toBe(true);
    expect(client.isEnabled('toString')).toBe(false);
    expect(({} as { enabled?: boolean }).enabled).toBeUndefined();
    expect(Object.keys(client.toBootstrap().flags)).toEqual(['__proto__', 'constructor']);
  });

  test('read options of any kind do no harm', async () => {
    const { client } = await loaded({ logger: false });
    for (const options of [null, 1, 'x', {}, { targetingKey: 5 }, { targetingKey: '\uD800' }, []]) {
      expect(client.isEnabled('on', options as never)).toBe(true);
      expect(typeof client.isEnabled('part', options as never)).toBe('boolean');
    }
  });

  test('read options and defaults that throw when they are touched do no harm', async () => {
    const { client } = await loaded({ logger: false });
    const options = {
      get targetingKey(): string {
        throw new Error('no');
      },
      get from(): 'current' {
        throw new Error('no');
      },
    };
    expect(client.isEnabled('part', options)).toBe(true);
    expect(client.getValue('number', 0, options)).toBe(42);
    expect(client.evaluate('number', 0, options).value).toBe(42);
    expect(client.getState('number')).toBeDefined();
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    expect(client.getValue('record', proxy)).toBe(proxy);
    expect(client.evaluate('record', proxy)).toMatchObject({ errorCode: 'type_mismatch' });
  });

  test('methods work when taken off the client', async () => {
    const { client } = await loaded();
    const { isEnabled, getValue, all, ready, toBootstrap } = client;
    expect(isEnabled('on')).toBe(true);
    expect(getValue('number', 0)).toBe(42);
    expect(Object.keys(all())).toContain('on');
    expect(toBootstrap().environment).toBe('production');
    expect((await ready()).status).toBe('ready');
  });
});

test('all() is the same object when the first load brings what the bootstrap had', async () => {
  const { client } = harness({ bootstrap: { a: { enabled: true, value: 1 } } });
  const before = client.all();
  await client.refresh();
  expect(client.status).toBe('ready');
  expect(client.all()).toBe(before);
});

test('all() is the same object until something changes, and unchanged flags stay the same objects', async () => {
  const { client, server } = await loaded();
  const before = client.all();
  const record = client.getValue('record', {});
  server.latest.frame(FLAGS);
  await settle();
  expect(client.all()).toBe(before);
  server.change({ ...FLAGS, on: { enabled: false } });
  await settle();
  expect(client.all()).not.toBe(before);
  expect(client.getValue('record', {})).toBe(record);
});

describe('hostile arguments of the methods that are given listeners', () => {
  const refuse = () => {
    throw new Error('no');
  };
  const revoked = () => {
    const { proxy, revoke } = Proxy.revocable([], {});
    revoke();
    return proxy;
  };
  const HOSTILE: Readonly<Record<string, unknown>> = {
    null: null,
    'a proxy that throws': new Proxy({}, { get: refuse, has: refuse }),
    'getters that throw': Object.defineProperties(
      {},
      { signal: { get: refuse }, keys: { get: refuse }, timeoutMs: { get: refuse } },
    ),
    'keys that are revoked': { keys: revoked() },
    'keys of odd kinds': { keys: [Symbol('x'), 5, null] },
    'keys that cannot be walked': { keys: Object.assign([1], { [Symbol.iterator]: refuse }) },
    'a signal that cannot be listened to': {
      signal: { addEventListener: refuse, removeEventListener: refuse },
    },
    'a signal whose members throw': { signal: new Proxy({}, { get: refuse }) },
    'a signal that is a string': { signal: 'x' },
  };
  test.each(Object.keys(HOSTILE))('%s: nothing throws, and ready() resolves', async (name) => {
    const options = HOSTILE[name] as never; // whatever it is
    const { client, server, platform } = harness();
    server.fail();
    client.onChange(() => {}, options)();
    client.onStatus(() => {}, options)();
    client.onStatus(() => {}, options);
    const ready = client.ready(options);
    await platform.advance(6_000);
    expect(['failed', 'timeout']).toContain((await ready).status);
    await client.close();
    expect(platform.pending).toBe(0);
    const test = createTestClient({ flags: { a: true } });
    test.onChange(() => {}, options)();
    test.onStatus(() => {}, options)();
    expect((await test.ready(options)).status).toBe('ready');
  });

  test('what is added after close() is not kept by its signal', async () => {
    const { client } = harness();
    await client.close();
    let kept = 0;
    const signal = { addEventListener: () => kept++, removeEventListener: () => kept-- } as never;
    client.onChange(() => {}, { signal });
    client.onStatus(() => {}, { signal });
    expect(kept).toBe(0);
  });
});
