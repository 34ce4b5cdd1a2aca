import {
  type ChangePayload,
  type LogRow,
  parseChange,
  type ServedProject,
  type Snapshot,
  type StoredKey,
  type StoredRelay,
} from '../../domain/change-log.ts';
import { servedState } from '../../domain/flag-state-text.ts';
import type { StateOperation } from '../../domain/project.ts';
import type { FlagTable } from './flag-table.ts';
import { KeyIndex, type ServedKeys } from './key-index.ts';
import { LiveEnvironment, type ServedEnvironment, setState } from './live-environment.ts';
import { isLarge, payloadParts } from './payload-parts.ts';

/** The contents of a catalog: a {@link Snapshot} without its cursor. */
export type CatalogContents = Omit<Snapshot, 'cursor'>;

/** Everything that a catalog serves, for another node. */
export interface ServedContents {
  readonly projects: CatalogContents['projects'];
  readonly environments: readonly ServedEnvironment[];
  /** By project. */
  readonly keys: readonly ServedKeys[];
  readonly relays: readonly StoredRelay[];
}

/** Events of the catalog that concern open streams. Called in the turn in which the change is applied. */
export interface CatalogCallbacks {
  /** A change made a new revision of the environment, which differs from the one before it in `difference`. */
  changed(environment: LiveEnvironment, row: LogRow, difference: readonly StateOperation[]): void;
  /** Clients of the environment are asked to report reads, or no longer are. */
  usageSwitched?(environment: LiveEnvironment): void;
  environmentGone(environmentId: string): void;
  /** A key was revoked, has expired, or went with its project. */
  keyGone(keyId: string): void;
  /** A stored record could not be read; it counts as absent. Carries ids only, never contents. */
  malformed(record: { readonly kind: 'flag' | 'key'; readonly id: string }): void;
}

/** The flags that a large row leaves, and what differs from those before it. */
interface PreparedRow {
  readonly row: LogRow;
  readonly table: FlagTable;
  readonly difference: readonly StateOperation[];
}

/** So many records are loaded in one step: about half a millisecond. */
const RECORDS_IN_STEP = 200;

/** Longest time between two checks of the clock: it may be set, and timers stop while a machine sleeps. */
const LONGEST_STEP_MS = 1000;

/**
 * The in-memory read model of one node: keys by digest, environments by project and name. Filled from one snapshot,
 * then moved forward row by row. The request path uses nothing else.
 */
export class Catalog {
  readonly keys: KeyIndex;
  /** The tokens with which other nodes may follow this one, by digest. */
  readonly relays = new Map<string, StoredRelay>();
  readonly #now: () => number;
  readonly #callbacks: CatalogCallbacks;
  #byId = new Map<string, LiveEnvironment>();
  #byProject = new Map<string, Map<string, LiveEnvironment>>();
  #projectIds = new Map<string, string>();
  /** The ids of the projects whose clients are asked to report reads. */
  #usage = new Set<string>();
  #expiryTimer: Timer | undefined;
  /** The flags that a large row leaves, made before it is applied. */
  #prepared: PreparedRow | undefined;

  constructor(callbacks: CatalogCallbacks, now: () => number = Date.now) {
    this.#now = now;
    this.#callbacks = callbacks;
    this.keys = new KeyIndex(now);
  }

  /** The environment of that name in a project, by the project's id. */
  environment(projectId: string, name: string): LiveEnvironment | undefined {
    return this.#byProject.get(projectId)?.get(name);
  }

  /** The environment with an id. */
  environmentWithId(id: string): LiveEnvironment | undefined {
    return this.#byId.get(id);
  }

  /** The id of the project of that name. */
  projectId(name: string): string | undefined {
    return this.#projectIds.get(name);
  }

  /** Whether clients of a project are asked to report reads. */
  wantsUsage(projectId: string): boolean {
    return this.#usage.has(projectId);
  }

  /** Every project: its name and its id. */
  projects(): IterableIterator<[name: string, id: string]> {
    return this.#projectIds.entries();
  }

  /** Every environment, for metrics. */
  environments(): IterableIterator<LiveEnvironment> {
    return this.#byId.values();
  }

  /** How many environments and keys there are: about the work that {@link contents} of it is to encode. */
  get size(): number {
    return this.#byId.size + this.keys.size;
  }

  /** Everything that is served now. Costs a reference per environment, and per key of a project whose keys have changed. */
  contents(): ServedContents {
    return {
      projects: [...this.#projectIds].map(([name, id]) => ({
        id,
        name,
        ...(this.#usage.has(id) && { usage: true }),
      })),
      environments: [...this.#byId.values()].map((environment) => environment.served()),
      keys: this.keys.served(),
      relays: [...this.relays.values()],
    };
  }

