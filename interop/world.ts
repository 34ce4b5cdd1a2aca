import { Management, startNode } from '@halyard/testing';
import { FLAGS, WRITTEN_AS_FLOAT } from './cases.ts';

/** A node with the project `interop`, whose environment `production` has the flags of the cases. */
export interface World extends AsyncDisposable {
  /** The node's address. */
  readonly url: string;
  /** The base address of `production`, as providers take it. */
  readonly base: string;
  /** A key of `development` and `production`. */
  readonly key: string;
  /** A key of `production` only. */
  readonly keyOfOne: string;
  readonly management: Management;
  /** Writes a state to `production` from JSON text, so that its notation is the caller's. */
  readonly write: (flagKey: string, state: string) => Promise<void>;
}

/** Starts a node and fills it. Disposing of the world stops it. */
export async function openWorld(): Promise<World> {
  const node = await startNode();
  const management = new Management(node);
  await management.createProject('interop');
  await management.change('interop', 'production', FLAGS);
  const write = async (flagKey: string, state: string) => {
    const answer = await fetch(`${node.url}/api/projects/interop/environments/production/flags/${flagKey}`, {
      method: 'PUT',
      headers: { Authorization: `Bearer ${node.adminToken}`, 'Content-Type': 'application/json' },
      body: state,
    });
    if (!answer.ok) throw new Error(await answer.text());
  };
  await write(WRITTEN_AS_FLOAT.key, WRITTEN_AS_FLOAT.state);
  const { key } = await management.createKey('interop', ['development', 'production']);
  const { key: keyOfOne } = await management.createKey('interop', ['production']);
  return {
    url: node.url,
    base: `${node.url}/environments/production`,
    key,
    keyOfOne,
    management,
    write,
    [Symbol.asyncDispose]: async () => {
      await node.stop();
    },
  };
}
