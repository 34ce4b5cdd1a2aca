import { afterEach, expect, setDefaultTimeout, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import {
  lastingPort,
  Management,
  type NodeProcess,
  openSse,
  randomAdminToken,
  type StartNodeOptions,
  startNode,
  temporaryFolder,
  until,
} from '@halyard/testing';

setDefaultTimeout(60_000);

const ON = { enabled: true };

const open: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

async function start(options: StartNodeOptions = {}): Promise<NodeProcess> {
  const node = await startNode({ ...options, env: { HALYARD_DRAIN_SECONDS: '0', ...options.env } });
  open.push(() => node.stop());
  return node;
}

function folder() {
  const place = temporaryFolder();
  open.push(() => place.remove());
  return place;
}

/** A project whose production has the flag `a`, with a key. */
async function shopAt(node: NodeProcess) {
  const management = new Management(node);
  await management.createProject('shop');
  await management.putState('shop', 'production', 'a', ON);
  const { key } = await management.createKey('shop', ['production']);
  return { management, key };
}

async function ready(node: NodeProcess): Promise<{ readonly upstream?: string }> {
  await node.readiness(200);
  return (await (await fetch(`${node.url}/readyz`)).json()) as { upstream?: string };
}

test('a relay with workers moves to another upstream when its own is lost, and stays there', async () => {
  const data = folder();
  const ports = [String(lastingPort()), String(lastingPort())];
  const adminToken = randomAdminToken();
  const nodeAt = (port = '0') => start({ dataFolder: data.path, adminToken, arguments: ['--port', port] });
  const [first, second] = [await nodeAt(ports[0]), await nodeAt(ports[1])];
  const { management, key } = await shopAt(first);
  const { token } = await management.createRelayToken('edge');
  const relay = await start({
    relay: { upstream: `${first.url},${second.url}`, token },
    arguments: ['--workers', '2'],
  });
  expect(await ready(relay)).toMatchObject({ upstream: first.url });

  const headers = { 'X-Service-Key': key };
  const openStream = () => openSse(`${relay.url}/v1/stream?env=production`, { headers });
  const streams = await Promise.all(Array.from({ length: 6 }, openStream));
  for (const stream of streams) expect((await stream.nextFrame()).data).toBe('{"a":{"enabled":true}}');
  const clients = new Management(second);
  await until('the streams of all workers are counted as one node', async () => {
    const answer = await clients.request('GET', '/api/projects/shop/clients');
    return JSON.stringify(answer).includes('"streams":6,"nodes":1');
  });

  await first.kill();
  for (const stream of streams) await stream.ended;
  await until('it follows the other one', async () => (await ready(relay)).upstream === second.url);
  await nodeAt(ports[0]);
  const again = await until('a stream is open', async () => {
    const stream = await openStream();
    return stream.status === 200 ? stream : undefined;
  });
  await again.nextFrame();
  await clients.putState('shop', 'production', 'a', { enabled: false });
  expect((await again.nextFrame()).data).toBe('{"a":{"enabled":false}}');
  expect(await ready(relay)).toMatchObject({ upstream: second.url });

  const metrics = await (await fetch(`${relay.url}/metrics`)).text();
  expect(metrics).toContain(`halyard_upstream_followed{upstream="${first.url}"} 0`);
  expect(metrics).toContain(`halyard_upstream_followed{upstream="${second.url}"} 1`);
  expect(metrics).toContain('halyard_streams_open 1');
  expect(relay.logs()).toContain('following another upstream');
  again.close();
});

test('a relay token that is replaced in its file is used, and no stream ends; last known flags outlive it', async () => {
  const origin = await start();
  const { management, key } = await shopAt(origin);
  const [old, next] = [await management.createRelayToken('old'), await management.createRelayToken('next')];
  const data = folder();
  const file = data.file('relay-token');
  writeFileSync(file, `${old.token}\n`);
  const relayOf = (more: StartNodeOptions = {}) =>
    start({
      relay: { upstream: origin.url, token: '' },
      dataFolder: data.file('data'),
      arguments: ['--relay-token-file', file],
      ...more,
    });
  const relay = await relayOf();
  const headers = { 'X-Service-Key': key };
  const stream = await openSse(`${relay.url}/v1/stream?env=production`, { headers });
  await stream.nextFrame();

  writeFileSync(file, `hrl_${'x'.repeat(43)}\n`);
  await until('the wrong token is refused', () => relay.logs().includes('the new relay token is refused'));
  writeFileSync(file, `${next.token}\n`);
  await until('the token was replaced', () => relay.logs().includes('the relay token was replaced'));
  await management.request('DELETE', `/api/relay-tokens/${old.id}`);
  await management.putState('shop', 'production', 'a', { enabled: false });
  expect((await stream.nextFrame()).data).toBe('{"a":{"enabled":false}}');
  expect(relay.logs()).not.toContain('hrl_');

  // It starts with yet another token while the upstream is away.
  await relay.stop();
  await origin.kill();
  writeFileSync(file, `hrl_${'y'.repeat(43)}\n`);
  const restarted = await relayOf({ until: 'listening' });
  const answer = await fetch(`${restarted.url}/v1/flags?env=production`, { headers });
  expect(await answer.json()).toEqual({ environment: 'production', flags: { a: { enabled: false } } });
  expect(Number(answer.headers.get('X-Flags-Stale'))).toBeGreaterThan(0);
});
