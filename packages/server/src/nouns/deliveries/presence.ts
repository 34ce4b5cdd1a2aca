import { defined } from '@halyard/protocol';
import type { Actor } from '../../domain/audit.ts';
import {
  countStreams,
  type DeliveryReader,
  type DeliveryStore,
  type StreamPresence,
} from '../../domain/delivery.ts';
import type { Environment, ProjectKey } from '../../domain/project.ts';
import type { OpenStreams, ServedPlaces } from '../../domain/read-side.ts';
import type { ManagementContext } from '../../management/context.ts';
import { readEnvironments } from '../environments/environment-table.ts';
import { readKeys } from '../keys/key-table.ts';
import { projectKeyStatus } from '../keys/project-keys.ts';
import { findProject } from '../lookup.ts';
import type { DashboardEvent } from './dashboard-events.ts';

/** Least time between two writes of changed counts, and longest between two of unchanged ones, in milliseconds. */
const CHANGED_MS = 2000;
const UNCHANGED_MS = 10_000;

/** Parts of a {@link Presence}. */
export interface PresenceOptions {
  readonly node: string;
  readonly hub: OpenStreams;
  readonly store: Pick<DeliveryStore, 'savePresence' | 'removePresence'>;
  readonly now: () => number;
}

/** Stores which streams are open on this node. */
export class Presence {
  readonly #options: PresenceOptions;
  #turnover = -1;
  #writtenAt = Number.NEGATIVE_INFINITY;
  #hasRows = false;
  #reporting: Promise<void> = Promise.resolve();

  constructor(options: PresenceOptions) {
    this.#options = options;
  }

  /**
   * Writes the counts when they are due, changed ones after `leastMs` at the earliest. Writes run one after another, so
   * that the newest counts are stored last. Rejects when a write fails; the next call tries again.
   */
  report(leastMs = CHANGED_MS): Promise<void> {
    const next = () => (this.#isDue(leastMs) ? this.#write() : undefined);
    this.#reporting = this.#reporting.then(next, next);
    return this.#reporting;
  }

  #isDue(leastMs: number): boolean {
    const dueMs = this.#options.hub.turnover === this.#turnover ? UNCHANGED_MS : leastMs;
    return performance.now() - this.#writtenAt >= dueMs;
  }

  async #write(): Promise<void> {
    const { node, hub, store, now } = this.#options;
    const counts = countStreams(hub);
    this.#turnover = hub.turnover;
    this.#writtenAt = performance.now();
    try {
      // A node without streams reports that once.
      if (counts.length > 0 || this.#hasRows) await store.savePresence([{ node, streams: counts }], now());
      this.#hasRows = counts.length > 0;
    } catch (cause) {
      this.#writtenAt = Number.NEGATIVE_INFINITY;
      throw cause;
    }
  }

  /** Removes this node's streams when it stops. */
  async withdraw(): Promise<void> {
    if (this.#hasRows) await this.#options.store.removePresence(this.#options.node);
    this.#hasRows = false;
  }
}

interface EnvironmentCount extends StreamTotals {
  readonly environment: string;
}

interface ProjectCount {
  readonly projectId: string;
  readonly environments: EnvironmentCount[];
  /** The streams of each key in each environment: clients that go over to another key change no total. */
  readonly keys: (readonly [environment: string, keyId: string, streams: number])[];
}

/** The presence that dashboards have been sent, so that only changes are sent again. */
export class PresenceBoard {
  readonly #catalog: Pick<ServedPlaces, 'projects' | 'environments'>;
  readonly #sent = new Map<string, string>();

  constructor(catalog: Pick<ServedPlaces, 'projects' | 'environments'>) {
    this.#catalog = catalog;
  }

