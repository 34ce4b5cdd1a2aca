import { type PostgresServer, startPostgres, until } from '@halyard/testing';

/**
 * Two PostgreSQL servers, of which one is the primary and the other its synchronous standby: what the primary
 * acknowledges is on both.
 */
export class ServerPair {
  #primary: PostgresServer;
  #standby: PostgresServer;

  private constructor(primary: PostgresServer, standby: PostgresServer) {
    this.#primary = primary;
    this.#standby = standby;
  }

  /** Starts both. */
  static async start(): Promise<ServerPair> {
    // A standby that lost its primary tries again soon: commits wait for it.
    const primary = await startPostgres({ settings: { wal_retrieve_retry_interval: '200ms' } });
    const pair = new ServerPair(primary, await primary.startStandby());
    await pair.#synchronize();
    return pair;
  }

  /** The server that takes writes. */
  get primary(): PostgresServer {
    return this.#primary;
  }

  /** The other one. */
  get standby(): PostgresServer {
    return this.#standby;
  }

  /** An address of both servers, for a database of the primary. */
  addressOf(databaseUrl: string): string {
    const hosts = [this.#primary, this.#standby].map(({ port }) => `127.0.0.1:${port}`);
    return databaseUrl.replace(new URL(databaseUrl).host, hosts.join(','));
  }

  /** Kills the primary, promotes the standby after a while, and makes a standby of the one that was killed. */
  async failOver(pauseMs: number): Promise<void> {
    await this.#primary.kill9();
    await Bun.sleep(pauseMs);
    await this.#standby.promote();
    [this.#primary, this.#standby] = [this.#standby, this.#primary];
    await this.#standby.becomeStandbyOf(this.#primary);
    await this.#synchronize();
  }

  /** Ends both. */
  async close(): Promise<void> {
    await this.#standby.close();
    await this.#primary.close();
  }

  /** From now on no write is acknowledged that the standby does not have. */
  async #synchronize(): Promise<void> {
    await this.#primary.set('synchronous_standby_names', '*');
    await until('the standby is synchronous', async () => {
      const rows = await this.#primary.query<{ state: string }>(
        'SELECT sync_state AS state FROM pg_stat_replication',
      );
      return rows.some(({ state }) => state === 'sync');
    });
  }
}
