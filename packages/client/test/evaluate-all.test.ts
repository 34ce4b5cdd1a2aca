import { describe, expect, test } from 'bun:test';
import { evaluateAll, type FlagsClient } from '../src/index.ts';
import { HalyardProvider } from '../src/openfeature/server.ts';
import { isInRollout } from '../src/rollout.ts';
import { createTestClient } from '../src/testing.ts';
import { settle } from './support/fake-platform.ts';
import { make } from './support/handlers.ts';
import { harness } from './support/harness.ts';
import { ScriptedServer } from './support/scripted-server.ts';

const FLAGS = {
  plain: { enabled: true },
  off: { enabled: false, value: 'secret' },
  text: { enabled: true, value: 'hello' },
  'new-checkout': { enabled: true, value: 'new', rolloutPct: 51.93 }, // user-1 is inside, user-3 is not
  rolled: { enabled: true, rolloutPct: 50 },
  none: { enabled: true, rolloutPct: 0 },
};

/** What is no targeting key, as JavaScript may give it. */
const NO_KEYS: readonly unknown[] = [
  null,
  Number.NaN,
  true,
  {},
  ['user-1'],
  Symbol('user-1'),
  () => 'user-1',
];

describe('evaluateAll', () => {
  const client = createTestClient({ flags: FLAGS, targetingKey: 'user-3' });

  test('decides every rollout, and shows neither percentages nor the values of flags that are off', () => {
    expect(evaluateAll(client, 'user-1')).toEqual({
      environment: 'test',
      targetingKey: 'user-1',
      flags: {
        plain: { enabled: true },
        off: { enabled: false },
        text: { enabled: true, value: 'hello' },
        'new-checkout': { enabled: true, value: 'new' },
        rolled: { enabled: isInRollout('rolled', 'user-1', 50) },
        none: { enabled: false },
      },
    });
    expect(evaluateAll(client).flags['new-checkout']).toEqual({ enabled: false });
    expect(evaluateAll(createTestClient())).toEqual({ environment: 'test', flags: {} });
  });

  test('agrees with the reads of a client that starts from it', () => {
    for (const targetingKey of ['user-1', 'user-2', 'user-3', 1, null, ...(NO_KEYS as string[])]) {
      const page = createTestClient({ flags: evaluateAll(client, targetingKey).flags });
      for (const key of [...Object.keys(FLAGS), 'absent', '__proto__']) {
        expect(page.isEnabled(key)).toBe(client.isEnabled(key, { targetingKey }));
        expect(page.getValue(key, 'default')).toBe(client.getValue(key, 'default', { targetingKey }));
      }
    }
  });
});

describe('what an application is given is plain, as a server component may pass it to a page', () => {
  /** Whether React would send it: objects of a literal and arrays, with JSON in them. */
  const isPlain = (data: unknown): boolean =>
    typeof data !== 'object' ||
    data === null ||
    ((Array.isArray(data) || Object.getPrototypeOf(data) === Object.prototype) &&
      Object.values(data).every(isPlain));

  test.each([
    ['evaluateAll', (from: FlagsClient) => evaluateAll(from, 'user-1')],
    ['all', (from: FlagsClient) => from.all()],
    ['toBootstrap', (from: FlagsClient) => from.toBootstrap()],
    ['getState', (from: FlagsClient) => from.getState('record')],
    ['getValue', (from: FlagsClient) => from.getValue('record', {})],
    ['evaluate', (from: FlagsClient) => from.evaluate('record', null)],
  ])('by %s, of a client of any kind', async (_, give) => {
    const server = new ScriptedServer();
    server.flags = JSON.parse('{"__proto__":{"enabled":true},"record":{"enabled":true,"value":{"a":[{}]}}}');
    const { client } = harness({}, server);
    const bootstrapped = harness({ bootstrap: server.flags as never, mode: 'manual' }).client;
    await client.ready();
    for (const each of [client, bootstrapped, createTestClient({ flags: server.flags as never })])
      expect(isPlain(give(each))).toBe(true);
  });

  test('to listeners, too, and the map is that of all()', async () => {
    const { client, server } = harness();
    const heard: unknown[] = [];
    await client.ready();
    client.onChange(({ flags }) => heard.push(flags));
    server.change({ b: { enabled: true } });
    await settle();
    expect(heard).toEqual([{ b: { enabled: true } }]);
    expect(isPlain(heard[0])).toBe(true);
    expect(heard[0]).toBe(client.all());
  });

  test('and a flag called __proto__ is only a flag in it', () => {
    const flags = JSON.parse('{"__proto__":{"enabled":true},"toString":{"enabled":true}}');
    const client = createTestClient({ flags });
    for (const map of [evaluateAll(client).flags, client.all(), client.toBootstrap().flags]) {
      expect(Object.keys(map)).toEqual(['__proto__', 'toString']);
      expect(Object.getPrototypeOf(map)).toBe(Object.prototype);
    }
  });

  test('a handler takes no member of such a map for a flag that is not there', async () => {
    const { handler } = make({}, {});
    const request = new Request('https://app.example/ofrep/v1/evaluate/flags/constructor', {
      method: 'POST',
      body: '{}',
    });
    expect((await handler(request)).status).toBe(404);
  });
});