  /** The events of the projects whose numbers have changed since the last call. */
  update(presence: readonly StreamPresence[]): readonly DashboardEvent[] {
    const events: DashboardEvent[] = [];
    for (const [project, { projectId, environments, keys }] of this.#countAll(presence)) {
      const sent = JSON.stringify([environments, keys]);
      if (this.#sent.get(project) === sent) continue;
      // A project without clients needs no event, unless it had clients before.
      const isQuiet = environments.every(({ streams }) => streams === 0);
      if (isQuiet && !this.#sent.has(project)) continue;
      this.#sent.set(project, sent);
      events.push({
        name: 'presence',
        project,
        projectId,
        data: { project, environments: environments.map((each) => ({ ...each })) },
      });
    }
    return events;
  }

  /** Makes the next update return all projects, for a new dashboard. */
  resend(): void {
    this.#sent.clear();
  }

  #countAll(presence: readonly StreamPresence[]): Map<string, ProjectCount> {
    const byEnvironment = Map.groupBy(presence, ({ environmentId }) => environmentId);
    const names = new Map([...this.#catalog.projects()].map(([name, id]) => [id, name]));
    const byProject = new Map<string, ProjectCount>();
    for (const { id, projectId, name: environment } of this.#catalog.environments()) {
      const rows = byEnvironment.get(id) ?? [];
      const project = names.get(projectId);
      if (project === undefined) continue;
      const count = byProject.get(project) ?? { projectId, environments: [], keys: [] };
      count.environments.push({ environment, ...totalOfStreams(rows) });
      for (const [keyId, own] of [...Map.groupBy(rows, (row) => row.keyId)].toSorted(([a], [b]) =>
        a < b ? -1 : 1,
      ))
        count.keys.push([environment, keyId, totalOfStreams(own).streams]);
      byProject.set(project, count);
    }
    return byProject;
  }
}

/** Open streams, and the nodes that have them. */
export interface StreamTotals {
  readonly streams: number;
  readonly nodes: number;
}

/** A project key as a client of one environment. */
export interface KeyClients extends StreamTotals {
  readonly id: string;
  readonly name: string;
  readonly lastFour: string;
  /** Epoch milliseconds: when its streams were last reported, or else when the key was last used. */
  readonly lastSeenAt?: number;
}

/** The clients of one environment. */
export interface EnvironmentClients extends StreamTotals {
  readonly environment: string;
  /** The keys that can read it, and any that still has a stream; by name. */
  readonly keys: readonly KeyClients[];
}

/** The clients of a project, by environment. `project_not_found`. */
export async function listClients(
  context: ManagementContext,
  deliveries: DeliveryReader,
  { actor, project }: { readonly actor: Actor; readonly project: string },
): Promise<readonly EnvironmentClients[]> {
  const { environments, keys } = await context.store.read(async (db) => {
    const { id } = await findProject(db, actor, project);
    return { environments: await readEnvironments(db, id), keys: await readKeys(db, id) };
  });
  const now = context.now();
  const presence = await deliveries.presence(now);
  return environments.map((environment) => {
    const rows = presence.filter(({ environmentId }) => environmentId === environment.id);
    const clients = keys
      .map((key) => ({ key, rows: rows.filter(({ keyId }) => keyId === key.id) }))
      .filter((each) => each.rows.length > 0 || canRead(each.key, environment, now))
      .map((each) => keyClients(each.key, each.rows));
    return { environment: environment.name, ...totalOfStreams(rows), keys: clients };
  });
}

function canRead(key: ProjectKey, { name }: Environment, now: number): boolean {
  return key.environments.includes(name) && projectKeyStatus(key, now) === 'active';
}

function keyClients(key: ProjectKey, rows: readonly StreamPresence[]): KeyClients {
  const { id, name, lastFour, lastUsedAt } = key;
  const lastSeenAt = rows.length > 0 ? Math.max(...rows.map(({ seenAt }) => seenAt)) : lastUsedAt;
  return {
    id,
    name,
    lastFour,
    ...totalOfStreams(rows),
    ...defined({ lastSeenAt }),
  };
}

function totalOfStreams(rows: readonly StreamPresence[]): StreamTotals {
  return {
    streams: rows.reduce((sum, { streams }) => sum + streams, 0),
    nodes: new Set(rows.map(({ node }) => node)).size,
  };
}
