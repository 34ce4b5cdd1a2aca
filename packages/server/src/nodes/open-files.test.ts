import { expect, setDefaultTimeout, test } from 'bun:test';
import { Management, startNode, until } from '@halyard/testing';

setDefaultTimeout(120_000);

test.each([
  ['one process', {}],
  ['two workers', { HALYARD_WORKERS: '2' }],
])('near the limit of open files new streams are refused, and the rest works (%s)', async (_, env) => {
  // So low because `fetch` opens at most 256 connections at once.
  const node = await startNode({ shellPrefix: 'ulimit -n 120', env });
  const leave = new AbortController();
  try {
    const management = new Management(node);
    await management.createProject('shop');
    await management.change('shop', 'production', [{ key: 'a', state: { enabled: true } }]);
    const { key } = await management.createKey('shop', ['production']);
    const headers = { 'X-Service-Key': key };
    const openStream = (signal: AbortSignal) =>
      fetch(`${node.url}/v1/stream?env=production`, { headers, signal, keepalive: false });
    await until('the log warns of it', () => node.logs().includes('low limit of open files'));

    let refused: Response | undefined;
    // Kept, because a stream ends when its answer is collected as garbage.
    const streams: Response[] = [];
    while (refused === undefined && streams.length < 250) {
      const answer = await openStream(leave.signal);
      if (answer.status === 200) streams.push(answer);
      else refused = answer;
    }
    expect(streams.length).toBeGreaterThan(50);
    expect(refused?.status).toBe(500);
    expect(refused?.headers.get('Retry-After')).toBe('5');
    expect(refused?.headers.get('Connection')).toBe('close');
    expect(await refused?.json()).toMatchObject({ error: 'internal_error' });
    for (let turn = 0; turn < 300; turn++) {
      await (await openStream(leave.signal)).body?.cancel();
    }

    for (let turn = 0; turn < 20; turn++) {
      const read = await fetch(`${node.url}/v1/flags/a?env=production`, { headers, keepalive: false });
      expect(await read.json()).toMatchObject({ enabled: true });
    }
    expect((await fetch(`${node.url}/readyz`)).status).toBe(200);
    await management.change('shop', 'production', [{ key: 'a', state: { enabled: false } }]);
    const metrics = await (await fetch(`${node.url}/metrics`)).text();
    expect(Number(/^halyard_streams_refused_total (\d+)$/m.exec(metrics)?.[1])).toBeGreaterThan(0);
    await until('the log says so', () => node.logs().includes('the limit of open files is near'));

    leave.abort();
    await until('a stream can be opened again', async () => {
      const answer = await openStream(AbortSignal.timeout(30_000));
      await answer.body?.cancel();
      return answer.status === 200;
    });
  } finally {
    leave.abort();
    await node.stop();
  }
});
