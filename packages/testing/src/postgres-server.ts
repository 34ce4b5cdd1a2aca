import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { lastingPort } from './lasting-port.ts';
import { handOver, postgresBinaries, RUN_AS } from './postgres-binaries.ts';
import { isAlive, killTree } from './processes.ts';
import { until } from './waiting.ts';

/** How to run the server. */
export interface PostgresOptions {
  /** `disk` (default) flushes every commit as in production; `none` never flushes, for tests that need speed only. */
  readonly flush?: 'disk' | 'none';
  /** Settings of `postgresql.conf` beyond those of the tests. */
  readonly settings?: Readonly<Record<string, string>>;
}

/** `fast` closes every session and writes all down; `immediate` drops everything and leaves recovery to the start. */
export type StopMode = 'fast' | 'immediate';

/** Many connections for many test files, little memory for a shared machine. */
const SETTINGS = { listen_addresses: '127.0.0.1', max_connections: '200', shared_buffers: '16MB' };

/** How long the server may take to start or stop on a busy machine. */
const PATIENCE_MS = 120_000;

/** Starts a real PostgreSQL with a new data folder on a free loopback port. It cannot outlive this process. */
export async function startPostgres(options: PostgresOptions = {}): Promise<PostgresServer> {
  const home = makeHome();
  const password = crypto.randomUUID();
  const flush = options.flush === 'none' ? { fsync: 'off', full_page_writes: 'off' } : {};
  const server = new PostgresServer(home, password, { ...flush, ...options.settings });
  return launch(server, () => initialise(home, password));
}

/** A running PostgreSQL, to be stopped, crashed and started at will. */
export class PostgresServer implements AsyncDisposable {
  readonly #home: string;
  readonly #password: string;
  readonly #settings: Readonly<Record<string, string>>;
  readonly #watchdog: Bun.Subprocess<'pipe', 'ignore', 'ignore'>;
  /** Free when it was chosen; once the server has run there, it comes back there. */
  #port = lastingPort();
  #hasRun = false;
  #process: Bun.Subprocess | undefined;
  #databases = 0;

  /** Use {@link startPostgres}. */
  constructor(home: string, password: string, settings: Readonly<Record<string, string>>) {
    this.#home = home;
    this.#password = password;
    this.#settings = settings;
    this.#watchdog = guardServer(home);
  }

