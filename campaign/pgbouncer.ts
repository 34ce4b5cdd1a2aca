import { writeFileSync } from 'node:fs';
import { guardProcess, lastingPort, type PostgresServer, temporaryFolder, until } from '@halyard/testing';

/** The program, where it is installed: Debian's package `pgbouncer`. */
export const PGBOUNCER = Bun.which('pgbouncer', { PATH: `${process.env.PATH ?? ''}:/usr/sbin` });

/** A pooler in transaction mode in front of a PostgreSQL: `LISTEN` succeeds there and stays silent. */
export class PgBouncer {
  readonly #folder = temporaryFolder();
  readonly #port = lastingPort();
  #child: Bun.Subprocess | undefined;

  constructor(server: PostgresServer) {
    const { username, password } = new URL(server.url());
    writeFileSync(
      this.#folder.file('pgbouncer.ini'),
      `[databases]
* = host=127.0.0.1 port=${server.port} user=${username} password=${password}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${this.#port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = 8
server_login_retry = 1
`,
      { mode: 0o644 },
    );
  }

  /** The address of a database of the server, through the pooler. */
  addressOf(databaseUrl: string): string {
    const url = new URL(databaseUrl);
    url.port = String(this.#port);
    return url.href;
  }

  /** Starts it and waits until it takes connections. */
  async start(): Promise<void> {
    if (PGBOUNCER === null) throw new Error('pgbouncer is not installed');
    const asUser = process.getuid?.() === 0 ? ['-u', 'nobody'] : [];
    const child = Bun.spawn([PGBOUNCER, '-q', ...asUser, this.#folder.file('pgbouncer.ini')], {
      stdin: 'ignore',
      stdout: 'ignore',
      stderr: 'ignore',
    });
    const guard = guardProcess(child.pid);
    void child.exited.then(() => guard.release());
    this.#child = child;
    await until('the pooler listens', async () => {
      if (child.exitCode !== null) throw new Error('pgbouncer did not start');
      return await Bun.connect({ hostname: '127.0.0.1', port: this.#port, socket: { data() {} } }).then(
        (socket) => {
          socket.end();
          return true;
        },
        () => false,
      );
    });
  }

  /** Ends it at once: every connection through it breaks. */
  async kill(): Promise<void> {
    this.#child?.kill('SIGKILL');
    await this.#child?.exited;
  }

  /** Ends it and removes its folder. */
  async close(): Promise<void> {
    await this.kill();
    this.#folder.remove();
  }
}
