import { afterEach, describe, expect, test } from 'bun:test';
import { until } from '@halyard/testing';
import {
  type EvaluationDetails,
  type FlagValue,
  OpenFeature,
  ProviderEvents as ServerEvents,
  ProviderStatus as ServerProviderStatus,
} from '@openfeature/server-sdk';
import { ProviderEvents as WebEvents, OpenFeature as WebFeature } from '@openfeature/web-sdk';
import { createClient, type FlagRead, observeReads } from '../src/index.ts';
import type { MappingOptions } from '../src/openfeature/server.ts';
import { HalyardProvider as ServerProvider } from '../src/openfeature/server.ts';
import { HalyardProvider as WebProvider } from '../src/openfeature/web.ts';
import { createTestClient, type TestClient } from '../src/testing.ts';

const FLAGS = {
  plain: { enabled: true },
  yes: { enabled: true, value: true },
  no: { enabled: true, value: false },
  text: { enabled: true, value: 'hello' },
  number: { enabled: true, value: 42 },
  digits: { enabled: true, value: '42' },
  record: { enabled: true, value: { a: 1 } },
  list: { enabled: true, value: [1] },
  nothing: { enabled: true, value: null },
  off: { enabled: false, value: true },
  'off-text': { enabled: false, value: 'x' },
  'new-checkout': { enabled: true, value: 'new', rolloutPct: 51.93 },
  none: { enabled: true, value: 'new', rolloutPct: 0 },
};

afterEach(async () => {
  await OpenFeature.clearProviders();
  await WebFeature.clearProviders();
});

type Side = 'server' | 'web';
type Kind = 'Boolean' | 'String' | 'Number' | 'Object';

/** One read through the real SDK of either side. */
async function read(
  side: Side,
  kind: Kind,
  key: string,
  defaultValue: FlagValue,
  targetingKey?: string,
  options: MappingOptions = {},
): Promise<EvaluationDetails<FlagValue>> {
  const client = createTestClient({ environment: 'production', flags: FLAGS });
  const context = targetingKey === undefined ? {} : { targetingKey };
  // The four methods differ in the type of the default only, which the table below gets right.
  if (side === 'server') {
    await OpenFeature.setProviderAndWait(new ServerProvider(client, options));
    const method = `get${kind}Details` as 'getStringDetails';
    return await OpenFeature.getClient()[method](key, defaultValue as string, context);
  }
  await WebFeature.setContext(context);
  await WebFeature.setProviderAndWait(new WebProvider(client, options));
  const method = `get${kind}Details` as 'getStringDetails';
  return WebFeature.getClient()[method](key, defaultValue as string);
}

test('a status that changes between the end of the first load and the listening is not lost', async () => {
  const client = createTestClient();
  client.fail();
  const starting = OpenFeature.setProviderAndWait(new ServerProvider(client));
  client.recover(); // the provider has its result, and does not listen yet
  expect(await starting.catch((error: Error) => error.message)).toBe('a test made it fail');
  const isReady = () => OpenFeature.getClient().providerStatus === ServerProviderStatus.READY;
  await until('the provider is READY again', isReady);
});

