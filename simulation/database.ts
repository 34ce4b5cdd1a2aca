import type {
  ChangeKind,
  ChangePayload,
  CommittedRows,
  Cursor,
  LogHead,
  LogPage,
  LogRow,
  Snapshot,
} from '../packages/server/src/domain/change-log.ts';
import { StoreOutage } from '../packages/server/src/domain/errors.ts';
import { DELETED_MARK } from '../packages/server/src/domain/project.ts';
import type { Chance } from './chance.ts';
import type { Kernel, Owner } from './kernel.ts';
import type { Truth } from './truth.ts';

/** How far a new epoch raises the revisions, as the product does. */
const REVISION_LEAP = 100_000;

/** The tables, at one moment. Never changed: each commit makes others. */
export interface Tables {
  /** The ids of the projects whose clients report reads. */
  readonly usage: ReadonlySet<string>;
  readonly environments: ReadonlyMap<string, Snapshot['environments'][number]>;
  readonly states: ReadonlyMap<string, ReadonlyMap<string, string>>;
  readonly keys: ReadonlyMap<string, Snapshot['keys'][number]>;
  readonly relays: ReadonlyMap<string, Snapshot['relays'][number]>;
}

interface Commit {
  readonly row: LogRow;
  readonly after: Tables;
}

/** What a session of the model hears. */
export interface Listener {
  /** The process that has the session. */
  readonly owner: Owner;
  wake(): void;
  /** Its own process has committed these. */
  handOver(committed: CommittedRows): void;
  lose(cause: Error): void;
}