  /** The process id of the running server. Its sessions are children of that process. */
  get pid(): number {
    if (this.#process === undefined) throw new Error('the server does not run');
    return this.#process.pid;
  }

  /** Where it listens on 127.0.0.1. */
  get port(): number {
    return this.#port;
  }

  /** The connection URL of a database, by default the one every server has. */
  url(database = 'postgres'): string {
    return `postgres://postgres:${this.#password}@127.0.0.1:${this.port}/${database}`;
  }

  /** Creates an empty database, or a copy of the one at `template`, which must have no sessions, and returns its URL. */
  async createDatabase(template: string = this.url('template1')): Promise<string> {
    this.#databases += 1;
    const name = `test_${this.#databases}`;
    const copied = new URL(template).pathname.slice(1);
    // As files, not page by page through the WAL: without flushing, that takes an eighth of the time.
    const strategy = this.#settings.fsync === 'off' ? 'FILE_COPY' : 'WAL_LOG';
    await this.query(`CREATE DATABASE ${name} TEMPLATE ${copied} STRATEGY ${strategy}`);
    return this.url(name);
  }

  /** Runs SQL as superuser, in the database every server has or in that of `url`, and returns its rows. */
  async query<Row = Record<string, unknown>>(sql: string, url: string = this.url()): Promise<Row[]> {
    const client = new Bun.SQL(url, { max: 1 });
    try {
      return [...(await client.unsafe<Row[]>(sql))];
    } finally {
      await client.close();
    }
  }

  /** Starts the stopped server on the same port and waits until it accepts connections, recovery included. */
  async start(): Promise<void> {
    if (this.#process !== undefined) return;
    for (let attempts = 1; ; attempts++) {
      try {
        await this.#launch();
        this.#hasRun = true;
        return;
      } catch (error) {
        // Another process may have asked for a free port at the same moment.
        const isTaken = String(error).includes('Address already in use');
        if (!isTaken || this.#hasRun || attempts === 5) throw error;
        this.#port = lastingPort();
      }
    }
  }

  async #launch(): Promise<void> {
    const own = { port: String(this.port), unix_socket_directories: this.#home };
    const settings = { ...SETTINGS, ...own, ...this.#settings };
    const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
    const log = Bun.file(join(this.#home, 'log'));
    this.#process = Bun.spawn(
      [join(await postgresBinaries(), 'postgres'), '-D', join(this.#home, 'data'), ...flags],
      {
        ...RUN_AS,
        cwd: this.#home,
        stdin: 'ignore',
        stdout: 'ignore',
        stderr: log,
      },
    );
    this.#process.unref();
    await this.#untilReady(this.#process);
  }

  /** Stops the server and waits until it has. Safe to call twice. */
  async stop(mode: StopMode): Promise<void> {
    const child = this.#process;
    this.#process = undefined;
    if (child === undefined) return;
    child.kill(mode === 'fast' ? 'SIGINT' : 'SIGQUIT');
    await child.exited;
  }

  /** Stops and starts it. */
  async restart(mode: StopMode): Promise<void> {
    await this.stop(mode);
    await this.start();
  }

  /** Kills every process of the server at once, as a crash would. `start` then recovers. */
  async kill9(): Promise<void> {
    const child = this.#process;
    this.#process = undefined;
    if (child === undefined) return;
    await killTree(child.pid);
    await child.exited;
    // The id in it may soon belong to another process.
    rmSync(this.#pidFile, { force: true });
  }

  /**
   * Starts a hot standby of this server, which follows it until it is closed. This server restarts for the copy.
   * Close the standby first.
   */
  async startStandby(): Promise<PostgresServer> {
    const home = makeHome();
    return launch(new PostgresServer(home, this.#password, this.#settings), () => this.#copyTo(home));
  }

  /** Waits until this standby has everything that `primary` has committed. */
  async untilCaughtUpWith(primary: PostgresServer): Promise<void> {
    const [row] = await primary.query<{ lsn: string }>('SELECT pg_current_wal_lsn()::text AS lsn');
    const text = `SELECT pg_last_wal_replay_lsn() >= '${row?.lsn}'::pg_lsn AS "isThere"`;
    await until('the standby has caught up', async () => {
      const [state] = await this.query<{ isThere: boolean }>(text);
      return state?.isThere === true;
    });
  }

  /** The value of a setting. */
  async setting(name: string): Promise<string> {
    const [row] = await this.query<{ value: string }>(`SELECT current_setting('${name}') AS value`);
    return row?.value ?? '';
  }

  /** Changes a setting of the running server, one that was not named at the start. */
  async set(name: string, value: string): Promise<void> {
    await this.query(`ALTER SYSTEM SET ${name} = '${value}'`);
    await this.query('SELECT pg_reload_conf()');
  }

  /** Makes a primary of this standby, and waits until it takes writes. */
  async promote(): Promise<void> {
    await this.query('SELECT pg_promote()');
  }

  /** Makes a standby of this server, with a new copy of `primary`, which restarts for the copy. Its own data is dropped. */
  async becomeStandbyOf(primary: PostgresServer): Promise<void> {
    await this.stop('immediate');
    rmSync(join(this.#home, 'data'), { recursive: true, force: true });
    await primary.#copyTo(this.#home);
    await this.start();
  }

  /** Stops the server and removes its folder. Safe to call twice. */
  async close(): Promise<void> {
    await this.stop('immediate');
    // Without its pipe the watchdog removes the folder and ends.
    await this.#watchdog.stdin.end();
    await this.#watchdog.exited;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #copyTo(home: string): Promise<void> {
    await this.stop('fast');
    cpSync(join(this.#home, 'data'), join(home, 'data'), { recursive: true, preserveTimestamps: true });
    writeFileSync(join(home, 'data/standby.signal'), '');
    const primary = `host=127.0.0.1 port=${this.port} user=postgres password=${this.#password}`;
    appendFileSync(join(home, 'data/postgresql.auto.conf'), `primary_conninfo = '${primary}'\n`);
    if (RUN_AS.uid !== undefined) await Bun.$`chown -R ${RUN_AS.uid}:${RUN_AS.gid} ${home}`.quiet();
    await this.start();
  }

  get #pidFile(): string {
    return join(this.#home, 'data/postmaster.pid');
  }

  /** As `pg_ctl` does it: the server writes into its pid file when it is ready. */
  async #untilReady(child: Bun.Subprocess): Promise<void> {
    const deadline = performance.now() + PATIENCE_MS;
    while (!this.#isReady(child.pid)) {
      const exited = child.exitCode !== null || child.signalCode !== null;
      if (exited || performance.now() > deadline) {
        this.#process = undefined;
        if (!exited) child.kill('SIGKILL');
        const log = readFileSync(join(this.#home, 'log'), 'utf8').slice(-4_000);
        throw new Error(`PostgreSQL did not start:\n${log}`);
      }
      await Bun.sleep(10);
    }
  }

  #isReady(pid: number): boolean {
    if (!existsSync(this.#pidFile)) return false;
    const lines = readFileSync(this.#pidFile, 'utf8').split('\n');
    return Number(lines[0]) === pid && lines[7]?.trim() === 'ready' && isAlive(pid);
  }
}

/** Fills the server's data folder and starts it; a server that cannot start leaves nothing. */
async function launch(server: PostgresServer, fill: () => Promise<void>): Promise<PostgresServer> {
  try {
    await fill();
    await server.start();
    return server;
  } catch (error) {
    await server.close();
    throw error;
  }
}

/** Only the watchdog removes it: it needs it to find the process to end. */
function makeHome(): string {
  const path = mkdtempSync(join(tmpdir(), 'halyard-postgres-'));
  handOver(path);
  return path;
}

async function initialise(home: string, password: string): Promise<void> {
  const passwordFile = join(home, 'password');
  writeFileSync(passwordFile, password);
  handOver(passwordFile);
  const child = Bun.spawn(
    [
      join(await postgresBinaries(), 'initdb'),
      ...['-D', join(home, 'data'), '-U', 'postgres', '--pwfile', passwordFile, '--auth', 'scram-sha-256'],
      ...['--encoding', 'UTF8', '--locale', 'C', '--no-sync'],
    ],
    { ...RUN_AS, cwd: home, stdout: 'ignore', stderr: 'pipe' },
  );
  const problems = await new Response(child.stderr).text();
  if ((await child.exited) !== 0) throw new Error(`initdb failed:\n${problems}`);
}

/**
 * Ends the server of the folder `data` in `home`, and removes `home`, when this process ends in whatever way, SIGKILL included: the shell waits on
 * a pipe that only this process holds. It ignores Ctrl-C, which reaches the whole group.
 */
export function guardServer(home: string): Bun.Subprocess<'pipe', 'ignore', 'ignore'> {
  const script = `trap "" INT TERM HUP
    cat > /dev/null
    file="$1/data/postmaster.pid"
    if read -r pid < "$file" && kill -QUIT "$pid"; then
      for turn in 1 2 3 4 5 6 7 8 9 10; do [ -e "$file" ] && sleep 0.$turn; done
      [ -e "$file" ] && kill -KILL "$pid"
    fi
    rm -rf "$1"`;
  const shell = Bun.spawn(['/bin/sh', '-c', script, 'watchdog', home], {
    stdin: 'pipe',
    stdout: 'ignore',
    stderr: 'ignore',
  });
  shell.unref();
  return shell;
}
