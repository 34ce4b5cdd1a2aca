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
import type { Tx } from '../../storage/tx.ts';
import { readEnvironments } from '../environments/environment-table.ts';
import { lockAll } from '../locks.ts';
import { findProject } from '../lookup.ts';
import { insertKey, readKey, readKeys, storeKeyReplacement, storeKeyRevocation } from './key-table.ts';

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
type CreatedProjectKey = Written<ProjectKey> & { readonly key: string };

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
  checkExpiry(input.expiresAt, context.now());

  return writeRecord(context, actor, async (tx) => {
    const { id: projectId } = await findProject(tx, actor, input.project);
    return addKey(context, tx, { projectId, name, environments, ...defined({ expiresAt: input.expiresAt }) });
  });
}

/** Inserts a new key, and locks its environments. `environment_not_found`. */
export async function addKey(
  context: ManagementContext,
  tx: Tx,
  input: Pick<ProjectKey, 'projectId' | 'name' | 'environments' | 'expiresAt'>,
): Promise<CreatedProjectKey> {
  const { projectId, environments } = input;
  const known = await lockNamed(tx, projectId, environments);
  for (const environment of environments)
    if (!known.includes(environment)) throw environmentNotFound(environment);

  return insertNewKey(context, tx, { ...input, createdAt: context.now() });
}

async function insertNewKey(
  context: ManagementContext,
  tx: Tx,
  given: Omit<ProjectKey, 'id' | 'lastFour'>,
): Promise<CreatedProjectKey> {
  const key = formatProjectKey(context.randomBytes(32));
  const record = { ...given, id: context.newId(), lastFour: key.slice(-4) };
  await insertKey(tx, record, digestOf(key));
  return { ...record, key };
}

/** A new key and the one that it replaces, which works until its end. */
type ReplacedProjectKey = CreatedProjectKey & { readonly replaced: ProjectKey };

/** How long a replaced key still works by default, in milliseconds. */
export const OVERLAP_MS = 7 * 86_400_000;

/**
 * Creates a key with the name and the environments of another one, which gets an end. It lives for as long as the other one
 * was made for. `key_not_found`, `forbidden`, `invalid_argument`, `key_ended`. (Spec: S13.9)
 */
export async function replaceProjectKey(
  context: ManagementContext,
  actor: Actor,
  { id, endsAt }: { readonly id: string; readonly endsAt?: number | undefined },
): Promise<ReplacedProjectKey> {
  const createdAt = context.now();
  if (endsAt !== undefined && endsAt <= createdAt)
    throw invalid('"endsAt" is not in the future: send a later time, or revoke the key.');

  return writeRecord(context, actor, async (tx) => {
    const old = found(actor, await readKey(tx, id), id);
    requireRole(actor, 'admin', { id: old.projectId });
    await requireCurrent(tx, old, createdAt);
    const environments = await lockNamed(tx, old.projectId, old.environments);
    if (environments.length === 0)
      throw keyEnded('the environments that it reads were deleted: create a key for others');

    const { projectId, name, expiresAt } = old;
    const lifetime = expiresAt === undefined ? undefined : expiresAt - old.createdAt;
    const ends = defined({ expiresAt: lifetime && createdAt + lifetime });
    const made = await insertNewKey(context, tx, { projectId, name, environments, createdAt, ...ends });

    // A key never lives longer because it is replaced.
    const end = Math.min(endsAt ?? createdAt + OVERLAP_MS, expiresAt ?? Number.POSITIVE_INFINITY);
    if (!(await storeKeyReplacement(tx, old, { replacedBy: made.id, expiresAt: end })))
      throw keyEnded('it has just been revoked or replaced: list the keys');
    return { ...made, replaced: found(actor, await readKey(tx, id), id) };
  });
}

/** A key can be replaced while it works, and once, unless the key in its place no longer works. */
async function requireCurrent(tx: Tx, key: ProjectKey, now: number): Promise<void> {
  const status = projectKeyStatus(key, now);
  if (status !== 'active') throw keyEnded(`it is ${status}: create a new one`);

  const heir = key.replacedBy === undefined ? undefined : await readKey(tx, key.replacedBy);
  if (heir !== undefined && projectKeyStatus(heir, now) === 'active')
    throw keyEnded(`the key ${quote(heir.id)} was made in its place: replace or revoke that one`);
}

function keyEnded(reason: string): ServiceError {
  return new ServiceError('key_ended', `The project key cannot be replaced, because ${reason}.`);
}

/**
 * Locks the environments of a project that have these names, and returns their names: otherwise one could be deleted, and
 * the key read a later environment of its name.
 */
async function lockNamed(tx: Tx, projectId: string, names: readonly string[]): Promise<readonly string[]> {
  const chosen = (await readEnvironments(tx, projectId)).filter(({ name }) => names.includes(name));
  return (await lockAll(tx, chosen)).map(({ name }) => name);
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
