import { defined, formatProjectKey } from '@halyard/protocol';
import type { Actor } from '../../domain/audit.ts';
import { environmentNotFound, invalid, quote, ServiceError } from '../../domain/errors.ts';
import type { ProjectKey } from '../../domain/project.ts';
import { digestOf } from '../../domain/secret.ts';
import type { ManagementContext } from '../../management/context.ts';
import { requireRole, sees } from '../../management/rights.ts';
import { checkExpiry, checkLabel } from '../../management/rules.ts';
import { type Written, writeRecord } from '../../management/write.ts';
import type { PageOf } from '../../storage/rows.ts';
import { readEnvironments } from '../environments/environment-table.ts';
import { lockAll } from '../locks.ts';
import { findProject } from '../lookup.ts';
import { insertKey, readKey, readKeys, storeKeyRevocation } from './key-table.ts';

/** The input for a new project key. */
export interface NewProjectKey {
  readonly project: string;
  readonly name: string;
  /** Names of the environments it can read; at least one. */
  readonly environments: readonly string[];
  /** Epoch milliseconds. */
  readonly expiresAt?: number;
}

/** A key's record with the key itself, which is shown only once. */
export interface CreatedProjectKey {
  readonly record: Written<ProjectKey>;
  readonly key: string;
}

/** A page of keys: they are sorted by name. */
export type KeyPage = PageOf<readonly [name: string, id: string]>;

/** Every key of a project, including revoked and expired ones, or a page of them. `project_not_found`. */
export function listProjectKeys(
  context: ManagementContext,
  actor: Actor,
  { project, page }: { readonly project: string; readonly page?: KeyPage | undefined },
): Promise<readonly ProjectKey[]> {
  return context.store.read(async (db) => readKeys(db, (await findProject(db, actor, project)).id, page));
}

/** One key's record. `key_not_found`. */
export async function getProjectKey(
  context: ManagementContext,
  actor: Actor,
  id: string,
): Promise<ProjectKey> {
  return found(actor, await context.store.read((db) => readKey(db, id)), id);
}

/**
 * Creates a key. Only its digest is kept. `invalid_argument`, `project_not_found`, `environment_not_found`.
 * (Spec: S3.2, S3.4)
 */
export async function createProjectKey(
  context: ManagementContext,
  actor: Actor,
  input: NewProjectKey,
): Promise<CreatedProjectKey> {
  const name = checkLabel(input.name);
  const environments = [...new Set(input.environments)].sort();
  if (environments.length === 0) throw invalid('"environments" is empty: name at least one environment.');
  const createdAt = context.now();
  checkExpiry(input.expiresAt, createdAt);

  const key = formatProjectKey(context.randomBytes(32));

  const record = await writeRecord(context, actor, async (tx) => {
    const { id: projectId } = await findProject(tx, actor, input.project);
    const chosen = (await readEnvironments(tx, projectId)).filter((one) => environments.includes(one.name));
    // Locked against deletion: otherwise the key could read a later environment of the same name.
    const known = new Set((await lockAll(tx, chosen)).map((environment) => environment.name));
    for (const environment of environments)
      if (!known.has(environment)) throw environmentNotFound(environment);

    const made = defined({
      id: context.newId(),
      projectId,
      name,
      lastFour: key.slice(-4),
      environments,
      createdAt,
      expiresAt: input.expiresAt,
    });

    await insertKey(tx, made, digestOf(key));
    return made;
  });

  return { record, key };
}

/** Revokes a key permanently and returns its record; revoking again has no effect. `key_not_found`, `forbidden`. */
export function revokeProjectKey(
  context: ManagementContext,
  actor: Actor,
  id: string,
): Promise<Written<ProjectKey>> {
  return writeRecord(context, actor, async (tx) => {
    const key = found(actor, await readKey(tx, id), id);
    requireRole(actor, 'admin', { id: key.projectId });
    await storeKeyRevocation(tx, key, context.now());
    return found(actor, await readKey(tx, id), id);
  });
}

/** Whether a key is valid at `now`, epoch milliseconds. */
export function projectKeyStatus(key: ProjectKey, now: number): 'active' | 'expired' | 'revoked' {
  if (key.revokedAt !== undefined) return 'revoked';
  // A damaged time compares as false, and so counts as expired.
  return key.expiresAt === undefined || key.expiresAt > now ? 'active' : 'expired';
}

function found(actor: Actor, key: ProjectKey | undefined, id: string): ProjectKey {
  if (key !== undefined && sees(actor, key.projectId)) return key;
  throw new ServiceError(
    'key_not_found',
    `The project key with the id ${quote(id)} does not exist: list the project's keys.`,
  );
}
