import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  guardProcess,
  guardServer,
  handOver,
  killTree,
  lastingPort,
  RUN_AS,
  startTcpProxy,
  type TcpProxy,
  until,
} from '@halyard/testing';

/** How long a member may take to be there again, on a machine that a campaign keeps busy. */
const RECOVERY_MS = 120_000;

/** The programs of a cluster. */
interface Programs {
  readonly patroni: string;
  readonly etcd: string;
  /** Folder of the programs of PostgreSQL, `pg_rewind` among them. */
  readonly postgres: string;
}

/** The programs, where they are installed: Debian's packages `patroni`, `etcd-server` and `postgresql`. */
export const PATRONI = findPrograms();

/** How the members of a {@link PatroniCluster} replicate. */
export type Replication = 'synchronous' | 'asynchronous';

/**
 * Three PostgreSQL servers that Patroni keeps: one takes writes, the others follow it, and etcd holds the lock of the one
 * that does. Nodes and members reach a member through proxies, so that it can be cut off from all of them.
 */
export class PatroniCluster {
  readonly #etcd: Etcd;
  readonly #members: readonly Member[];

  readonly #replication: Replication;

  private constructor(etcd: Etcd, members: readonly Member[], replication: Replication) {
    this.#etcd = etcd;
    this.#members = members;
    this.#replication = replication;
  }

  /** Starts etcd and three members, and waits until one takes writes and the others follow. */
  static async start(replication: Replication): Promise<PatroniCluster> {
    if (PATRONI === undefined) throw new Error('patroni, etcd or postgresql is not installed');
    const etcd = await Etcd.start(PATRONI);
    const password = crypto.randomUUID();
    const names = ['db-1', 'db-2', 'db-3'];
    const members = await Promise.all(
      names.map((name) => Member.create(name, { programs: PATRONI, etcd, password, replication })),
    );
    const cluster = new PatroniCluster(etcd, members, replication);
    try {
      for (const member of members) member.start();
      await cluster.#untilWhole();
    } catch (error) {
      await cluster.close();
      throw error;
    }
    return cluster;
  }

  /** Creates an empty database; the address names all members. */
  async createDatabase(): Promise<string> {
    const leader = await this.#leader();
    const client = new Bun.SQL(leader.url, { max: 1 });
    await client.unsafe('CREATE DATABASE halyard').finally(() => client.close());

    const url = new URL(leader.url);
    const hosts = this.#members.map(({ port }) => `127.0.0.1:${port}`).join(',');
    return leader.url.replace(url.host, hosts).replace(/postgres$/, 'halyard');
  }

  /** Hands the lock over to another member, as an operator does for maintenance. */
  async switchOver(): Promise<void> {
    let refusal = '';
    const ask = async () => {
      const leader = await this.#leader();
      const body = JSON.stringify({ leader: leader.name });
      const answer = await fetch(`${leader.api}/switchover`, { method: 'POST', body });
      refusal = answer.ok ? '' : await answer.text();
      return answer.ok;
    };

    // Patroni may know its synchronous standby a little later than the standby itself: an operator asks again.
    await until('Patroni switches over', ask, RECOVERY_MS).catch((cause) => {
      throw new Error(`Patroni refused: ${refusal}`, { cause });
    });
    await this.#untilWhole();
  }

  /** Kills the member that takes writes, Patroni and PostgreSQL, and starts it again after a while. */
  async killLeader(pauseMs: number): Promise<void> {
    const leader = await this.#leader();
    await leader.kill();
    await Bun.sleep(pauseMs);
    leader.start();
    await this.#untilWhole();
  }

