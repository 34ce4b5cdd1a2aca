import { afterEach, expect, test } from 'bun:test';
import { existsSync } from 'node:fs';
import { Management } from './management.ts';
import { type NodeProcess, startNode } from './node-process.ts';
import { openSse } from './sse-reader.ts';

const nodes: NodeProcess[] = [];

afterEach(async () => {
  await Promise.all(nodes.splice(0).map((node) => node.kill()));
});

test('a node starts, serves what the management API prepared, and leaves nothing behind', async () => {
  const node = await start();
  const management = new Management(node);
  await management.createProject('demo');
  const { key } = await management.createKey('demo', ['production']);
  await management.putState('demo', 'production', 'a', { enabled: true });
  const stream = await openSse(`${node.url}/v1/stream?env=production`, { headers: { 'X-Service-Key': key } });
  expect(JSON.parse((await stream.nextFrame()).data)).toEqual({ a: { enabled: true } });
  const { changed } = await management.change('demo', 'production', [{ key: 'a', state: null }]);
  expect(changed).toEqual(['a']);
  expect((await stream.nextFrame()).data).toBe('{}');
  expect(await node.stop()).toBe(0);
  expect((await stream.untilEnded()).how).not.toBe('left');
  expect(existsSync(node.dataFolder)).toBe(false);
});

test('a killed node cuts its streams', async () => {
  const node = await start();
  const management = new Management(node);
  await management.createProject('demo');
  const { key } = await management.createKey('demo', ['production']);
  const stream = await openSse(`${node.url}/v1/stream?env=production`, { headers: { 'X-Service-Key': key } });
  await stream.nextFrame();
  await node.kill();
  expect(['cut', 'reset']).toContain((await stream.untilEnded()).how);
});

test('a frozen node answers after it is resumed', async () => {
  const node = await start();
  node.pause();
  await expect(fetch(`${node.url}/readyz`, { signal: AbortSignal.timeout(200) })).rejects.toThrow();
  node.resume();
  await node.readiness(200);
});

test('a node that cannot start is reported with what it wrote', async () => {
  await expect(start({ arguments: ['--no-such-option'] })).rejects.toThrow('no-such-option');
});

async function start(options: Parameters<typeof startNode>[0] = {}): Promise<NodeProcess> {
  const node = await startNode(options);
  nodes.push(node);
  return node;
}
