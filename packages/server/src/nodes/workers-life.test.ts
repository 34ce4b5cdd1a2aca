import { expect, setDefaultTimeout, test } from 'bun:test';
import {
  isAlive,
  lastingPort,
  Management,
  openSse,
  sharedPostgres,
  startNode,
  startTcpProxy,
  until,
  within,
} from '@halyard/testing';
import { parseConfig } from '../config/config.ts';
import { newInnerAddress } from '../http/forwarding.ts';
import { createLogger } from '../observability/logger.ts';
import { Fleet } from '../workers/fleet.ts';
import { Readers } from '../workers/readers.ts';
import { processOf, startWorkers, type WorkersNode } from './test-workers.ts';
import type { WorkerSettings } from './worker.ts';

setDefaultTimeout(120_000);

test('workers leave signals to the supervisor, and a second signal ends all at once', async () => {
  const machine = await startWorkers(undefined, { env: { HALYARD_DRAIN_SECONDS: '60' } });
  const [stream] = await machine.openStreamOnEach(2);
  const workers = machine.workers();
  // As a terminal or a service manager does.
  for (const pid of workers) for (const signal of ['SIGINT', 'SIGTERM'] as const) process.kill(pid, signal);
  await machine.management.putState('demo', 'production', 'a', { enabled: false });
  await stream?.nextFrame();
  expect(JSON.parse((await stream?.nextFrame())?.data ?? '')).toEqual({ a: { enabled: false } });
  expect(machine.workers()).toEqual(workers);

  // Draining takes a twentieth of a second for each stream.
  await Promise.all(Array.from({ length: 200 }, () => machine.openStream()));
  process.kill(machine.node.pid, 'SIGTERM');
  await until('the first signal is noted', () => machine.node.logs().includes('Send it again to force quit'));
  // Signals within a second count as one, so this one is repeated until it counts as another.
  const again = setInterval(() => machine.node.stop(), 100);
  expect(await within('the node ends', machine.node.exited).finally(() => clearInterval(again))).toBe(1);
  await until('the workers have ended', () => !workers.some(isAlive));
});

test('a lost database closes the streams of all workers; reads go on with their age, and all heals', async () => {
  const address = new URL(await (await sharedPostgres()).createDatabase());
  const proxy = await startTcpProxy({ port: Number(address.port) });
  address.port = String(proxy.port);
  const machine = await startWorkers(undefined, { databaseUrl: address.href });
  try {
    const streams = await machine.openStreamOnEach(2);
    proxy.refuse();
    for (const stream of streams) expect((await stream.untilEnded()).how).toBe('closed');
    await machine.node.readiness(503);
    expect((await fetch(`${machine.node.url}/readyz?for=reads`)).status).toBe(200);
    await eachWorker(machine, async (response) => {
      expect(response.status).toBe(200);
      return response.headers.has('X-Flags-Stale');
    });
    expect((await machine.openStream()).status).toBe(500);
    proxy.restore();
    await machine.node.readiness(200);
    await machine.management.putState('demo', 'production', 'a', { enabled: true, value: 'later' });
    await eachWorker(machine, async (response) => {
      expect(await response.json()).toMatchObject({ value: 'later' });
      return !response.headers.has('X-Flags-Stale');
    });
  } finally {
    await machine[Symbol.asyncDispose]();
    await proxy.close();
  }
});

test('a supervisor that is frozen loses no worker: their streams end, reads go on, and all heals', async () => {
  await using machine = await startWorkers();
  const streams = await machine.openStreamOnEach(2);
  const workers = machine.workers();
  machine.node.pause();
  for (const stream of streams) expect((await stream.untilEnded()).how).toBe('closed');
  await eachWorker(machine, async (response) => response.headers.has('X-Flags-Stale'));
  expect((await machine.openStream()).status).toBe(500);
  const ready = await fetch(`${machine.node.url}/readyz`);
  expect([ready.status, await ready.json()]).toMatchObject([503, { status: 'not ready', canRead: true }]);
  expect((await fetch(`${machine.node.url}/readyz?for=reads`)).status).toBe(200);
  machine.node.resume();
  await machine.node.readiness(200);
  await machine.management.putState('demo', 'production', 'a', { enabled: false });
  await eachWorker(machine, async (response) => {
    expect(await response.json()).toMatchObject({ enabled: false });
    return true;
  });
  expect(machine.workers()).toEqual(workers);
});