  /** Kills PostgreSQL alone: Patroni hands the lock over. */
  async crashLeader(): Promise<void> {
    await (await this.#leader()).killPostgres();
    await this.#untilWhole();
  }

  /** Cuts the member that takes writes off from etcd, from the other members and from all nodes. */
  async isolateLeader(ms: number): Promise<void> {
    const leader = await this.#leader();
    leader.cutOff();
    await Bun.sleep(ms);
    leader.reconnect();
    await this.#untilWhole();
  }

  /** Ends everything and removes the data. */
  async close(): Promise<void> {
    await Promise.all(this.#members.map((member) => member.close()));
    await this.#etcd.close();
  }

  /** The member that takes writes, once there is one. */
  async #leader(): Promise<Member> {
    let leader: Member | undefined;
    const look = async () => {
      const roles = await Promise.all(this.#members.map((member) => member.has('primary')));
      leader = this.#members[roles.indexOf(true)];
      return leader !== undefined;
    };
    await until('a member takes writes', look, RECOVERY_MS);
    if (leader === undefined) throw new Error('no member takes writes');
    return leader;
  }

  /** Until one member takes writes and all others follow it: the next fault finds a cluster that can stand it. */
  async #untilWhole(): Promise<void> {
    const count = async (role: string) =>
      (await Promise.all(this.#members.map((member) => member.has(role)))).filter(Boolean).length;
    const look = async () => {
      const isFollowed = (await count('replica?lag=1MB')) === this.#members.length - 1;
      const isSafe = this.#replication === 'asynchronous' || (await count('synchronous')) === 1;
      return isFollowed && isSafe && (await count('primary')) === 1;
    };

    await until('one member takes writes and the others follow it', look, RECOVERY_MS).catch((cause) => {
      const logs = this.#members.map((member) => `${member.name}:\n${member.troubles()}`);
      throw new Error(`the cluster is not whole\n${logs.join('\n')}`, { cause });
    });
  }
}

interface MemberOptions {
  readonly programs: Programs;
  readonly etcd: Etcd;
  readonly password: string;
  readonly replication: Replication;
}

/** What others reach a member through, and its way to etcd. */
interface Ways {
  readonly postgres: TcpProxy;
  readonly api: TcpProxy;
  readonly etcd: TcpProxy;
}

/** A PostgreSQL server and the Patroni that keeps it. */
class Member {
  readonly name: string;
  readonly #home = makeHome();
  readonly #guard = guardServer(this.#home);
  readonly #programs: Programs;
  readonly #password: string;
  readonly #ways: Ways;
  readonly #apiPort: number;
  #patroni: Bun.Subprocess | undefined;

  private constructor(name: string, options: MemberOptions, ways: Ways, apiPort: number) {
    this.name = name;
    this.#programs = options.programs;
    this.#password = options.password;
    this.#ways = ways;
    this.#apiPort = apiPort;
  }

  static async create(name: string, options: MemberOptions): Promise<Member> {
    const [postgresPort, apiPort] = [lastingPort(), lastingPort()];
    const [postgres, api, etcd] = await Promise.all([
      startTcpProxy({ port: postgresPort }),
      startTcpProxy({ port: apiPort }),
      startTcpProxy({ port: options.etcd.port }),
    ]);
    const member = new Member(name, options, { postgres, api, etcd }, apiPort);
    member.#configure(postgresPort, options.replication);
    return member;
  }

  /** The port of its PostgreSQL, for others. */
  get port(): number {
    return this.#ways.postgres.port;
  }

  get url(): string {
    return `postgres://postgres:${this.#password}@127.0.0.1:${this.port}/postgres`;
  }

  /** Its Patroni, as it answers on its own machine. */
  get api(): string {
    return `http://127.0.0.1:${this.#apiPort}`;
  }

  /** Whether Patroni says that it has this role. */
  async has(role: string): Promise<boolean> {
    try {
      const answer = await fetch(`${this.api}/${role}`, { signal: AbortSignal.timeout(2_000) });
      // Patroni logs a page of Python for a connection that ends before its answer.
      await answer.text();
      return answer.ok;
    } catch {
      return false;
    }
  }

  start(): void {
    const child = Bun.spawn([this.#programs.patroni, join(this.#home, 'patroni.json')], {
      ...RUN_AS,
      cwd: this.#home,
      env: { PATH: '/usr/bin:/bin', HOME: this.#home },
      stdin: 'ignore',
      stdout: 'ignore',
      stderr: Bun.file(join(this.#home, 'log')),
    });
    const guard = guardProcess(child.pid);
    void child.exited.then(() => guard.release());
    this.#patroni = child;
  }

  async kill(): Promise<void> {
    this.#patroni?.kill('SIGKILL');
    await this.#patroni?.exited;
    await this.killPostgres();
  }

  async killPostgres(): Promise<void> {
    const file = join(this.#home, 'data/postmaster.pid');
    if (!existsSync(file)) return;
    await killTree(Number.parseInt(readFileSync(file, 'utf8'), 10));
  }

  cutOff(): void {
    for (const way of Object.values(this.#ways)) way.blackhole();
  }

  reconnect(): void {
    for (const way of Object.values(this.#ways)) way.restore();
  }

  /** The last lines of its log in which something is not as it should be. */
  troubles(): string {
    const file = join(this.#home, 'log');
    const lines = existsSync(file) ? readFileSync(file, 'utf8').split('\n') : [];
    return lines
      .filter((line) => /FATAL|ERROR|WARNING|LOG: /.test(line))
      .slice(-15)
      .join('\n');
  }

  async close(): Promise<void> {
    await this.kill();
    await Promise.all(Object.values(this.#ways).map((way) => way.close()));
    await this.#guard.stdin.end();
    await this.#guard.exited;
  }

  /** Times are the shortest that Patroni takes: the lock is free 20 s after its holder was last heard. */
  #configure(postgresPort: number, replication: Replication): void {
    const login = (username: string) => ({ username, password: this.#password });
    const shared = {
      ttl: 20,
      loop_wait: 1,
      retry_timeout: 3,
      primary_start_timeout: 0,
      synchronous_mode: replication === 'synchronous',
      postgresql: {
        use_pg_rewind: true,
        remove_data_directory_on_rewind_failure: true,
        remove_data_directory_on_diverged_timelines: true,
        parameters: {
          max_connections: 100,
          shared_buffers: '16MB',
          wal_log_hints: 'on',
          wal_sender_timeout: '5s',
          wal_receiver_timeout: '5s',
          wal_retrieve_retry_interval: '500ms',
        },
      },
    };

    const config = {
      scope: 'halyard',
      name: this.name,
      restapi: {
        listen: `127.0.0.1:${this.#apiPort}`,
        connect_address: `127.0.0.1:${this.#ways.api.port}`,
      },
      etcd3: { hosts: `127.0.0.1:${this.#ways.etcd.port}`, use_proxies: true },
      bootstrap: {
        dcs: shared,
        initdb: [{ encoding: 'UTF8' }, { locale: 'C' }],
        pg_hba: [
          'host all all 127.0.0.1/32 scram-sha-256',
          'host replication all 127.0.0.1/32 scram-sha-256',
        ],
      },
      postgresql: {
        listen: `127.0.0.1:${postgresPort}`,
        connect_address: `127.0.0.1:${this.port}`,
        data_dir: join(this.#home, 'data'),
        bin_dir: this.#programs.postgres,
        pgpass: join(this.#home, 'pgpass'),
        authentication: {
          superuser: login('postgres'),
          replication: login('replicator'),
          rewind: login('rewinder'),
        },
        parameters: { unix_socket_directories: this.#home },
      },
    };

    const file = join(this.#home, 'patroni.json');
    writeFileSync(file, JSON.stringify(config));
    handOver(file);
  }
}

/** The store of the lock. One is enough: losing it is the business of etcd. */
class Etcd {
  readonly port: number;
  readonly #child: Bun.Subprocess;
  readonly #home: string;

  private constructor(child: Bun.Subprocess, port: number, home: string) {
    this.#child = child;
    this.port = port;
    this.#home = home;
  }

  static async start({ etcd }: Programs): Promise<Etcd> {
    const home = makeHome();
    const [port, peerPort] = [lastingPort(), lastingPort()];
    const [client, peer] = [port, peerPort].map((each) => `http://127.0.0.1:${each}`);
    const child = Bun.spawn(
      [
        ...[etcd, '--data-dir', join(home, 'etcd'), '--unsafe-no-fsync', '--log-level', 'error'],
        ...['--listen-client-urls', `${client}`, '--advertise-client-urls', `${client}`],
        ...['--listen-peer-urls', `${peer}`, '--initial-advertise-peer-urls', `${peer}`],
        ...['--initial-cluster', `default=${peer}`],
      ],
      { ...RUN_AS, cwd: home, env: {}, stdin: 'ignore', stdout: 'ignore', stderr: 'ignore' },
    );
    const guard = guardProcess(child.pid);
    void child.exited.then(() => guard.release());
    await until('etcd answers', async () => {
      if (child.exitCode !== null) throw new Error('etcd did not start');
      return await fetch(`${client}/health`).then(
        ({ ok }) => ok,
        () => false,
      );
    });
    return new Etcd(child, port, home);
  }

  async close(): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.#child.exited;
    rmSync(this.#home, { recursive: true, force: true });
  }
}

function makeHome(): string {
  const path = mkdtempSync(join(tmpdir(), 'halyard-patroni-'));
  handOver(path);
  return path;
}

function findPrograms(): Programs | undefined {
  const [patroni, etcd] = [Bun.which('patroni'), Bun.which('etcd')];
  const root = '/usr/lib/postgresql';
  const newest = existsSync(root) ? readdirSync(root).sort().at(-1) : undefined;
  if (patroni === null || etcd === null || newest === undefined) return undefined;
  return { patroni, etcd, postgres: join(root, newest, 'bin') };
}
