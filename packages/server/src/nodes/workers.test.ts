import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import { isAlive, ManagementError, openSse, sendRaw, until, within } from '@halyard/testing';
import { ENGINES, processOf, startWorkers } from './test-workers.ts';

setDefaultTimeout(120_000);

describe.each(ENGINES)('a node with two workers on $name', (engine) => {
  test('any worker shows a write once it is answered, and a key that was revoked opens none', async () => {
    await using machine = await startWorkers(engine);
    const { management, read, key, keyId } = machine;
    const processes = new Set<string>();
    for (let value = 1; value <= 30; value++) {
      await management.putState('demo', 'production', 'a', { enabled: true, value });
      const answers = await Promise.all([read('a'), read('a'), read('a'), read('a')]);
      for (const answer of answers) {
        processes.add(processOf(answer.headers));
        expect(await answer.json()).toMatchObject({ value });
      }
    }
    expect(processes.size).toBe(2);

    const created = await management.createKey('demo', ['production']);
    expect(
      (await Promise.all([1, 2, 3, 4].map(() => read('a', created.key)))).map(({ status }) => status),
    ).toEqual([200, 200, 200, 200]);
    const streams = await machine.openStreamOnEach(2);
    await management.revokeKey(keyId);
    expect((await Promise.all([1, 2, 3, 4].map(() => read('a', key)))).map(({ status }) => status)).toEqual([
      401, 401, 401, 401,
    ]);
    for (const stream of streams) expect((await stream.untilEnded()).how).toBe('closed');

    // Compressed by the node and passed on as it is; a caller who names no coding gets none.
    await management.putState('demo', 'production', 'a', { enabled: true, value: 'x'.repeat(60_000) });
    await management.putState('demo', 'staging', 'a', { enabled: true, value: 'y'.repeat(60_000) });
    const list = (accept: string) =>
      sendRaw(
        machine.node.url,
        `GET /api/projects/demo/flags HTTP/1.1\r\nHost: demo\r\nAuthorization: Bearer ${machine.node.adminToken}\r\n` +
          `${accept}Connection: close\r\n\r\n`,
      );
    const [plain] = (await list('')).answers;
    expect([plain?.status, plain?.headers.get('Content-Encoding')]).toEqual([200, null]);
    const [zipped] = (await list('Accept-Encoding: br, gzip\r\n')).answers;
    expect([zipped?.status, zipped?.headers.get('Content-Encoding')]).toEqual([200, 'gzip']);
    const unzipped = Bun.gunzipSync(new Uint8Array(zipped?.body ?? []));
    expect(Buffer.from(unzipped).toString() === plain?.text).toBeTrue();
  });

  test('every stream gets each change once and in order, and the dashboard counts those of all workers', async () => {
    await using machine = await startWorkers(engine);
    const { management, node, keyId } = machine;
    const headers = { Authorization: `Bearer ${node.adminToken}` };
    const events = await openSse(`${node.url}/api/events?project=demo`, { headers });
    const streams = await machine.openStreamOnEach(2);
    const count = 20;
    for (let value = 1; value <= count; value++)
      await management.putState('demo', 'production', 'a', { enabled: true, value });
    for (const stream of streams) {
      const frames = [];
      for (let n = 0; n <= count; n++) frames.push(JSON.parse((await stream.nextFrame()).data).a.value);
      expect(frames).toEqual(Array.from({ length: count + 1 }, (_, n) => n));
    }
    const all = { streams: streams.length, seen: streams.length, nodes: 1 };
    await until('the dashboard heard that all streams have seen the changes', async () => {
      const heard = events.frames
        .map(({ data }) => JSON.parse(data))
        .filter(({ seen }) => seen !== undefined);
      return heard.filter((each) => Bun.deepEquals({ ...each, ...all }, each)).length >= count || undefined;
    });
    expect(await management.request('GET', '/api/projects/demo/deliveries?limit=1')).toMatchObject({
      deliveries: [{ streams: all.streams, seen: all.seen }],
    });
    expect(await management.request('GET', '/api/projects/demo/clients')).toMatchObject({
      environments: [
        {},
        {},
        { environment: 'production', streams: streams.length, nodes: 1, keys: [{ id: keyId }] },
      ],
    });
    const metrics = await (await fetch(`${node.url}/metrics`)).text();
    expect(metrics).toContain(`halyard_streams_open ${streams.length}`);
    expect(metrics).toContain(`halyard_delivery_seconds_count ${count}`);
    expect(metrics).toContain(`halyard_delivery_streams_total{outcome="seen"} ${count * streams.length}`);
    for (const stream of streams) stream.close();
  });
});