describe.each(['server', 'web'] as const)('%s: the mapping', (side) => {
  test.each([
    ['Boolean', 'absent', true, { value: true, reason: 'ERROR', errorCode: 'FLAG_NOT_FOUND' }],
    ['Boolean', 'plain', false, { value: true, reason: 'STATIC', variant: 'on' }],
    ['Boolean', 'yes', false, { value: true, reason: 'STATIC', variant: 'on' }],
    ['Boolean', 'no', true, { value: false, reason: 'STATIC', variant: 'on' }],
    ['Boolean', 'text', true, { value: true, reason: 'ERROR', errorCode: 'TYPE_MISMATCH' }],
    ['Boolean', 'off', true, { value: false, reason: 'DISABLED', variant: 'off' }],
    ['String', 'off-text', 'd', { value: 'd', reason: 'DISABLED', variant: 'off' }],
    ['String', 'text', 'd', { value: 'hello', reason: 'STATIC', variant: 'on' }],
    ['String', 'plain', 'd', { value: 'd', reason: 'ERROR', errorCode: 'TYPE_MISMATCH' }],
    ['Number', 'number', 1, { value: 42, reason: 'STATIC', variant: 'on' }],
    ['Number', 'digits', 1, { value: 1, reason: 'ERROR', errorCode: 'TYPE_MISMATCH' }],
    ['Object', 'record', {}, { value: { a: 1 }, reason: 'STATIC', variant: 'on' }],
    ['Object', 'list', {}, { value: [1], reason: 'STATIC', variant: 'on' }],
    ['Object', 'nothing', {}, { value: null, reason: 'STATIC', variant: 'on' }],
    ['String', 'new-checkout', 'd', { value: 'd', reason: 'ERROR', errorCode: 'TARGETING_KEY_MISSING' }],
    ['String', 'none', 'd', { value: 'd', reason: 'SPLIT', variant: 'off' }],
    ['Boolean', 'none', true, { value: false, reason: 'SPLIT', variant: 'off' }],
  ] as const)('%s read of %s', async (kind, key, defaultValue, expected) => {
    expect(await read(side, kind, key, defaultValue as FlagValue)).toMatchObject(expected);
  });

  test('a targeting key decides a partial rollout by the published buckets', async () => {
    expect(await read(side, 'String', 'new-checkout', 'd', 'user-1')).toMatchObject({
      value: 'new',
      reason: 'SPLIT',
      variant: 'on',
    });
    expect(await read(side, 'String', 'new-checkout', 'd', 'user-3')).toMatchObject({
      value: 'd',
      reason: 'SPLIT',
      variant: 'off',
    });
  });

  test('the flag’s circumstances are in its metadata, and a normal run has no error code', async () => {
    const details = await read(side, 'String', 'new-checkout', 'd', 'user-1');
    expect(details.flagMetadata).toEqual({ environment: 'production', enabled: true, rolloutPct: 51.93 });
    expect(details.errorCode).toBeUndefined();
  });

  test('options choose what a flag that is off gives, and whether enabled alone makes a boolean', async () => {
    expect((await read(side, 'Boolean', 'off', true, undefined, { disabledValue: 'default' })).value).toBe(
      true,
    );
    expect((await read(side, 'Boolean', 'text', false, undefined, { booleanFrom: 'enabled' })).value).toBe(
      true,
    );
    expect((await read(side, 'Boolean', 'no', true, undefined, { booleanFrom: 'enabled' })).value).toBe(
      false,
    );
  });
});

describe('server: the life of a provider', () => {
  test('initialisation ends when flags have been loaded; changes and failures are passed on', async () => {
    const client = createTestClient({ flags: { a: true } });
    await OpenFeature.setProviderAndWait(new ServerProvider(client));
    const seen: string[] = [];
    const of = OpenFeature.getClient();
    of.addHandler(ServerEvents.ConfigurationChanged, (event) => seen.push(`changed ${event?.flagsChanged}`));
    of.addHandler(ServerEvents.Stale, () => seen.push('stale'));
    client.set('a', false);
    client.goStale();
    expect((await of.getBooleanDetails('a', true)).reason).toBe('DISABLED');
    client.set('a', true);
    expect((await of.getBooleanDetails('a', false)).reason).toBe('STALE');
    client.recover();
    expect(seen).toEqual(['changed a', 'stale', 'changed a']);
    expect(of.providerStatus as string).toBe('READY');
  });

  test.each([
    ['invalid_api_key', 'FATAL'],
    ['network_error', 'ERROR'],
  ])('a first load that fails with %s leaves it %s until it heals', async (code, status) => {
    const client = failing(code);
    await OpenFeature.setProviderAndWait(new ServerProvider(client)).catch(() => {});
    const of = OpenFeature.getClient();
    expect(of.providerStatus as string).toBe(status);
    expect(await of.getBooleanValue('a', true)).toBe(true);
    client.set('a', false);
    client.recover();
    expect(of.providerStatus as string).toBe('READY');
    expect(await of.getBooleanValue('a', true)).toBe(false);
  });

  test('a client that was given stays open, one that was made is closed', async () => {
    const client = createTestClient();
    const provider = new ServerProvider(client);
    await provider.initialize();
    await provider.onClose();
    expect(client.status).toBe('ready');
    const own = new ServerProvider({
      apiKey: 'k',
      environment: 'e',
      baseUrl: 'http://127.0.0.1:1',
      logger: false,
    });
    await own.initialize().catch(() => {});
    await own.onClose();
  });
});