  /** Replaces everything by the contents of one snapshot. */
  load(contents: CatalogContents): void {
    for (const _ of this.loading(contents)) {
      // In one turn.
    }
  }

  /**
   * Does the same, a little in each step, so that reads get their turn in between: until the last one they are answered from
   * what was there before. Rows must wait.
   */
  *loading(contents: CatalogContents): Generator<void> {
    const next = new Catalog(this.#callbacks, this.#now);
    yield* next.#fill(contents);

    this.#byId = next.#byId;
    this.#byProject = next.#byProject;
    this.#projectIds = next.#projectIds;
    this.#usage = next.#usage;
    this.#prepared = undefined;
    this.keys.takeAll(next.keys);
    this.relays.clear();
    for (const relay of contents.relays) this.relays.set(relay.digest, relay);
    this.#scheduleExpiry();
  }

  /**
   * Does most of the work of a large row ahead of {@link apply}, a little in each step, so that reads get their turn in between;
   * `undefined` for any other row. Nothing of it shows before the row is applied, which must be the next one.
   */
  prepare(row: LogRow): Generator<void> | undefined {
    return row.kind === 'flags.changed' && isLarge(row) ? this.#prepareStates(row) : undefined;
  }

  /** Applies one row of the change log. Throws when the row's payload is not what its kind promises. */
  apply(row: LogRow): void {
    const prepared = this.#prepared;
    this.#prepared = undefined;
    if (prepared?.row === row) {
      this.#applyPrepared(prepared);
      return;
    }

    const change = parseChange(row);
    switch (change.kind) {
      case 'project.created':
        this.#addProject({ id: row.projectId, ...change.payload });
        return;
      case 'project.updated':
        this.#switchUsage(row.projectId, change.payload.usage);
        return;
      case 'project.deleted':
        this.#removeProject(row.projectId);
        return;

      case 'environment.created':
        this.#addEnvironment({ ...this.#environmentOf(row), ...change.payload });
        return;
      case 'environment.deleted':
        this.#removeEnvironment(this.#environmentOf(row).id);
        return;

      case 'flags.changed':
        this.#applyStates(row, change.payload);
        return;

      case 'key.created':
        this.#addKey({ ...change.payload, projectId: row.projectId });
        this.#scheduleExpiry();
        return;
      case 'key.revoked': {
        const { id, digest } = change.payload;
        this.keys.remove(digest);
        this.#callbacks.keyGone(id);
        return;
      }

      case 'relay.created':
        this.relays.set(change.payload.digest, change.payload);
        return;
      case 'relay.revoked':
        this.relays.delete(change.payload.digest);
        return;

      case 'records.changed':
        // Not part of the read model.
        return;

      default:
        // While nodes are upgraded, a newer one can write kinds that this program does not know.
        change satisfies never;
    }
  }

  /** Stops the expiry timer. Safe to call twice. */
  close(): void {
    clearTimeout(this.#expiryTimer);
  }

  *#fill(contents: CatalogContents): Generator<void> {
    for (const project of contents.projects) this.#addProject(project);
    for (const part of partsOf(contents.environments)) {
      for (const environment of part) this.#addEnvironment(environment);
      yield;
    }

    const groups = new Map<string, StateOperation[]>();
    for (const part of partsOf(contents.states)) {
      this.#groupStates(part, groups);
      yield;
    }
    for (const part of partsOf([...groups])) {
      for (const [environmentId, operations] of part) {
        const environment = this.#byId.get(environmentId);
        environment?.apply(environment.revision, operations);
      }
      yield;
    }

    for (const part of partsOf(contents.keys)) {
      for (const key of part) {
        // A damaged revocation still counts.
        if (key.revokedAt === null || key.revokedAt === undefined) this.#addKey(key);
      }
      yield;
    }
  }

  *#prepareStates(row: LogRow): Generator<void> {
    const { environment } = this.#changedBy(row);
    const table = environment.draft();
    const difference: StateOperation[] = [];
    try {
      for (const part of payloadParts(row.payload)) {
        for (const operation of this.#checkOperations(environment.id, part))
          if (setState(table, operation)) difference.push(operation);
        yield;
      }
    } catch (error) {
      // It cannot be read in parts, if at all: it is applied as a whole.
      if (error instanceof SyntaxError) return;
      throw error;
    }
    yield* table.encodeAhead();
    this.#prepared = { row, table, difference };
  }

  #applyPrepared({ row, table, difference }: PreparedRow): void {
    const { environment, revision } = this.#changedBy(row);
    environment.replace(revision, table);
    this.#callbacks.changed(environment, row, difference);
  }

