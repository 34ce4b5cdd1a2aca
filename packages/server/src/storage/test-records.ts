import type { Actor, AuditEntry } from '../domain/audit.ts';
import type { LogRow } from '../domain/change-log.ts';
import {
  type Environment,
  type Flag,
  PLAIN_APPEARANCE,
  PLAIN_DETAILS,
  type Project,
  type ProjectKey,
  type StateOperation,
} from '../domain/project.ts';
import { UNLIMITED } from '../domain/rights.ts';
import type { AccessToken } from '../nouns/access-tokens/access-token.ts';
import { insertEnvironment } from '../nouns/environments/environment-table.ts';
import { storeFlag } from '../nouns/flags/flag-table.ts';
import { readAuditPage } from '../nouns/history/audit-query.ts';
import type { AuditFilter } from '../nouns/history/audit-search-query.ts';
import { insertProject } from '../nouns/projects/project-table.ts';
import { changeStates } from '../nouns/states/change-states.ts';
import { type StateWrite, StateWriters, type StateWritten } from '../nouns/states/state-writers.ts';
import { readLogPage } from './change-log.ts';
import type { Queryable } from './database.ts';
import type { Committed, Store } from './store.ts';
import type { Tx } from './tx.ts';

/** The author of changes in tests. */
export const ADA: Actor = {
  name: 'operator:ada@example.com',
  ip: '192.0.2.7',
  note: 'because',
  permissions: UNLIMITED,
};

/** A project of that name with an id of its own. */
export function makeProject(name = 'demo'): Project {
  return { id: crypto.randomUUID(), name, createdAt: 1_790_000_000_000 };
}

/** An environment of the project that has never changed. */
export function makeEnvironment(project: Project, name = 'production'): Environment {
  return {
    id: crypto.randomUUID(),
    projectId: project.id,
    name,
    revision: 0,
    ...PLAIN_APPEARANCE,
    createdAt: 1_790_000_000_001,
  };
}

/** A flag of the project without words or tags. */
export function makeFlag(project: Project, key: string): Flag {
  return {
    ...PLAIN_DETAILS,
    projectId: project.id,
    key,
    createdAt: 1_790_000_000_002,
  };
}

/** An active key for production. */
export function makeKey(project: Project, name = 'web'): ProjectKey {
  const { id: projectId } = project;
  return {
    id: crypto.randomUUID(),
    projectId,
    name,
    lastFour: 'wxyz',
    environments: ['production'],
    createdAt: 1_790_000_000_003,
  };
}

/** An access token that never expires. */
export function makeToken(name = 'ci'): AccessToken {
  return {
    id: crypto.randomUUID(),
    name,
    role: 'admin',
    canChangeProtected: true,
    createdAt: 1_790_000_000_004,
  };
}

/** A project with one environment. */
export interface SeededProject {
  readonly project: Project;
  readonly environment: Environment;
}

/** Commits a project with the environment production and the given flags, none of which has a state. */
export async function seed(store: Store, flagKeys: readonly string[] = ['checkout']): Promise<SeededProject> {
  const project = makeProject();
  const environment = makeEnvironment(project);
  await store.commit(ADA, async (transaction) => {
    await insertProject(transaction, project);
    await insertEnvironment(transaction, environment);
    for (const key of flagKeys) await storeFlag(transaction, makeFlag(project, key));
  });
  return { project, environment };
}

/** A piece of work that changes states and nothing else. */
export function changing(environment: Environment, ...operations: readonly StateOperation[]) {
  return (transaction: Tx) => changeStates(transaction, environment, operations);
}

const writers = new WeakMap<Store, StateWriters>();

/** Changes one state, in a group with the others that are written to the store at the same time. */
export function writeState(store: Store, write: StateWrite): Promise<Committed<StateWritten>> {
  const known = writers.get(store) ?? new StateWriters(store, 'environment');
  writers.set(store, known);
  return known.add(write);
}

/** The rows of the change log after `afterSeq`, in order, at most `limit`, whatever their size. */
export async function readLog(
  queryable: Queryable,
  afterSeq: number,
  limit: number,
): Promise<readonly LogRow[]> {
  const limits = { rows: limit, bytes: Number.MAX_SAFE_INTEGER };
  return (await readLogPage(queryable, afterSeq, limits)).rows;
}

/** The audit entries of the first page. */
export async function auditEntries(reader: Queryable, filter: AuditFilter): Promise<readonly AuditEntry[]> {
  return (await readAuditPage(reader, filter)).entries;
}