describe('a page that starts from flags that were decided for someone', () => {
  const half = { half: { enabled: true, rolloutPct: 50 } };
  const running = createTestClient({ environment: 'production', flags: half });

  test.each(['ada', 'ana', 'user-1', 'user-2', 42, null])(
    'reads for %p, before and after the first frame',
    async (reader) => {
      const bootstrap = JSON.parse(JSON.stringify(evaluateAll(running, reader)));
      const server = new ScriptedServer();
      server.flags = half;
      const { client } = harness({ apiKey: false, bootstrap }, server);
      const rendered = running.isEnabled('half', { targetingKey: reader });
      const changes: unknown[] = [];
      client.onChange(({ changed }) => changes.push(changed));
      expect(client.isEnabled('half')).toBe(rendered);
      await client.ready();
      await settle();
      expect(client.getState('half')).toEqual(half.half);
      expect(client.isEnabled('half')).toBe(rendered);
      expect(client.targetingKey).toBe(reader === 42 ? '42' : (reader as string | null));
    },
  );

  test('reads for another one where its options say so', () => {
    const bootstrap = evaluateAll(running, 'ada');
    expect(harness({ bootstrap, targetingKey: 'ana' }).client.targetingKey).toBe('ana');
    expect(harness({ bootstrap, targetingKey: undefined }).client.targetingKey).toBe('ada');
  });

  test('ignores whom flags of another environment were decided for', () => {
    const bootstrap = { ...evaluateAll(running, 'ada'), environment: 'staging' };
    expect(harness({ bootstrap }).client.targetingKey).toBeUndefined();
  });
});

describe('a targeting key', () => {
  const five = { five: { enabled: true, rolloutPct: 5 } };

  test('that is a number or a bigint counts as its text, wherever it is given', async () => {
    const client = createTestClient({ flags: five });
    const provider = new HalyardProvider(client);
    for (let id = 0; id < 200; id++) {
      const isInside = isInRollout('five', String(id), 5);
      for (const targetingKey of [id, BigInt(id), String(id)]) {
        expect(client.isEnabled('five', { targetingKey })).toBe(isInside);
        expect(evaluateAll(client, targetingKey).flags.five?.enabled).toBe(isInside);
        expect(createTestClient({ flags: five, targetingKey }).isEnabled('five')).toBe(isInside);
        const context = { targetingKey: targetingKey as string };
        expect((await provider.resolveBooleanEvaluation('five', false, context)).value).toBe(isInside);
      }
    }
  });

  test.each(NO_KEYS.map((key) => [key]))(
    '%p means someone without a key, who is in no partial rollout',
    async (given) => {
      const targetingKey = given as null; // what JavaScript gives
      const client = createTestClient({
        flags: { most: { enabled: true, rolloutPct: 99 } },
        targetingKey: 'ada',
      });
      expect(client.isEnabled('most', { targetingKey })).toBe(false);
      expect(client.evaluate('most', null, { targetingKey })).toMatchObject({
        enabled: false,
        reason: 'split',
      });
      expect(evaluateAll(client, targetingKey).flags.most).toEqual({ enabled: false });
      expect(harness({ targetingKey }).client.targetingKey).toBeNull();
      const provider = new HalyardProvider(client);
      const context = { targetingKey: given as string };
      expect(await provider.resolveBooleanEvaluation('most', false, context)).toMatchObject({
        value: false,
        errorCode: 'TARGETING_KEY_MISSING',
      });
    },
  );
});