test('a node whose workers keep dying is away only while the next ones start', async () => {
  await using machine = await startWorkers();
  const { url } = machine.node;
  // Places are held back for half a minute from the tenth time on.
  for (let deaths = 1; deaths <= 11; deaths++) {
    for (const pid of machine.workers()) process.kill(pid, 'SIGKILL');
    await until(`something answers after ${deaths} deaths of all workers`, async () => {
      const answer = await fetch(`${url}/healthz`, { keepalive: false }).catch(() => undefined);
      return answer?.status === 200;
    });
  }
  expect(machine.node.logs()).toContain('a worker keeps ending and is held back for a while');
  await until('reads are answered', async () => (await machine.read('a').catch(() => undefined))?.ok);
});

test('a worker that cannot follow its supervisor makes the node unready, and no key look wrong', async () => {
  const port = lastingPort();
  const config = parseConfig({ flags: {}, env: { HALYARD_PORT: String(port), HALYARD_LOG_LEVEL: 'silent' } });
  const streams = { size: 0, turnover: 0, streamsByKey: () => new Map<string, Map<string, number>>() };

  const fleet = new Fleet({
    size: 1,
    readers: new Readers({
      streams,
      waitForApplied: async () => {},
      hasApplied: () => true,
      takeUsedKeys: async () => [],
    }),
    own: { isLive: () => true, seq: () => 1 },
    // An address at which nothing listens.
    settingsOf: (number): WorkerSettings => ({ number, inner: newInnerAddress(), config, docsUrl: '' }),
    sharesLimits: false,
    log: createLogger({ level: 'silent', format: 'json' }),
    onUsage: () => {},
    onEnded: () => {},
  });

  try {
    await fleet.start();
    const yes = () => true;
    const unknown = () => undefined;
    const own = {
      canRead: yes,
      canStream: yes,
      takesReads: yes,
      mayLackRecords: () => false,
      trouble: unknown,
      staleSeconds: unknown,
    };

    const { canRead, canStream, takesReads, trouble } = fleet.freshness(own);
    expect([canRead(), canStream(), takesReads(), trouble()]).toEqual([
      true,
      false,
      false,
      'Worker processes are not serving yet.',
    ]);

    const headers = { 'X-Service-Key': 'any' };
    for (const path of ['/v1/flags?env=production', '/v1/stream?env=production']) {
      const answer = await fetch(`http://127.0.0.1:${port}${path}`, { headers });
      expect([path, answer.status, answer.headers.get('Retry-After')]).toEqual([path, 500, '1']);
    }
    const ready = await fetch(`http://127.0.0.1:${port}/readyz`);
    expect([ready.status, await ready.json()]).toMatchObject([503, { canRead: false }]);
  } finally {
    await fleet.close();
  }
});

test('a worker that keeps ending is held back, with a line in the log, and the node serves with the other one', async () => {
  await using machine = await startWorkers();
  const [healthy = 0] = machine.workers();
  const { node } = machine;
  await until('the worker is held back', async () => {
    for (const pid of machine.workers()) if (pid !== healthy) process.kill(pid, 'SIGKILL');
    return node.logs().includes('a worker keeps ending and is held back');
  });
  expect((await fetch(`${node.url}/readyz`)).status).toBe(200);
  await until('the worker serves again', () => node.logs().includes('a worker serves again'));
});

test('a port that another node shares among its workers is in use, as any other', async () => {
  await using machine = await startWorkers();
  const { port } = new URL(machine.node.url);
  for (const workers of ['1', '2']) {
    const second = startNode({ arguments: ['--port', port], env: { HALYARD_WORKERS: workers } });
    const failure = await second.then(
      () => undefined,
      (error: unknown) => error,
    );
    expect(String(failure)).toContain(`Port ${port} on 127.0.0.1 is in use.`);
  }
});

