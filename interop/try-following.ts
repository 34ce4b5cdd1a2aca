import {
  lastingPort,
  Management,
  type NodeProcess,
  randomAdminToken,
  startNode,
  temporaryFolder,
  within,
} from '@halyard/testing';
import type { ProviderProgram, WatchedFlag } from './protocol.ts';

/** The flag that programs follow. */
const KEY = 'followed';

/** How many changes are timed. */
const CHANGES = 10;

/** How a program fared that follows a flag. */
export interface Following {
  /** A sentence for each failed trial. */
  readonly failures: readonly string[];
  /** From the acknowledgment of a change to the program's line about it, in milliseconds: the median, and the slowest. */
  readonly delaysMs: readonly [median: number, slowest: number];
}

/** A node, a relay that follows it, and a key. */
interface Pair extends AsyncDisposable {
  node: NodeProcess;
  readonly relay: NodeProcess;
  readonly key: string;
  readonly management: Management;
  /** Starts the node again where it was, after it was killed. */
  readonly restart: () => Promise<void>;
}

/** Follows a flag with a program: on a node, through a relay, and on a node that is killed and comes back. */
export async function tryFollowing(program: ProviderProgram): Promise<Following> {
  await using pair = await openPair();
  const { management, key } = pair;
  const headers = { 'X-API-Key': key };
  const failures: string[] = [];
  const delays: number[] = [];
  const seen: WatchedFlag[] = [];
  let value = 0;
  let look = () => {};

  const follow = async (url: string) => {
    await program.connect(`${url}/environments/production`, headers);
    seen.length = 0;
    await program.watch(KEY, (flag) => {
      seen.push(flag);
      look();
    });
  };
  /** Changes the flag, and waits until the program has said so. Gives the milliseconds that took. */
  const change = async () => {
    const wanted = ++value;
    const { environmentRevision } = await management.putState('following', 'production', KEY, {
      enabled: true,
      value: wanted,
    });
    const from = performance.now();
    const { promise, resolve } = Promise.withResolvers<void>();
    look = () => {
      if (seen.some((flag) => flag.value === wanted && flag.revision >= environmentRevision)) resolve();
    };
    look();
    await within(`the program says ${wanted}`, promise, 45_000);
    return performance.now() - from;
  };
  const attempt = async (name: string, work: () => Promise<void>) => {
    await work().catch((error: unknown) =>
      failures.push(`${name}: ${error}; it said ${JSON.stringify(seen)}`),
    );
  };

  await attempt('a change on a node', async () => {
    await follow(pair.node.url);
    for (let count = 0; count < CHANGES; count++) delays.push(await change());
  });
  await attempt('a change through a relay', async () => {
    await follow(pair.relay.url);
    await change();
  });
  await attempt('a node that is killed and comes back', async () => {
    await follow(pair.node.url);
    await pair.node.kill();
    const answer = await program.evaluate({ type: 'integer', key: KEY, default: -1, targetingKey: 'user-1' });
    if (answer.value !== value) throw new Error(`without its node it read ${JSON.stringify(answer)}`);
    await pair.restart();
    await change();
  });

  const inOrder = delays.toSorted((a, b) => a - b);
  return { failures, delaysMs: [inOrder[inOrder.length >> 1] ?? 0, inOrder.at(-1) ?? 0] };
}

async function openPair(): Promise<Pair> {
  const folder = temporaryFolder();
  const adminToken = randomAdminToken();
  const options = {
    dataFolder: folder.path,
    adminToken,
    arguments: ['--port', String(lastingPort())],
  };
  const node = await startNode(options);
  const management = new Management(node);
  await management.createProject('following');
  await management.putState('following', 'production', KEY, { enabled: true, value: 0 });
  const { key } = await management.createKey('following', ['production']);
  const { token } = await management.createRelayToken('interop');
  const relay = await startNode({ relay: { upstream: node.url, token } });

  const pair: Pair = {
    node,
    relay,
    key,
    management,
    restart: async () => {
      pair.node = await startNode(options);
    },
    [Symbol.asyncDispose]: async () => {
      await relay.kill();
      await pair.node.kill();
      folder.remove();
    },
  };
  return pair;
}
