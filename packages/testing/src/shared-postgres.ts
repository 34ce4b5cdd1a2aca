import { type PostgresServer, startPostgres } from './postgres-server.ts';

let server: Promise<PostgresServer> | undefined;

/**
 * One PostgreSQL for all test files of a run (they share one process), started by the first that asks and ended with
 * the process. It does not flush to disk. Make a database of your own in it; tests that stop or crash the server
 * start one of their own.
 */
export function sharedPostgres(): Promise<PostgresServer> {
  server ??= startPostgres({ flush: 'none' }).catch((error: unknown) => {
    // One that was too slow on a busy machine fails the test that waited for it, and not all that follow.
    server = undefined;
    throw error;
  });
  return server;
}