test('a worker that dies is replaced; its streams end, and the others miss nothing', async () => {
  await using machine = await startWorkers();
  const { management, node, workers } = machine;
  const streams = await machine.openStreamOnEach(2);
  const [victim = 0, survivor = 0] = workers();
  for (let n = 0; n < 10; n++) await machine.read('a');
  const before = await answered(node.url);
  process.kill(victim, 'SIGKILL');
  const ended = await within(
    'the streams of one worker end',
    Promise.race(streams.map(({ ended }) => ended)),
  );
  expect(ended.how).not.toBe('left');
  await until('the worker has ended', () => !isAlive(victim));
  await until('another worker serves', async () =>
    workers().length === 2 && (await fetch(`${node.url}/readyz`)).ok ? true : undefined,
  );
  expect(workers()).toContain(survivor);
  expect(workers()).not.toContain(victim);
  await management.putState('demo', 'production', 'a', { enabled: false });
  const left = streams.filter(({ end }) => end === undefined);
  expect(left.length).toBeGreaterThan(0);
  for (const stream of left) {
    await stream.nextFrame();
    expect(JSON.parse((await stream.nextFrame()).data)).toEqual({ a: { enabled: false } });
  }
  // A counter that goes back would look like a restart of the whole node.
  expect(await answered(node.url)).toBeGreaterThanOrEqual(before);
  await until('the log says so', () => node.logs().includes('a worker ended and is replaced'));
});

test('a worker that stops answering is ended, so that its streams do not stay open and old', async () => {
  await using machine = await startWorkers();
  const { management, node, workers } = machine;
  const streams = await machine.openStreamOnEach(2);
  const [frozen = 0] = workers();
  process.kill(frozen, 'SIGSTOP');
  // The write waits until the frozen worker is gone: afterwards no reader can see the old state.
  const write = () => management.putState('demo', 'production', 'a', { enabled: true, value: 'new' });
  await write().catch((error: unknown) => {
    // The system gave the connection to the frozen worker, and it ended with it: nothing was answered.
    if (error instanceof ManagementError) throw error;
    return write();
  });
  expect(isAlive(frozen)).toBe(false);
  await until('the log says so', () => node.logs().includes('a worker does not answer and is ended'));
  await within('its streams end', Promise.race(streams.map(({ ended }) => ended)));
  await until('both workers serve', () => (workers().length === 2 ? true : undefined));
  for (let n = 0; n < 8; n++) expect(await (await machine.read('a')).json()).toMatchObject({ value: 'new' });
});

test('a supervisor that is killed takes its workers with it', async () => {
  const machine = await startWorkers();
  const streams = await machine.openStreamOnEach(2);
  const workers = machine.workers();
  await machine.node.kill();
  for (const stream of streams) expect((await stream.untilEnded()).how).not.toBe('left');
  await until('the workers have ended', () => (workers.some(isAlive) ? undefined : true));
});

test('SIGTERM drains all workers and ends with 0', async () => {
  const machine = await startWorkers();
  const streams = await machine.openStreamOnEach(2);
  const workers = machine.workers();
  expect(await machine.node.stop()).toBe(0);
  for (const stream of streams) expect((await stream.untilEnded()).how).toBe('closed');
  expect(workers.some(isAlive)).toBe(false);
});

/** How many answers the machine has counted. */
async function answered(url: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  return Number(/halyard_evaluation_answers_total\{operation="single",status="200"\} (\d+)/.exec(text)?.[1]);
}