/** A database that keeps the log: the promises of PostgreSQL, and none of its parts. */
export class Database {
  readonly #kernel: Kernel;
  readonly #chance: Chance;
  readonly #truth: Truth;
  readonly #first: Tables = {
    usage: new Set(),
    environments: new Map(),
    states: new Map(),
    keys: new Map(),
    relays: new Map(),
  };
  #tables = this.#first;
  #commits: Commit[] = [];
  #pruned = 0;
  #epoch: string;
  #isUp = true;
  readonly listeners = new Set<Listener>();
  /** The probability that a wake-up gets lost. */
  wakeLoss = 0;
  /** How many rows one page has at most. */
  pageRows = 500;
  #base = 1;
  /** How often a new epoch has begun. */
  epochs = 0;
  /** How many wake-ups were lost. */
  wakesLost = 0;
  /** The tables after each row that ever was, by epoch and change id. */
  readonly #after = new Map<string, Tables>();

  constructor(kernel: Kernel, chance: Chance, truth: Truth) {
    this.#kernel = kernel;
    this.#chance = chance;
    this.#truth = truth;
    this.#epoch = chance.hex();
  }

  get isUp(): boolean {
    return this.#isUp;
  }

  get end(): Cursor {
    const last = this.#commits.at(-1);
    return { epoch: this.#epoch, seq: this.#commits.length, changeId: last?.row.changeId ?? '' };
  }

  /** The rows so far are never lost. */
  keepWhatIs(): void {
    this.#base = this.#commits.length;
  }

  /** Takes the server away: every session is lost, and none can be opened. */
  stop(): void {
    this.#isUp = false;
    this.loseSessions();
  }

  start(): void {
    this.#isUp = true;
  }

  loseSessions(): void {
    for (const listener of [...this.listeners])
      listener.lose(new StoreOutage('the connection was terminated'));
  }

  /** Forgets rows that every follower may need a snapshot for. */
  prune(keep: number): void {
    this.#pruned = Math.max(this.#pruned, this.#commits.length - keep);
  }

  /** Loses the newest rows, as a failover to a standby that was behind does. Returns how many. */
  lose(count: number): number {
    const kept = Math.max(this.#base, this.#pruned + 1, this.#commits.length - count);
    if (kept >= this.#commits.length) return 0;
    const lost = this.#commits.length - kept;
    this.#commits = this.#commits.slice(0, kept);
    this.#tables = this.#commits.at(-1)?.after ?? this.#first;
    this.#truth.cut(kept, this.#kernel.now);
    return lost;
  }

  createEnvironment(id: string, projectId: string, name: string): void {
    const revision = 0;
    this.#commit('environment.created', { projectId, environmentId: id }, { name, revision }, (tables) => ({
      ...tables,
      environments: new Map(tables.environments).set(id, { id, projectId, name, revision }),
    }));
    this.#truth.environments.set(id, { name, from: this.#kernel.now, until: Number.POSITIVE_INFINITY });
  }

  deleteEnvironment(id: string): void {
    const environment = this.#tables.environments.get(id);
    if (environment === undefined) return;
    const place = { projectId: environment.projectId, environmentId: id };
    this.#commit('environment.deleted', place, {}, (tables) => {
      const [environments, states] = [new Map(tables.environments), new Map(tables.states)];
      environments.delete(id);
      states.delete(id);
      const keys = new Map(
        [...tables.keys].map(([keyId, key]) => [
          keyId,
          key.projectId === place.projectId ? withoutEnvironment(key, environment.name) : key,
        ]),
      );
      return { ...tables, environments, states, keys };
    });
    const term = this.#truth.environments.get(id);
    if (term !== undefined) term.until = this.#kernel.now;
  }

  /** Creates a key of the environments that there are, which expires in `lifeMs`, if it does. */
  createKey(id: string, digest: string, projectId: string, lifeMs = Number.POSITIVE_INFINITY): void {
    const open = [...this.#tables.environments.values()].filter((each) => each.projectId === projectId);
    const environments = open.map(({ name }) => name);
    const expiry = Number.isFinite(lifeMs) ? { expiresAt: Math.floor(this.#kernel.wallMs() + lifeMs) } : {};
    const key = { id, projectId, digest, environments, expiresAt: null, revokedAt: null, ...expiry };
    this.#commit('key.created', { projectId }, { id, digest, environments, ...expiry }, (tables) => ({
      ...tables,
      keys: new Map(tables.keys).set(id, key),
    }));
    const { now } = this.#kernel;
    const opens = new Set(open.map((each) => each.id));
    this.#truth.keyCreated(id, this.#commits.length, { from: now, expiresAt: now + lifeMs, opens });
  }

  /** Asks the clients of a project to report reads, or no longer. */
  switchUsage(projectId: string): void {
    const usage = !this.#tables.usage.has(projectId);
    this.#commit('project.updated', { projectId }, { usage }, (tables) => {
      const ids = new Set(tables.usage);
      if (usage) ids.add(projectId);
      else ids.delete(projectId);
      return { ...tables, usage: ids };
    });
  }

  revokeKey(id: string): void {
    const key = this.#tables.keys.get(id);
    if (key === undefined) return;
    const digest = String(key.digest);
    this.#commit('key.revoked', { projectId: String(key.projectId) }, { id, digest }, (tables) => ({
      ...tables,
      keys: new Map(tables.keys).set(id, { ...key, revokedAt: 1 }),
    }));
    this.#truth.keyRevoked(id, this.#commits.length, this.#kernel.now);
  }

  createRelay(relay: Snapshot['relays'][number]): void {
    this.#commit('relay.created', { projectId: '' }, relay, (tables) => ({
      ...tables,
      relays: new Map(tables.relays).set(relay.id, relay),
    }));
  }

  /** Sets the counter of an environment, and another flag, to the id of the write. */
  write(environmentId: string, id: number): CommittedRows | undefined {
    const environment = this.#tables.environments.get(environmentId);
    if (environment === undefined) return undefined;
    const after = this.end;
    const state = JSON.stringify({ enabled: true, value: id });
    const operations = [
      ['counter', state],
      [`flag-${this.#chance.whole(0, 5)}`, this.#chance.happens(0.8) ? state : null],
    ] as const;
    const revision = environment.revision + 1;
    const flags = new Map(this.#tables.states.get(environmentId));
    for (const [key, text] of operations) {
      if (text === null) flags.delete(key);
      else flags.set(key, text);
    }
    const place = { projectId: environment.projectId, environmentId, revision };
    this.#commit('flags.changed', place, operations, (tables) => ({
      ...tables,
      environments: new Map(tables.environments).set(environmentId, { ...environment, revision }),
      states: new Map(tables.states).set(environmentId, flags),
    }));
    this.#truth.add({
      ...{ id, environmentId, environment: environment.name, revision, at: this.#kernel.now },
      seq: this.#commits.length,
      previous: this.#truth.newest(environmentId, this.#kernel.now)?.id,
      flags: Object.fromEntries([...flags].map(([key, text]) => [key, JSON.parse(text)])),
    });
    return { after, rows: this.#commits.slice(-1).map(({ row }) => row) };
  }

  /** The tables after a row, also after one that was lost later. */
  tablesAt({ epoch, changeId }: Cursor): Tables | undefined {
    return this.#after.get(`${epoch} ${changeId}`);
  }

  environment(id: string): Snapshot['environments'][number] | undefined {
    return this.#tables.environments.get(id);
  }

  environments(): Iterable<Snapshot['environments'][number]> {
    return this.#tables.environments.values();
  }

  snapshot(): Snapshot {
    const { usage, environments, states, keys, relays } = this.#tables;
    return {
      cursor: this.end,
      projects: [{ id: 'p1', name: 'shop', ...(usage.has('p1') && { usage: true }) }],
      environments: [...environments.values()],
      states: [...states].flatMap(([environmentId, flags]) =>
        [...flags].map(([flagKey, state]) => ({ environmentId, flagKey, state })),
      ),
      keys: [...keys.values()],
      relays: [...relays.values()],
    };
  }

  head(seq: number | undefined): LogHead {
    const { epoch, seq: end } = this.end;
    const changeId = seq === undefined ? undefined : this.#idAt(seq);
    return { epoch, seq: end, pushed: true, ...(changeId === undefined ? {} : { changeId }) };
  }

  read(afterSeq: number): LogPage {
    const from = Math.max(afterSeq, this.#pruned);
    const rows = this.#commits.slice(from, from + this.pageRows).map(({ row }) => row);
    const afterId = this.#idAt(afterSeq);
    return {
      rows,
      isLast: rows.length < this.pageRows,
      ...(rows.length === 0 ? {} : { epoch: this.#epoch }),
      ...(afterId === undefined || afterSeq === 0 || rows.length === 0 ? {} : { afterId }),
    };
  }

  /** Whether the row is in the log, or was and is pruned. */
  holds({ epoch, seq, changeId }: Cursor): boolean {
    if (epoch !== this.#epoch || seq > this.#commits.length) return false;
    const found = this.#idAt(seq);
    return found === undefined || found === changeId;
  }

  /** Begins a new epoch if the log of this one lacks the row. Returns whether it did. */
  beginEpochAfter(lost: Cursor): boolean {
    const found = this.#idAt(lost.seq);
    const isMissing =
      this.#epoch === lost.epoch &&
      (this.#commits.length < lost.seq || (found !== undefined && found !== lost.changeId));
    if (!isMissing) return false;
    this.#epoch = this.#chance.hex();
    this.epochs++;
    // It is durable: what is lost later are rows, and not the leap.
    this.#commits = this.#commits.map(({ row, after }) => ({ row, after: leapt(after) }));
    for (const { row, after } of this.#commits) this.#after.set(`${this.#epoch} ${row.changeId}`, after);
    this.#tables = leapt(this.#tables);
    for (const listener of [...this.listeners]) listener.wake();
    return true;
  }

  #idAt(seq: number): string | undefined {
    if (seq === 0) return '';
    return seq <= this.#pruned ? undefined : this.#commits[seq - 1]?.row.changeId;
  }

  #commit<Kind extends ChangeKind>(
    kind: Kind,
    place: Pick<LogRow, 'projectId' | 'environmentId' | 'revision'>,
    payload: ChangePayload[Kind],
    change: (tables: Tables) => Tables,
  ): void {
    this.#tables = change(this.#tables);
    const row: LogRow = {
      ...{ seq: this.#commits.length + 1, changeId: this.#chance.hex(), kind, ...place },
      ...{ payload: JSON.stringify(payload), actor: 'simulation', at: this.#kernel.wallMs() },
    };
    this.#commits.push({ row, after: this.#tables });
    this.#after.set(`${this.#epoch} ${row.changeId}`, this.#tables);
    for (const listener of [...this.listeners]) {
      if (this.#chance.happens(this.wakeLoss)) this.wakesLost++;
      else listener.wake();
    }
  }
}

function leapt(tables: Tables): Tables {
  const environments = new Map(
    [...tables.environments].map(([id, environment]) => [
      id,
      { ...environment, revision: environment.revision + REVISION_LEAP },
    ]),
  );
  return { ...tables, environments };
}

/** A key whose environment of that name is deleted: it does not open a later one. */
function withoutEnvironment(key: Snapshot['keys'][number], name: string): Snapshot['keys'][number] {
  const names = key.environments as readonly string[];
  return { ...key, environments: names.map((each) => (each === name ? `${name}${DELETED_MARK}` : each)) };
}
