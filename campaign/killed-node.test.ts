import { expect, test } from 'bun:test';
import { Management, type NodeProcess, startNode, temporaryFolder, until } from '@halyard/testing';

const WRITERS = 4;
const ROUNDS = 3;

test('a node on SQLite that is killed in the middle of writes loses no acknowledged one', async () => {
  using folder = temporaryFolder();
  const acknowledged = new Map<string, number>();
  let node = await startNode({ dataFolder: folder.path });
  try {
    await new Management(node).createProject('demo');
    for (let round = 0; round < ROUNDS; round += 1) {
      const dying = node;
      const writers = Array.from({ length: WRITERS }, (_, index) =>
        writeUntilDead(dying, `writer-${index}`, acknowledged),
      );
      // Each round kills the node after a different number of writes, and so at another point of a write.
      const least = (acknowledged.get('writer-0') ?? 0) + 1 + 5 * round;
      await until('every writer has written', () =>
        writers.every((_, index) => (acknowledged.get(`writer-${index}`) ?? 0) >= least),
      );
      await dying.kill();
      await Promise.all(writers);
      node = await startNode({ dataFolder: folder.path, adminToken: dying.adminToken });
      await expectAllThere(node, acknowledged);
    }
    expect(acknowledged.size).toBe(WRITERS);
  } finally {
    await node.kill();
  }
}, 120_000);

/** Counts a flag up; notes the last number that was acknowledged. */
async function writeUntilDead(
  node: NodeProcess,
  flag: string,
  acknowledged: Map<string, number>,
): Promise<void> {
  const management = new Management(node);
  for (let value = (acknowledged.get(flag) ?? 0) + 1; ; value += 1) {
    try {
      await management.putState('demo', 'production', flag, { enabled: true, value });
    } catch {
      // The node is dead: this write was not acknowledged, and either outcome is right.
      return;
    }
    acknowledged.set(flag, value);
  }
}

async function expectAllThere(node: NodeProcess, acknowledged: ReadonlyMap<string, number>): Promise<void> {
  const { flags } = await new Management(node).states('demo', 'production');
  for (const [flag, value] of acknowledged) {
    const stored = flags.find(({ key }) => key === flag)?.state.value;
    // The write in flight may be there as well; it is the next number.
    expect([value, value + 1]).toContain(Number(stored));
  }
}
