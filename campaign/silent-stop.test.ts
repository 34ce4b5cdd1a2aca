import { expect, test } from 'bun:test';
import { Management, openSse, sharedPostgres, startNode, startTcpProxy, within } from '@halyard/testing';

test('a node whose database has gone silent stops', async () => {
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
    expect(await within('the node stops', node.stop())).toBe(0);
  } finally {
    await node.kill();
    await proxy.close();
  }
}, 120_000);
