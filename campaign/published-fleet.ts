import { startTcpProxy, TestObjectServer } from '@halyard/testing';
import type { Fleet } from './fleet-node.ts';

/** Starts nodes on PostgreSQL with these settings beside those of the fleet. */
type StartFleet = (
  names: undefined,
  workers: 1,
  remembering: [],
  settings: Readonly<Record<string, string>>,
) => Promise<Fleet>;

/** Nodes on PostgreSQL that publish to one storage, over a link that can fail. */
export async function startPublishedFleet(startFleet: StartFleet): Promise<Fleet> {
  const server = new TestObjectServer();
  const link = await startTcpProxy({ port: Number(new URL(server.publicUrl).port) });
  const close = async () => {
    await link.close();
    await server.stop();
  };

  const { accessKeyId, secretAccessKey } = server.options;
  const settings = {
    HALYARD_PUBLISH_URL: server.address,
    AWS_ENDPOINT: `http://127.0.0.1:${link.port}`,
    AWS_ACCESS_KEY_ID: accessKeyId,
    AWS_SECRET_ACCESS_KEY: secretAccessKey,
  };
  try {
    // No backup of it is restored: a storage that is ahead of its database is for a person to decide.
    const { database: _, ...fleet } = await startFleet(undefined, 1, [], settings);
    return {
      ...fleet,
      storage: { server, link },
      close: async () => {
        await fleet.close();
        await close();
      },
    };
  } catch (error) {
    await close();
    throw error;
  }
}
