import type {
  ChangeKind,
  ChangePayload,
  CommittedRows,
  Cursor,
  LogRow,
  Snapshot,
} from '../packages/server/src/domain/change-log.ts';
import { epochAfter, leapBetween, precedes } from '../packages/server/src/domain/epoch.ts';
import { StoreOutage } from '../packages/server/src/domain/errors.ts';
import { DELETED_MARK } from '../packages/server/src/domain/project.ts';
import type { Chance } from './chance.ts';
import type { Kernel, Owner } from './kernel.ts';
import { type Commit, LogCopy, type Tables } from './log-copy.ts';
import type { Standby } from './standby.ts';
import type { Truth } from './truth.ts';

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
  readonly listeners = new Set<Listener>();
  readonly standbys: Standby[] = [];
  /** The probability that a wake-up gets lost. */
  wakeLoss = 0;
  /** How many rows one page has at most. */
  pageRows = 500;
  /** When it was away, or its sessions or rows were lost, for the last time. */
  troubledAt = Number.NEGATIVE_INFINITY;
  /** How often a new epoch has begun, and how often the beginning of one was lost. */
  epochs = 0;
  epochsLost = 0;
  /** The newest epoch whose beginning was lost. */
  #lostEpoch: string | undefined;
  /** How many wake-ups were lost. */
  wakesLost = 0;
  readonly #kernel: Kernel;
  readonly #chance: Chance;
  readonly #truth: Truth;
  #commits: Commit[] = [];
  #copy: LogCopy;
  #isUp = true;
  /** The rows up to here are never lost. */
  #base = 1;
  /** The last row that was before every loss. */
  #firstLoss = Number.POSITIVE_INFINITY;
  /** The log before each beginning of an epoch, up to the newest. */
  readonly #ended: { readonly epoch: string; readonly commits: readonly Commit[] }[] = [];
  /** The tables after each row that ever was, by epoch and change id. */
  readonly #after = new Map<string, Tables>();

  constructor(kernel: Kernel, chance: Chance, truth: Truth) {
    this.#kernel = kernel;
    this.#chance = chance;
    this.#truth = truth;
    this.#copy = new LogCopy(epochAfter([], chance.hex()), this.#commits, 0);
  }

  get isUp(): boolean {
    return this.#isUp;
  }

  /** The log as it is now. */
  get copy(): LogCopy {
    return this.#copy;
  }

  /** The rows so far are never lost. */
  keepWhatIs(): void {
    this.#base = this.#commits.length;
  }

  /** Takes the server away: every session is lost, and none can be opened. */
  stop(): void {
    this.#isUp = false;
    this.loseSessions();
    for (const standby of this.standbys) standby.disconnect();
  }

  start(): void {
    this.troubledAt = this.#kernel.now;
    this.#isUp = true;
    this.mark();
  }

  loseSessions(): void {
    this.troubledAt = this.#kernel.now;
    for (const listener of [...this.listeners])
      listener.lose(new StoreOutage('the connection was terminated'));
  }

  /** Forgets rows that every follower may need a snapshot for. The place of a loss stays: a month of rows is kept. */
  prune(keep: number): void {
    const { epoch, pruned, length } = this.#copy;
    this.#copy = new LogCopy(
      epoch,
      this.#commits,
      Math.max(pruned, Math.min(length - keep, this.#firstLoss)),
    );
  }

  /**
   * Loses the newest rows, as a failover to a standby that was behind does, and with a row the epochs that began after it. Returns how
   * many rows.
   */
  lose(count: number): number {
    const { pruned, length } = this.#copy;
    const kept = Math.max(this.#base, pruned + 1, length - count);
    if (kept >= length) return 0;
    this.troubledAt = this.#kernel.now;
    this.#firstLoss = Math.min(this.#firstLoss, kept);

    let { epoch } = this.#copy;
    for (let ended = this.#ended.at(-1); ended && ended.commits.length > kept; ended = this.#ended.at(-1)) {
      this.#lostEpoch = this.#lostEpoch && precedes(epoch, this.#lostEpoch) ? this.#lostEpoch : epoch;
      this.#commits = [...ended.commits];
      epoch = ended.epoch;
      this.epochsLost++;
      this.#ended.pop();
    }
    this.#commits = this.#commits.slice(0, kept);
    this.#copy = new LogCopy(epoch, this.#commits, pruned);
    this.#truth.cut(kept, this.#kernel.now);
    for (const standby of this.standbys) standby.cut(this.#copy, () => this.#copy);
    return length - kept;
  }

  /** Shows standbys that the primary is there and reaches them: a message in the log, which nothing reads. */
  mark(): void {
    if (!this.#isUp) return;
    for (const standby of this.standbys) standby.send(this.#copy, this.#kernel.wallMs());
  }

  createProject(id: string, name: string): void {
    this.#commit('project.created', { projectId: id }, { name }, (tables) => ({
      ...tables,
      projects: new Map(tables.projects).set(id, { id, name }),
    }));
  }

  /** Deletes a project with its environments and keys. */
  deleteProject(id: string): void {
    this.#commit('project.deleted', { projectId: id }, {}, (tables) => {
      const environments = new Map(without(tables.environments, ({ projectId }) => projectId === id));
      return {
        ...tables,
        projects: new Map(without(tables.projects, (project) => project.id === id)),
        environments,
        states: new Map([...tables.states].filter(([environmentId]) => environments.has(environmentId))),
        keys: new Map(without(tables.keys, ({ projectId }) => projectId === id)),
      };
    });
    this.#truth.projectDeleted(id, this.#commits.length, this.#kernel.now);
  }

  createEnvironment(id: string, projectId: string, name: string): void {
    const revision = 0;
    this.#commit('environment.created', { projectId, environmentId: id }, { name, revision }, (tables) => ({
      ...tables,
      environments: new Map(tables.environments).set(id, { id, projectId, name, revision }),
    }));
    const until = Number.POSITIVE_INFINITY;
    this.#truth.environments.set(id, { projectId, name, from: this.#kernel.now, until });
  }

  deleteEnvironment(id: string): void {
    const environment = this.environment(id);
    if (environment === undefined) return;
    const place = { projectId: environment.projectId, environmentId: id };
    this.#commit('environment.deleted', place, {}, (tables) => {
      const keys = [...tables.keys].map(([keyId, key]) => {
        const isOfIt = key.projectId === place.projectId;
        return [keyId, isOfIt ? withoutEnvironment(key, environment.name) : key] as const;
      });
      return {
        ...tables,
        environments: new Map(without(tables.environments, (each) => each.id === id)),
        states: new Map([...tables.states].filter(([environmentId]) => environmentId !== id)),
        keys: new Map(keys),
      };
    });
    const term = this.#truth.environments.get(id);
    if (term !== undefined) term.until = this.#kernel.now;
  }

  /** Creates a key of the environments that there are, which expires in `lifeMs`, if it does. */
  createKey(id: string, digest: string, projectId: string, lifeMs = Number.POSITIVE_INFINITY): void {
    const open = [...this.environments()].filter((each) => each.projectId === projectId);
    const environments = open.map(({ name }) => name);
    const expiry = Number.isFinite(lifeMs) ? { expiresAt: Math.floor(this.#kernel.wallMs() + lifeMs) } : {};
    const key = { id, projectId, digest, environments, expiresAt: null, revokedAt: null, ...expiry };
    this.#commit('key.created', { projectId }, { id, digest, environments, ...expiry }, (tables) => ({
      ...tables,
      keys: new Map(tables.keys).set(id, key),
    }));
    const { now } = this.#kernel;
    const opens = new Set(open.map((each) => each.id));
    this.#truth.keyCreated(id, this.#commits.length, {
      from: now,
      expiresAt: now + lifeMs,
      projectId,
      opens,
    });
  }

  revokeKey(id: string): void {
    const key = this.#copy.tables.keys.get(id);
    if (key === undefined) return;
    const digest = String(key.digest);
    this.#commit('key.revoked', { projectId: String(key.projectId) }, { id, digest }, (tables) => ({
      ...tables,
      keys: new Map(tables.keys).set(id, { ...key, revokedAt: 1 }),
    }));
    this.#truth.keyRevoked(id, this.#commits.length, this.#kernel.now);
  }

  /** Asks the clients of a project to report reads, or no longer. */
  switchUsage(id: string): void {
    const project = this.#copy.tables.projects.get(id);
    if (project === undefined) return;
    const usage = project.usage !== true;
    this.#commit('project.updated', { projectId: id }, { usage }, (tables) => ({
      ...tables,
      projects: new Map(tables.projects).set(id, { id, name: project.name, ...(usage && { usage }) }),
    }));
  }

  createRelay(relay: Snapshot['relays'][number]): void {
    this.#commit('relay.created', { projectId: '' }, relay, (tables) => ({
      ...tables,
      relays: new Map(tables.relays).set(relay.id, relay),
    }));
  }

  /** Sets the counter of an environment, and another flag, to the id of the write. */
  write(environmentId: string, id: number): CommittedRows | undefined {
    const environment = this.environment(environmentId);
    if (environment === undefined) return undefined;

    const after = this.#copy.end;
    const state = JSON.stringify({ enabled: true, value: id });
    const operations = [
      ['counter', state],
      [`flag-${this.#chance.whole(0, 5)}`, this.#chance.happens(0.8) ? state : null],
    ] as const;
    const revision = environment.revision + 1;
    const flags = new Map(this.#copy.tables.states.get(environmentId));
    for (const [key, text] of operations) {
      if (text === null) flags.delete(key);
      else flags.set(key, text);
    }

    const { projectId, name } = environment;
    this.#commit('flags.changed', { projectId, environmentId, revision }, operations, (tables) => ({
      ...tables,
      environments: new Map(tables.environments).set(environmentId, { ...environment, revision }),
      states: new Map(tables.states).set(environmentId, flags),
    }));
    this.#truth.add({
      id,
      environmentId,
      projectId,
      environment: name,
      revision,
      at: this.#kernel.now,
      seq: this.#commits.length,
      flags: Object.fromEntries([...flags].map(([key, text]) => [key, JSON.parse(text)])),
    });
    return { after, rows: this.#commits.slice(-1).map(({ row }) => row) };
  }

  /** The tables after a row, also after one that was lost later. */
  tablesAt({ epoch, changeId }: Cursor): Tables | undefined {
    return this.#after.get(`${epoch} ${changeId}`);
  }

  environment(id: string): Snapshot['environments'][number] | undefined {
    return this.#copy.tables.environments.get(id);
  }

  environments(): Iterable<Snapshot['environments'][number]> {
    return this.#copy.tables.environments.values();
  }

  /** Whether a later epoch than this one has begun. */
  isOver(epoch: string): boolean {
    return epoch !== this.#copy.epoch && precedes(epoch, this.#copy.epoch);
  }

  /** Whether an epoch was lost, and none has begun above it: so far, or because every process that knew of it has forgotten it. */
  get lacksEpoch(): boolean {
    return this.#lostEpoch !== undefined && precedes(this.#copy.epoch, this.#lostEpoch);
  }

  /** Begins a new epoch if the log of this one lacks the row, or the whole epoch. Returns whether it did. */
  beginEpochAfter(lost: Cursor): boolean {
    const ended = this.#copy.epoch;
    if (this.isOver(lost.epoch) || this.#copy.holds(lost)) return false;
    const epoch = epochAfter([ended, lost.epoch], this.#chance.hex());
    this.troubledAt = this.#kernel.now;
    this.epochs++;

    const leap = leapBetween(ended, epoch);
    this.#ended.push({ epoch: ended, commits: [...this.#commits] });
    this.#commits = this.#commits.map(({ row, after }) => ({ row, after: leapt(after, leap) }));
    for (const { row, after } of this.#commits) this.#after.set(`${epoch} ${row.changeId}`, after);
    this.#copy = new LogCopy(epoch, this.#commits, this.#copy.pruned);
    for (const listener of [...this.listeners]) listener.wake();
    this.mark();
    return true;
  }

  #commit<Kind extends ChangeKind>(
    kind: Kind,
    place: Pick<LogRow, 'projectId' | 'environmentId' | 'revision'>,
    payload: ChangePayload[Kind],
    change: (tables: Tables) => Tables,
  ): void {
    const { epoch, pruned, length, tables } = this.#copy;
    const after = change(tables);
    const row: LogRow = {
      seq: length + 1,
      changeId: this.#chance.hex(),
      kind,
      ...place,
      payload: JSON.stringify(payload),
      actor: 'simulation',
      at: this.#kernel.wallMs(),
    };
    this.#commits.push({ row, after });
    this.#copy = new LogCopy(epoch, this.#commits, pruned);
    this.#after.set(`${epoch} ${row.changeId}`, after);

    this.mark();
    for (const listener of [...this.listeners]) {
      if (this.#chance.happens(this.wakeLoss)) this.wakesLost++;
      else listener.wake();
    }
  }
}

function without<Row>(rows: ReadonlyMap<string, Row>, isGone: (row: Row) => boolean): [string, Row][] {
  return [...rows].filter(([, row]) => !isGone(row));
}

function leapt(tables: Tables, leap: number): Tables {
  const environments = new Map(
    [...tables.environments].map(([id, environment]) => [
      id,
      { ...environment, revision: environment.revision + leap },
    ]),
  );
  return { ...tables, environments };
}

/** A key whose environment of that name is deleted: it does not open a later one. */
function withoutEnvironment(key: Snapshot['keys'][number], name: string): Snapshot['keys'][number] {
  const names = key.environments as readonly string[];
  return { ...key, environments: names.map((each) => (each === name ? `${name}${DELETED_MARK}` : each)) };
}