  /** The environment whose next revision the row makes. */
  #changedBy(row: LogRow): { readonly environment: LiveEnvironment; readonly revision: number } {
    const environment = this.#byId.get(this.#environmentOf(row).id);
    if (environment === undefined || row.revision === undefined) {
      throw new Error(`change-log row ${row.seq} changes flags of an environment that does not exist`);
    }
    if (row.revision !== environment.revision + 1) {
      throw new Error(
        `change-log row ${row.seq} makes revision ${row.revision} after ${environment.revision}`,
      );
    }
    return { environment, revision: row.revision };
  }

  #applyStates(row: LogRow, payload: ChangePayload['flags.changed']): void {
    const { environment, revision } = this.#changedBy(row);
    const difference = environment.apply(revision, this.#checkOperations(environment.id, payload));
    this.#callbacks.changed(environment, row, difference);
  }

  /** A state that cannot be read counts as absent. */
  #checkOperations(environmentId: string, payload: ChangePayload['flags.changed']): StateOperation[] {
    return payload.map(([key, state]) => [
      key,
      state === null ? null : this.#checkState(environmentId, key, state),
    ]);
  }

  #groupStates(states: CatalogContents['states'], groups: Map<string, StateOperation[]>): void {
    for (const { environmentId, flagKey, state } of states) {
      const checked = this.#checkState(environmentId, flagKey, state);
      if (checked === null) continue;
      const group = groups.get(environmentId);
      if (group === undefined) groups.set(environmentId, [[flagKey, checked]]);
      else group.push([flagKey, checked]);
    }
  }

  #checkState(environmentId: string, flagKey: string, state: unknown): string | null {
    const checked = servedState(state);
    if (checked === undefined) this.#callbacks.malformed({ kind: 'flag', id: `${environmentId}/${flagKey}` });
    return checked ?? null;
  }

  #environmentOf(row: LogRow): { id: string; projectId: string } {
    if (row.environmentId === undefined) throw new Error(`change-log row ${row.seq} names no environment`);
    return { id: row.environmentId, projectId: row.projectId };
  }

  #addProject({ id, name, usage = false }: ServedProject): void {
    this.#projectIds.set(name, id);
    if (usage) this.#usage.add(id);
    this.#byProject.set(id, new Map());
  }

  #addEnvironment(identity: { id: string; projectId: string; name: string; revision: number }): void {
    const environment = new LiveEnvironment(identity);
    environment.wantsUsage = this.#usage.has(identity.projectId);
    this.#byId.set(identity.id, environment);
    this.#byProject.get(identity.projectId)?.set(identity.name, environment);
  }

  #switchUsage(projectId: string, usage: boolean): void {
    if (usage) this.#usage.add(projectId);
    else this.#usage.delete(projectId);
    for (const environment of this.#byProject.get(projectId)?.values() ?? []) {
      environment.wantsUsage = usage;
      this.#callbacks.usageSwitched?.(environment);
    }
  }

  #removeEnvironment(id: string): void {
    const environment = this.#byId.get(id);
    if (environment === undefined) return;
    this.#byId.delete(id);
    this.#byProject.get(environment.projectId)?.delete(environment.name);
    this.keys.removeEnvironment(environment.projectId, environment.name);
    this.#callbacks.environmentGone(id);
  }

  #removeProject(projectId: string): void {
    for (const [name, id] of this.#projectIds) if (id === projectId) this.#projectIds.delete(name);
    for (const environment of [...(this.#byProject.get(projectId)?.values() ?? [])]) {
      this.#removeEnvironment(environment.id);
    }
    this.#byProject.delete(projectId);
    this.#usage.delete(projectId);
    for (const keyId of this.keys.removeProject(projectId)) this.#callbacks.keyGone(keyId);
  }

  #addKey(raw: StoredKey): void {
    // A key of a project that does not exist is as malformed as one without a project. (Spec: S5.4)
    const isKnown = typeof raw.projectId === 'string' && this.#byProject.has(raw.projectId);
    if (!isKnown || !this.keys.add(raw)) this.#callbacks.malformed({ kind: 'key', id: String(raw.id) });
  }

  /** One timer for whichever key expires next, approached in steps. */
  #scheduleExpiry(): void {
    clearTimeout(this.#expiryTimer);
    const next = this.keys.nextExpiry();
    if (next === Number.POSITIVE_INFINITY) return;
    const delayMs = Math.min(Math.max(next - this.#now(), 0), LONGEST_STEP_MS);
    this.#expiryTimer = setTimeout(() => {
      for (const keyId of this.keys.takeExpired()) this.#callbacks.keyGone(keyId);
      this.#scheduleExpiry();
    }, delayMs);
    this.#expiryTimer.unref();
  }
}

function* partsOf<T>(records: readonly T[]): Generator<readonly T[]> {
  for (let start = 0; start < records.length; start += RECORDS_IN_STEP)
    yield records.slice(start, start + RECORDS_IN_STEP);
}
