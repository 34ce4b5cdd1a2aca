import { randomAdminToken, startNode, startPostgres, startTcpProxy } from '@halyard/testing';
import { type Fleet, FleetNode, STARTS_WITHIN_MS, startAll } from './fleet-node.ts';

/**
 * A primary and its asynchronous standby, both with PostgreSQL's own time limits, and a link between them that can fail. One
 * node follows the primary, two follow the standby and write to the primary.
 */
export async function startStandbyFleet(): Promise<Fleet> {
  const primary = await startPostgres();
  const standby = await primary.startStandby();
  const link = await startTcpProxy({ port: primary.port });
  const conninfo = await standby.setting('primary_conninfo');
  await standby.set(
    'primary_conninfo',
    conninfo.replace(/port=\d+/, `port=${link.port}`).replaceAll("'", "''"),
  );
  const adminToken = randomAdminToken();
  const databaseUrl = await primary.createDatabase();

  const nodes = await Promise.all(
    (['node-1', 'node-2', 'node-3'] as const).map(async (name) => {
      const followed = name === 'node-1' ? primary : standby;
      const proxy = await startTcpProxy({ port: followed.port });
      const follow = new URL(databaseUrl);
      follow.port = String(proxy.port);
      follow.searchParams.set('application_name', name);
      const start =
        name === 'node-1'
          ? { databaseUrl: follow.href }
          : { databaseUrl, env: { HALYARD_DATABASE_FOLLOW_URL: follow.href } };
      return new FleetNode(name, { proxy }, (until = 'ready') =>
        startNode({ ...start, adminToken, timeoutMs: STARTS_WITHIN_MS, until }),
      );
    }),
  );
  return await startAll({
    nodes,
    adminToken,
    postgres: primary,
    standby: { server: standby, link },
    close: async () => {
      await Promise.all(nodes.map((node) => node.close()));
      await link.close();
      await standby.close();
      await primary.close();
    },
  });
}
