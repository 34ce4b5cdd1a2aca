import { expect, test } from 'bun:test';
import {
  Management,
  ManagementError,
  type NodeProcess,
  openSse,
  startNode,
  temporaryFolder,
} from '@halyard/testing';

/** Blocks of 512 bytes that no file of the node may grow beyond: 1.5 MiB. */
const FILE_LIMIT_BLOCKS = 3_072;

const FILLER = 'x'.repeat(60_000);

test('a full disk fails writes but not reads, and needs no restart', async () => {
  using folder = temporaryFolder();
  const mount = mountTinyDisk(folder.path);
  // If nothing can be mounted, a limit on the size of files replaces the full disk (without the signal, which
  // a full disk does not send).
  const node = await startNode({
    dataFolder: folder.path,
    ...(mount === undefined ? { shellPrefix: `trap '' XFSZ; ulimit -f ${FILE_LIMIT_BLOCKS}` } : {}),
  });
  try {
    const management = new Management(node);
    await management.createProject('demo');
    const { key } = await management.createKey('demo', ['production']);
    await management.putState('demo', 'production', 'steady', { enabled: true, value: 0 });
    const stream = await openSse(`${node.url}/v1/stream?env=production`, {
      headers: { 'X-Service-Key': key },
    });
    await stream.nextFrame();
    const written = await fillUp(management);
    expect(written).toBeGreaterThan(0);
    await expectReadable(node, key, written);
    // Every acknowledged change made one frame, and no refused one did.
    for (let count = 0; count < written; count += 1) await stream.nextFrame();
    expect(stream.end).toBeUndefined();
    expect(stream.frames).toHaveLength(written + 1);
    if (mount !== undefined) {
      mount.enlarge();
      const { changed } = await management.putState('demo', 'production', 'steady', {
        enabled: true,
        value: 1,
      });
      expect(changed).toBe(true);
      expect((await stream.nextFrame()).data).toContain('"steady":{"enabled":true,"value":1}');
    }
    stream.close();
  } finally {
    await node.kill();
    mount?.remove();
  }
}, 120_000);

/** Writes big flags until one is refused. Returns how many were accepted. */
async function fillUp(management: Management): Promise<number> {
  for (let count = 0; count < 500; count += 1) {
    try {
      await management.putState('demo', 'production', `big-${count}`, { enabled: true, value: FILLER });
    } catch (error) {
      if (!(error instanceof ManagementError)) throw error;
      expect(error.status).toBe(500);
      expect(error.body).toMatchObject({ error: 'internal_error' });
      return count;
    }
  }
  throw new Error('the disk never became full');
}

async function expectReadable(node: NodeProcess, key: string, written: number): Promise<void> {
  const read = await fetch(`${node.url}/v1/flags?env=production`, { headers: { 'X-Service-Key': key } });
  expect(read.status).toBe(200);
  // This shape is the specification's.
  const { flags } = (await read.json()) as { flags: Record<string, unknown> };
  expect(Object.keys(flags)).toHaveLength(written + 1);
  expect(flags.steady).toEqual({ enabled: true, value: 0 });
}

interface TinyDisk {
  enlarge(): void;
  remove(): void;
}

/** A disk of 2 MiB in memory at `path`, where this user may mount one; else `undefined`. */
function mountTinyDisk(path: string): TinyDisk | undefined {
  const mounted = Bun.spawnSync(['mount', '-t', 'tmpfs', '-o', 'size=2m', 'tmpfs', path]);
  if (!mounted.success) return undefined;
  return {
    enlarge: () => Bun.spawnSync(['mount', '-o', 'remount,size=32m', path]),
    remove: () => Bun.spawnSync(['umount', '-l', path]),
  };
}
