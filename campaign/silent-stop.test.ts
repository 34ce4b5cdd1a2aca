import { expect, test } from 'bun:test';
import { Management, openSse, sharedPostgres, startNode, startTcpProxy } from '@halyard/testing';

test('a node whose database has gone silent stops within seconds of its window', async () => {
  const target = new URL(await (await sharedPostgres()).createDatabase());
  const proxy = await startTcpProxy({ port: Number(target.port), host: target.hostname });
  target.hostname = '127.0.0.1';
  target.port = String(proxy.port);
  const node = await startNode({ databaseUrl: target.href });
  try {
    const management = new Management(node);
    await management.createProject('demo');
    const { key } = await management.createKey('demo', ['production']);
    const stream = await openSse(`${node.url}/v1/stream?env=production`, {
      headers: { 'x-service-key': key },
    });
    await stream.nextFrame();
    // Written down for all to see, so that stopping means to take it back.
    await management.request('GET', '/api/projects/demo/clients');
    proxy.blackhole();
    await node.readiness(503);
    const begun = performance.now();
    expect(await node.stop()).toBe(0);
    // The window of the tests is one second. Supervisors kill after ten.
    expect(performance.now() - begun).toBeLessThan(10_000);
  } finally {
    await node.kill();
    await proxy.close();
  }
}, 120_000);
