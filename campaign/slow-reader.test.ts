import { expect, test } from 'bun:test';
import { Management, openSse, startNode } from '@halyard/testing';

/** Near the greatest value there is: about 60 KB a frame. */
const PADDING = 'x'.repeat(60_000);

/** More than the kernel's buffers and the node's own limit of 1 MiB hold together. */
const CHANGES = 300;

test('disconnects a reader that does not read; the others get every frame', async () => {
  const node = await startNode();
  try {
    const management = new Management(node);
    await management.createProject('demo');
    const { key } = await management.createKey('demo', ['production']);
    const open = () => openSse(`${node.url}/v1/stream?env=production`, { headers: { 'X-Service-Key': key } });
    const slow = await open();
    const healthy = await Promise.all([open(), open()]);
    for (const stream of [slow, ...healthy]) await stream.nextFrame();
    slow.pause();
    for (let count = 1; count <= CHANGES; count += 1) {
      await management.putState('demo', 'production', 'big', { enabled: true, value: `${count} ${PADDING}` });
    }
    for (const stream of healthy) {
      for (let count = 1; count <= CHANGES; count += 1) {
        const { data } = await stream.nextFrame();
        expect(data.startsWith(`{"big":{"enabled":true,"value":"${count} `)).toBe(true);
      }
      expect(stream.end).toBeUndefined();
    }
    slow.resume();
    expect((await slow.untilEnded()).how).not.toBe('closed');
    // The frames that it got are a prefix without a gap.
    expect(slow.frames.length).toBeLessThan(CHANGES);
    for (const [count, { data }] of slow.frames.entries()) {
      if (count > 0) expect(data.startsWith(`{"big":{"enabled":true,"value":"${count} `)).toBe(true);
    }
    for (const stream of healthy) stream.close();
  } finally {
    await node.kill();
  }
}, 120_000);