describe.each([
  ['server', ServerProvider, OpenFeature, ServerEvents],
  ['web', WebProvider, WebFeature, WebEvents],
] as const)('%s: a provider that is set again after it was shut down', (_, Provider, Feature, Events) => {
  // `OpenFeature`: what the tests use of it exists in both SDKs; only the types differ.
  const api = Feature as unknown as typeof OpenFeature;
  // `ServerProvider`: the same of the providers.
  const provide = (options: ConstructorParameters<typeof ServerProvider>[0]) =>
    new Provider(options) as unknown as ServerProvider;

  test('works again with a client that was given', async () => {
    const client = createTestClient({ flags: { a: true } });
    const provider = provide(client);
    await api.setProviderAndWait(provider);
    await api.setProviderAndWait(provide(createTestClient()));
    await api.setProviderAndWait(provider);
    const seen: unknown[] = [];
    api.getClient().addHandler(Events.ConfigurationChanged as ServerEvents, (event) => {
      seen.push(event?.flagsChanged);
    });
    client.set('a', false);
    expect(seen).toEqual([['a']]);
  });

  test('works again with options', async () => {
    const server = Bun.serve({
      port: 0,
      fetch: () => Response.json({ environment: 'production', flags: { a: { enabled: true } } }),
    });
    try {
      const provider = provide({
        apiKey: 'k',
        environment: 'production',
        baseUrl: server.url,
        mode: 'poll',
        logger: false,
      });
      await api.setProviderAndWait(provider);
      await api.clearProviders();
      await api.setProviderAndWait(provider);
      expect(await api.getClient().getBooleanValue('a', false)).toBe(true);
    } finally {
      await api.clearProviders();
      await server.stop(true);
    }
  });
});

test.each([
  ['server', ServerProvider],
  ['web', WebProvider],
] as const)('%s: the client’s own targeting key counts where the context has none', async (_, Provider) => {
  const client = createClient({
    apiKey: 'k',
    environment: 'production',
    mode: 'manual',
    bootstrap: FLAGS,
    targetingKey: 'user-1',
  });
  const provider = new Provider(client);
  const read = (context: { targetingKey?: string }) =>
    provider.resolveStringEvaluation('new-checkout', 'd', context);
  expect(await read({})).toMatchObject({ value: 'new', variant: 'on' });
  expect(await read({ targetingKey: 'user-3' })).toMatchObject({ value: 'd', reason: 'SPLIT' });
});

test('a read that names a targeting key gets no advice to name one', async () => {
  const lines: string[] = [];
  const client = createClient({
    apiKey: 'k',
    environment: 'production',
    mode: 'manual',
    bootstrap: FLAGS,
    logger: { warn: (line) => lines.push(line) },
  });
  await OpenFeature.setProviderAndWait(new ServerProvider(client));
  await OpenFeature.getClient().getStringValue('new-checkout', 'd', { targetingKey: 'user-1' });
  expect(lines).toEqual([]);
});

