import { type DeliveryReader, PRESENCE_MS, type StreamPresence } from '../../domain/delivery.ts';
import type { Environment, ProjectKey } from '../../domain/project.ts';
import type { ManagementContext } from '../context.ts';
import { projectKeyStatus } from '../keys/project-keys.ts';
import { findProject } from '../lookup.ts';

/** Streams and the nodes that hold them. */
export interface StreamTotals {
  readonly streams: number;
  readonly nodes: number;
}

/** A project key as a client of one environment. */
export interface KeyClients extends StreamTotals {
  readonly id: string;
  readonly name: string;
  readonly lastFour: string;
  /** Epoch milliseconds: when its streams were last heard of, or else the last use of the key, wherever that was. */
  readonly lastSeenAt?: number;
}

/** Who is connected to one environment. */
export interface EnvironmentClients extends StreamTotals {
  readonly environment: string;
  /** The keys that are good for it, and any that still holds a stream; by name. */
  readonly keys: readonly KeyClients[];
}

/** Who is connected to a project, by environment. `project_not_found`. */
export async function listClients(
  context: ManagementContext,
  deliveries: DeliveryReader,
  projectName: string,
): Promise<readonly EnvironmentClients[]> {
  const { environments, keys } = await context.store.read(async (reader) => {
    const { id } = await findProject(reader, projectName);
    return { environments: await reader.environments(id), keys: await reader.keys(id) };
  });
  const now = context.now();
  const presence = await deliveries.presence(now - PRESENCE_MS);
  return environments.map((environment) => {
    const rows = presence.filter(({ environmentId }) => environmentId === environment.id);
    const clients = keys
      .map((key) => ({ key, rows: rows.filter(({ keyId }) => keyId === key.id) }))
      .filter((each) => each.rows.length > 0 || isGoodFor(each.key, environment, now))
      .map((each) => keyClients(each.key, each.rows));
    return { environment: environment.name, ...totalOfStreams(rows), keys: clients };
  });
}

function isGoodFor(key: ProjectKey, { name }: Environment, now: number): boolean {
  return key.environments.includes(name) && projectKeyStatus(key, now) === 'active';
}

function keyClients(key: ProjectKey, rows: readonly StreamPresence[]): KeyClients {
  const { id, name, lastFour, lastUsedAt } = key;
  const lastSeenAt = rows.length > 0 ? Math.max(...rows.map(({ seenAt }) => seenAt)) : lastUsedAt;
  return {
    ...{ id, name, lastFour, ...totalOfStreams(rows) },
    ...(lastSeenAt === undefined ? {} : { lastSeenAt }),
  };
}

function totalOfStreams(rows: readonly StreamPresence[]): StreamTotals {
  return {
    streams: rows.reduce((sum, { streams }) => sum + streams, 0),
    nodes: new Set(rows.map(({ node }) => node)).size,
  };
}
