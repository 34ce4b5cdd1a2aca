import { afterEach, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { join } from 'node:path';
import {
  lastingPort,
  Management,
  type NodeProcess,
  openSse,
  type StartNodeOptions,
  startNode,
  temporaryFolder,
  until,
} from '@halyard/testing';

setDefaultTimeout(60_000);

const ON = { enabled: true };
const EMPTY_REPORT = '{"env":"production","flags":{}}';

const open: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

async function start(options: StartNodeOptions = {}): Promise<NodeProcess> {
  const node = await startNode({ ...options, env: { HALYARD_DRAIN_SECONDS: '0', ...options.env } });
  open.push(() => node.stop());
  return node;
}

/** A node, a relay of it and a relay of that, with a project whose production has the flag `a`. */
async function startTiers() {
  const port = String(lastingPort());
  const folder = temporaryFolder();
  open.push(() => folder.remove());
  const startOrigin = () => start({ dataFolder: folder.path, arguments: ['--port', port] });
  const origin = await startOrigin();
  const management = new Management(origin);
  await management.createProject('shop');
  await management.putState('shop', 'production', 'a', ON);
  const { key, id } = await management.createKey('shop', ['production']);
  const relayToken = await management.createRelayToken('test');
  const first = await start({
    relay: { upstream: origin.url, token: relayToken.token },
    arguments: ['--port', String(lastingPort())],
  });
  const second = await start({ relay: { upstream: first.url, token: relayToken.token } });
  return { origin, startOrigin, management, key, keyId: id, relayToken, first, second };
}

function read(node: NodeProcess, key: string): Promise<Response> {
  return fetch(`${node.url}/v1/flags?env=production`, { headers: { 'X-Service-Key': key } });
}

/** On a busy machine the last heartbeat may be old for a moment. */
async function untilCurrent(node: NodeProcess, key: string): Promise<void> {
  await until('the answer is current', async () => !(await read(node, key)).headers.has('X-Flags-Stale'));
}

describe('two relays in a row', () => {
  test('serve what the node serves: the same answers, one frame per change, and a revoked key ends at once', async () => {
    const { origin, management, key, keyId, first, second } = await startTiers();
    const answers = await Promise.all([origin, first, second].map((node) => read(node, key)));
    expect(new Set(answers.map(({ headers }) => headers.get('ETag'))).size).toBe(1);
    expect(await answers[2]?.json()).toEqual({ environment: 'production', flags: { a: ON } });
    const headers = { 'X-Service-Key': key };
    const stream = await openSse(`${second.url}/v1/stream?env=production`, { headers });
    expect((await stream.nextFrame()).data).toBe('{"a":{"enabled":true}}');
    for (let value = 1; value <= 20; value++)
      await management.putState('shop', 'production', 'a', { enabled: true, value });
    for (let value = 1; value <= 20; value++)
      expect((await stream.nextFrame()).data).toBe(`{"a":{"enabled":true,"value":${value}}}`);
    await management.request('DELETE', `/api/keys/${keyId}`);
    expect((await stream.ended).how).toBe('closed');
    expect((await read(second, key)).status).toBe(401);
  });

  test('close their streams when the node is gone, answer with their age, and continue when it is back', async () => {
    const { origin, startOrigin, key, first, second } = await startTiers();
    const headers = { 'X-Service-Key': key };
    const stream = await openSse(`${second.url}/v1/stream?env=production`, { headers });
    await stream.nextFrame();
    await origin.kill();
    await stream.ended;
    for (const relay of [first, second]) {
      await relay.readiness(503);
      const stale = await until('the answer has an age', async () => {
        const answer = await read(relay, key);
        return answer.headers.get('X-Flags-Stale') === null ? undefined : answer;
      });
      expect(await stale.json()).toEqual({ environment: 'production', flags: { a: ON } });
      const forFlagd = await fetch(`${relay.url}/flagd/v1/flags.json?env=production`, { headers });
      expect([forFlagd.status, forFlagd.headers.has('X-Flags-Stale')]).toEqual([200, true]);
      const refused = await fetch(`${relay.url}/v1/stream?env=production`, { headers });
      expect([refused.status, refused.headers.get('Retry-After')]).toEqual([500, '1']);
    }
    await startOrigin();
    for (const relay of [first, second]) await relay.readiness(200);
    await untilCurrent(second, key);
  });

  test('lose their log when their token is revoked, and say so', async () => {
    const { management, relayToken, first, second } = await startTiers();
    await management.request('DELETE', `/api/relay-tokens/${relayToken.id}`);
    for (const relay of [first, second]) await relay.readiness(503);
    const reason = await until('the reason is known', async () => {
      const { reason } = (await (await fetch(`${first.url}/readyz`)).json()) as { reason?: string };
      return reason?.includes('wrong or was revoked') === true ? reason : undefined;
    });
    expect(reason).not.toContain('hrl_');
    expect(first.logs()).not.toContain('hrl_');
  });

  test('a relay below follows the scope of the one above it, narrower and wider, with no row in between', async () => {
    const { origin, management, first, second } = await startTiers();
    const { key } = await management.createKey('shop', ['production', 'staging']);
    const wide = await management.createRelayToken('wide');
    const narrow = await management.createRelayToken('narrow', { environments: ['production'] });
    const statuses = (node: NodeProcess) =>
      Promise.all(
        ['production', 'staging'].map(async (name) => {
          const headers = { 'X-Service-Key': key };
          const answer = await fetch(`${node.url}/v1/flags?env=${name}`, { headers });
          return `${answer.status} ${answer.headers.has('X-Flags-Stale') ? 'stale' : 'current'}`;
        }),
      );
    const both = '200 current,200 current';
    await until('both are there', async () => String(await statuses(second)) === both);
    await first.stop();
    for (const [token, expected] of [
      [narrow.token, '200 current,404 current'],
      [wide.token, both],
    ] as const) {
      const port = new URL(first.url).port;
      const again = await start({ relay: { upstream: origin.url, token }, arguments: ['--port', port] });
      await until(
        `the relay below has "${expected}"`,
        async () => String(await statuses(second)) === expected,
      );
      await again.stop();
    }
  });

  test('serve no management, and what they follow is counted', async () => {
    const { origin, first } = await startTiers();
    for (const path of ['/', '/api/projects']) expect((await fetch(`${first.url}${path}`)).status).toBe(404);
    for (const node of [origin, first])
      expect(await (await fetch(`${node.url}/metrics`)).text()).toContain('halyard_log_followers 1');
  });
});

describe('a relay that cannot start', () => {
  const main = join(import.meta.dir, '../main.ts');

  async function run(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
    const child = Bun.spawn([process.execPath, main, 'relay', '--port', '0', ...args], {
      env: { PATH: process.env.PATH ?? '', ...env },
      stdout: 'pipe',
      stderr: 'pipe',
    });
    const [code, log, error] = await Promise.all([
      child.exited,
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
    ]);
    return { code, log, error };
  }

  test('says which settings it needs', async () => {
    const { code, error } = await run([]);
    expect(code).toBe(2);
    expect(error).toContain('A relay needs --upstream or HALYARD_UPSTREAM.');
    expect(error).toContain('A relay needs --relay-token-file or HALYARD_RELAY_TOKEN.');
  });

  test('says that its token is refused', async () => {
    const origin = await start();
    const token = `hrl_${'x'.repeat(43)}`;
    const { code, log, error } = await run(['--upstream', origin.url], { HALYARD_RELAY_TOKEN: token });
    expect(code).toBe(1);
    for (const text of [log, error]) {
      expect(text).toContain('refused the relay token: it is wrong or was revoked.');
      expect(text).not.toContain('database');
      expect(text).not.toContain(token);
    }
  });
});

test('a relay follows a node with several workers', async () => {
  const origin = await start({ env: { HALYARD_WORKERS: '2' } });
  const management = new Management(origin);
  await management.createProject('shop');
  await management.putState('shop', 'production', 'a', ON);
  const { key } = await management.createKey('shop', ['production']);
  const { token } = await management.createRelayToken('test');
  const relay = await start({ relay: { upstream: origin.url, token } });
  expect(await (await read(relay, key)).json()).toEqual({ environment: 'production', flags: { a: ON } });
});

test('receipts, open streams and reads of two tiers reach the node, and a stopped relay leaves none', async () => {
  const { origin, startOrigin, management, key, first, second } = await startTiers();
  await management.request('PATCH', '/api/projects/shop', { body: { usage: true } });
  const headers = { 'X-Service-Key': key };
  const places = [first, first, second, second, second];
  const streams = await Promise.all(
    places.map((relay) => openSse(`${relay.url}/v1/stream?env=production`, { headers })),
  );
  await Promise.all(streams.map((stream) => stream.nextFrame()));

  const clients = () => management.request('GET', '/api/projects/shop/clients') as Promise<Clients>;
  await until('all streams are counted', async () => {
    const { environments } = await clients();
    return environments.some((each) => each.streams === 5 && each.nodes === 2);
  });

  const { seq } = (await management.change('shop', 'production', [
    { key: 'a', state: { enabled: false } },
  ])) as {
    seq?: number;
  };
  const delivery = await until('all streams have the change', async () => {
    const answer = await management.request('GET', `/api/changes/${seq}/delivery`).catch(() => undefined);
    return JSON.stringify(answer ?? {}).includes('"seen":5') ? answer : undefined;
  });
  expect(delivery).toMatchObject({ streams: 5, seen: 5 });

  const body = '{"env":"production","flags":{"a":{"on":2,"off":3}}}';
  await until('the relays know that reads are counted', async () => {
    const answers = await Promise.all(
      [first, second].map(({ url }) =>
        fetch(`${url}/usage/v1`, { method: 'POST', headers, body: EMPTY_REPORT }),
      ),
    );
    return answers.every(({ status }) => status === 204);
  });
  for (const { url } of [first, second])
    expect((await fetch(`${url}/usage/v1`, { method: 'POST', headers, body })).status).toBe(204);

  await second.stop();
  await until('the streams of the second relay are gone', async () =>
    (await clients()).environments.some((each) => each.streams === 2),
  );
  await first.stop();
  await origin.stop();

  const again = new Management(await startOrigin());
  const usage = await again.request('GET', '/api/projects/shop/flags/a/usage');
  expect(JSON.stringify(usage)).toContain('"on":4,"off":6');
});

test('a relay that starts while its upstream is away serves its last known flags', async () => {
  const { origin, startOrigin, management, key, relayToken } = await startTiers();
  const folder = temporaryFolder();
  open.push(() => folder.remove());
  const relay = { upstream: origin.url, token: relayToken.token };
  const revoked = await management.createKey('shop', ['production']);
  const first = await start({ relay, dataFolder: folder.path });
  await management.request('DELETE', `/api/keys/${revoked.id}`);
  await until('the key is revoked', async () => (await read(first, revoked.key)).status === 401);
  await first.stop();
  await origin.kill();

  const second = await start({ relay, dataFolder: folder.path, until: 'listening' });
  const answer = await read(second, key);
  expect(await answer.json()).toEqual({ environment: 'production', flags: { a: ON } });
  expect(Number(answer.headers.get('X-Flags-Stale'))).toBeGreaterThan(0);
  // It is not in the file, as one that was created in the last moment would not be.
  expect((await read(second, revoked.key)).status).toBe(500);
  const stream = await fetch(`${second.url}/v1/stream?env=production`, { headers: { 'X-Service-Key': key } });
  expect(stream.status).toBe(500);
  const ready = await fetch(`${second.url}/readyz`);
  expect([ready.status, await ready.json()]).toMatchObject([503, { canRead: true }]);

  await startOrigin();
  await second.readiness(200);
  await untilCurrent(second, key);
  expect((await read(second, revoked.key)).status).toBe(401);
  // It continued where the file ended.
  expect(second.logs()).toContain('starting from the last known flags');

  // With a token that is refused it has these flags and no others.
  const other = { ...relay, token: `hrl_${'x'.repeat(43)}` };
  await second.stop();
  const third = await start({ relay: other, dataFolder: folder.path, until: 'listening' });
  expect((await read(third, key)).headers.has('X-Flags-Stale')).toBe(true);
  expect(await (await fetch(`${third.url}/readyz`)).text()).toContain('wrong or was revoked');
});

interface Clients {
  readonly environments: readonly { readonly streams: number; readonly nodes: number }[];
}
