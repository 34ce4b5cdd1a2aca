import { type PostgresServer, sharedPostgres, startTcpProxy } from '@halyard/testing';
import { migrate } from '../schema.ts';
import { SqlStore } from '../store.ts';
import { migratedPlace } from '../test-engines.ts';
import { seed } from '../test-records.ts';
import { openPostgres } from './postgres.ts';

/** A fresh database of the server, or of the shared one, with a project in it, reached through a proxy that can fail. */
export async function openHome(own?: PostgresServer) {
  const server = own ?? (await sharedPostgres());
  const url = await server.createDatabase(own === undefined ? await migratedPlace('postgres') : undefined);
  const proxy = await startTcpProxy({ port: server.port });
  const proxied = new URL(url);
  proxied.port = String(proxy.port);
  const direct = await openPostgres({ url });
  await migrate(direct);
  const seeded = await seed(new SqlStore(direct));
  const database = await openPostgres({ url: proxied.href, poolSize: 3 });
  const close = async () => {
    await Promise.all([database.close(), direct.close()]);
    await proxy.close();
  };
  return {
    url,
    proxy,
    direct,
    database,
    store: new SqlStore(database),
    ...seeded,
    [Symbol.asyncDispose]: close,
  };
}