test('workers listen on IPv6, and management on a port of its own is not on theirs', async () => {
  const node = await startNode({
    env: { HALYARD_WORKERS: '2', HALYARD_HOST: '::1', HALYARD_MANAGEMENT_PORT: '0' },
    until: 'listening',
  });
  try {
    expect(node.url).toStartWith('http://[::1]:');
    const [, managementUrl = ''] = /"managementUrl":"([^"]+)"/.exec(node.logs()) ?? [];
    const management = new Management({ url: managementUrl, adminToken: node.adminToken });
    await management.createProject('demo');
    const { key } = await management.createKey('demo', ['production']);
    const read = (url: string) =>
      fetch(`${url}/v1/flags?env=production`, { headers: { 'X-Service-Key': key } });
    expect((await read(node.url)).status).toBe(200);
    expect((await read(managementUrl)).status).toBe(404);
    expect((await fetch(`${managementUrl}/metrics`)).status).toBe(200);
    for (const path of ['/metrics', '/api/projects', '/'])
      expect([path, (await fetch(`${node.url}${path}`)).status]).toEqual([path, 404]);
    for (const path of ['/readyz', '/healthz', '/docs'])
      expect([path, (await fetch(`${node.url}${path}`)).status]).toEqual([path, 200]);
  } finally {
    await node.stop();
  }
});

test('event streams of dashboards and of environments pass through a worker, and end with their reader', async () => {
  await using machine = await startWorkers();
  const { node } = machine;
  const headers = { Authorization: `Bearer ${node.adminToken}` };
  const open = async () => Number(/halyard_event_streams_open (\d+)/.exec(await metricsOf(machine))?.[1]);
  const events = await openSse(`${node.url}/api/events`, { headers });
  await events.nextFrame();
  expect(await open()).toBe(1);
  events.close();
  await until('the stream has ended', async () => (await open()) === 0);
});

test('a relay follows a node with workers through any of them, and outlives the one it came through', async () => {
  await using machine = await startWorkers();
  const { management, node, key } = machine;
  const { token } = await management.createRelayToken('test');
  const relay = await startNode({ relay: { upstream: node.url, token } });
  try {
    const headers = { 'X-Service-Key': key };
    const stream = await openSse(`${relay.url}/v1/stream?env=production`, { headers });
    await stream.nextFrame();
    await management.putState('demo', 'production', 'a', { enabled: false });
    expect(JSON.parse((await stream.nextFrame()).data)).toEqual({ a: { enabled: false } });
    // The dashboard's count has the stream of the relay.
    await until('the stream of the relay is counted', async () => {
      const clients = await management.request('GET', '/api/projects/demo/clients');
      return JSON.stringify(clients).includes('"streams":1');
    });
    for (const [index, pid] of machine.workers().entries()) {
      process.kill(pid, 'SIGKILL');
      await until('another one serves', () => node.logs().split('a worker serves again').length > index + 1);
    }
    await until('the relay follows again', async () => (await fetch(`${relay.url}/readyz`)).ok);
    await management.putState('demo', 'production', 'a', { enabled: true, value: 'later' });
    await until('the relay has the change', async () => {
      const answer = await fetch(`${relay.url}/v1/flags/a?env=production`, { headers });
      return (await answer.text()).includes('later');
    });
    // A stream of the supervisor that is cut is no error between the lines of the log.
    const workers = machine.workers();
    await node.kill();
    await until('the workers have ended', () => !workers.some(isAlive));
    expect(node.logs()).not.toMatch(/^\s*(\w*Error|error):/m);
  } finally {
    await relay.stop();
  }
});

/** Reads until each of the two workers has answered with what was wanted. */
async function eachWorker(
  machine: WorkersNode,
  isWanted: (response: Response) => Promise<boolean>,
): Promise<void> {
  const processes = new Set<string>();
  await until('both workers answer as wanted', async () => {
    const response = await machine.read('a');
    if (await isWanted(response)) processes.add(processOf(response.headers));
    return processes.size === 2;
  });
}

async function metricsOf({ node }: WorkersNode): Promise<string> {
  return await (await fetch(`${node.url}/metrics`)).text();
}
