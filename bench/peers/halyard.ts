import { Management, type NodeProcess, startNode } from '@halyard/testing';
import { changeRequest } from '../changes.ts';
import { ENVIRONMENT, flagKey, PROJECT } from '../fixture.ts';
import { pin } from '../machine.ts';
import { ONE, type PeerFlag } from './flags.ts';
import { expectRight, type Peer } from './peer.ts';

/** This repository's node, on SQLite. */
export const halyard: Peer = {
  name: 'Halyard',
  remark: 'key check (SHA-256), state as stored; whole maps keep their bytes',
  serves: ['rest', 'streams'],
  version: async () => 'this tree',
  start: async (machine, flags) => {
    const node = await startNode();
    try {
      await pin(machine, node.pid, 'server');
      const headers = await fill(node, flags);
      const read = (path: string) => ({ url: `${node.url}${path}?env=${ENVIRONMENT}`, headers });

      return {
        pids: [node.pid],
        one: {
          ...read(`/v1/flags/${flagKey(ONE)}`),
          check: (body) => {
            const { enabled, value } = JSON.parse(body) as { enabled: boolean; value: string };
            expectRight(enabled === true && value === flags[ONE]?.value, body.slice(0, 100));
            return 1;
          },
        },
        all: {
          ...read('/v1/flags'),
          check: (body) => {
            const shown = (JSON.parse(body) as { flags: Record<string, { enabled: boolean }> }).flags;
            const wrong = flags.find(({ key, enabled }) => shown[key]?.enabled !== enabled);
            expectRight(wrong === undefined, String(wrong?.key));
            return Object.keys(shown).length;
          },
        },
        stream: {
          ...read('/v1/stream'),
          opensWith: 'frame',
          change: (serial) => changeRequest(node, serial),
        },
        [Symbol.asyncDispose]: async () => void (await node.stop()),
      };
    } catch (error) {
      await node.stop();
      throw error;
    }
  },
};

async function fill(node: NodeProcess, flags: readonly PeerFlag[]): Promise<Record<string, string>> {
  const management = new Management(node);
  await management.createProject(PROJECT);
  const changes = flags.map(({ key, enabled, value }) => ({ key, state: { enabled, value } }));
  await management.change(PROJECT, ENVIRONMENT, changes);
  const { key } = await management.createKey(PROJECT, [ENVIRONMENT]);
  return { 'X-Service-Key': key };
}