test('web: changes and failures are passed on', async () => {
  const client = createTestClient({ flags: { a: true } });
  await WebFeature.setProviderAndWait(new WebProvider(client));
  const seen: string[] = [];
  const of = WebFeature.getClient();
  of.addHandler(WebEvents.ConfigurationChanged, (event) => seen.push(`changed ${event?.flagsChanged}`));
  of.addHandler(WebEvents.Stale, () => seen.push('stale'));
  client.set('a', false);
  client.goStale();
  client.recover();
  expect(seen).toEqual(['changed a', 'stale']);
  expect(of.getBooleanValue('a', true)).toBe(false);
});

function failing(code: string): TestClient {
  const client = createTestClient();
  client.fail(code);
  return client;
}

test('a provider with a bootstrap over a dead server is ready, and then stale', async () => {
  const seen: string[] = [];
  OpenFeature.addHandler(ServerEvents.Stale, () => seen.push('stale'));
  const stale = new Promise<void>((resolve) => OpenFeature.addHandler(ServerEvents.Stale, () => resolve()));
  await OpenFeature.setProviderAndWait(
    new ServerProvider({
      apiKey: 'proj_live_x',
      environment: 'production',
      baseUrl: 'http://127.0.0.1:1',
      bootstrap: { plain: { enabled: true } },
      logger: false,
    }),
  );
  await stale;
  expect(OpenFeature.getClient().providerStatus).toBe('STALE' as never); // a member of an enum
  expect(await OpenFeature.getClient().getBooleanValue('plain', false)).toBe(true);
});

test('an error event says what is wrong', async () => {
  const client = createTestClient();
  const provider = new ServerProvider(client);
  await OpenFeature.setProviderAndWait(provider);
  const details = new Promise((resolve) => OpenFeature.addHandler(ServerEvents.Error, resolve));
  client.fail();
  expect(await details).toMatchObject({ message: expect.any(String), errorCode: 'GENERAL' });
});

test('a provider made of nothing is one whose options are wrong', async () => {
  const provider = new ServerProvider(undefined as never);
  await expect(OpenFeature.setProviderAndWait(provider)).rejects.toThrow('apiKey');
});

describe('a client that is observed', () => {
  test.each([
    ['Boolean', 'yes', false, true, undefined],
    ['Boolean', 'no', true, false, undefined],
    ['Boolean', 'plain', false, true, undefined],
    ['Boolean', 'off', true, false, undefined],
    ['Boolean', 'text', false, false, 'type_mismatch'],
    ['Number', 'number', 1, 42, undefined],
    ['Number', 'text', 1, 1, 'type_mismatch'],
    ['String', 'off-text', 'default', 'default', undefined],
    ['Object', 'list', {}, [1], undefined],
  ] as const)(
    'hears that %s %s, with the default %p, gave %p',
    async (kind, key, given, value, errorCode) => {
      const reads: FlagRead[] = [];
      const client = createTestClient({ environment: 'production', flags: FLAGS });
      const provider = new ServerProvider(observeReads(client, (read) => reads.push(read)));
      const method = `resolve${kind}Evaluation` as 'resolveNumberEvaluation'; // the table has the right defaults
      const answer = await provider[method](key, given as number, {});
      expect(answer.value).toEqual(value as never);
      expect(reads.map((read) => [read.value, read.errorCode])).toEqual([[value, errorCode]]);
    },
  );
});

test.each([
  ['server', OpenFeature, ServerProvider, ServerEvents.Stale],
  ['web', WebFeature, WebProvider, WebEvents.Stale],
] as const)(
  'the %s provider is stale once the application has closed its client',
  async (_, api, Provider, event) => {
    const client = createTestClient({ flags: { plain: true } });
    await (api as typeof OpenFeature).setProviderAndWait(new Provider(client) as ServerProvider);
    const messages: unknown[] = [];
    (api as typeof OpenFeature).addHandler(event as ServerEvents.Stale, (details) =>
      messages.push(details?.message),
    );
    await client.close();
    await until('the provider says so', () => messages.length > 0);
    expect(messages).toEqual(['the client is closed']);
  },
);
