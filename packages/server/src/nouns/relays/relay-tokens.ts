import { defined, formatSecret } from '@halyard/protocol';
import type { Actor } from '../../domain/audit.ts';
import { environmentNotFound, invalid, quote } from '../../domain/errors.ts';
import { digestOf } from '../../domain/secret.ts';
import type { ManagementContext } from '../../management/context.ts';
import { administers, requireRole } from '../../management/rights.ts';
import { checkLabel } from '../../management/rules.ts';
import { type Written, writeDone, writeRecord } from '../../management/write.ts';
import type { Queryable } from '../../storage/database.ts';
import { readEnvironments } from '../environments/environment-table.ts';
import { findProject, recordNotFound } from '../lookup.ts';
import { readProjects } from '../projects/project-table.ts';
import type { NamedRelayToken, RelayToken } from './relay-token.ts';
import { insertRelayToken, readRelayTokens, storeRevocation } from './relay-token-table.ts';

/** The prefix of every relay token, for people and secret scanners. */
const RELAY_TOKEN_PREFIX = 'hrl_';

/** Most projects or environments that one token names. */
const MAX_NAMES = 100;

/** The properties of a new relay token. */
export interface NewRelayToken {
  readonly name: string;
  /** Names of projects; absent for all, future ones included. */
  readonly projects?: readonly string[];
  /** Names of environments; absent for all. */
  readonly environments?: readonly string[];
}

/** A token's record with the token itself, which is shown only once. */
type CreatedRelayToken = Written<NamedRelayToken> & { readonly token: string };

/** The relay tokens of projects that the actor administers, including revoked ones, with the names of projects that still exist. */
export function listRelayTokens(
  context: ManagementContext,
  actor: Actor,
): Promise<readonly NamedRelayToken[]> {
  return context.store.read(async (db) => {
    const names = new Map((await readProjects(db)).map(({ id, name }) => [id, name]));
    const tokens = (await readRelayTokens(db)).filter(({ projects }) => administers(actor, projects));
    return tokens.map((token) => withNames(token, names));
  });
}

/**
 * Creates a relay token. Only its digest is kept. `invalid_argument`, `project_not_found`, `environment_not_found`, `forbidden`,
 * `already_exists`.
 */
export async function createRelayToken(
  context: ManagementContext,
  actor: Actor,
  input: NewRelayToken,
): Promise<CreatedRelayToken> {
  const name = checkLabel(input.name);
  const projects = checkNames('projects', input.projects);
  const environments = checkNames('environments', input.environments);
  const token = RELAY_TOKEN_PREFIX + formatSecret(context.randomBytes(32));

  return writeRecord(context, actor, async (tx) => {
    const found = projects && (await Promise.all(projects.map((each) => findProject(tx, actor, each))));
    for (const project of found ?? [undefined]) requireRole(actor, 'admin', project);
    if (environments !== undefined) {
      await checkEnvironments(tx, environments, found ?? (await readProjects(tx)));
    }

    const scope = defined({ projects: found?.map(({ id }) => id), environments });
    const stored: RelayToken = { id: context.newId(), name, createdAt: context.now(), ...scope };
    await insertRelayToken(tx, stored, digestOf(token));
    return { ...withNames(stored, new Map(found?.map((project) => [project.id, project.name]))), token };
  });
}

/** Revokes a relay token permanently: its relays lose the log at once. Repeating it changes nothing. `not_found`. */
export function revokeRelayToken(
  context: ManagementContext,
  actor: Actor,
  id: string,
): Promise<Written<object>> {
  return writeDone(context, actor, async (tx) => {
    const token = (await readRelayTokens(tx)).find((candidate) => candidate.id === id);
    if (token === undefined || !administers(actor, token.projects))
      throw recordNotFound(
        `The relay token with the id ${quote(id)} does not exist: list the tokens to find it.`,
      );
    await storeRevocation(tx, token, context.now());
  });
}

function withNames(token: RelayToken, names: ReadonlyMap<string, string>): NamedRelayToken {
  const { projects, ...rest } = token;
  if (projects === undefined) return rest;
  // A deleted project has no name. The token gets nothing of it, and nothing of a later project of that name.
  const named = projects.flatMap((id) => names.get(id) ?? []);
  const deletedProjects = projects.length - named.length;
  return { ...rest, projects: named, ...(deletedProjects > 0 && { deletedProjects }) };
}

function checkNames(
  member: 'projects' | 'environments',
  names: readonly string[] | undefined,
): readonly string[] | undefined {
  if (names === undefined) return undefined;
  if (names.length === 0) throw invalid(`"${member}" is empty: name at least one, or leave it out for all.`);
  if (names.length > MAX_NAMES)
    throw invalid(`"${member}" has ${names.length} names: at most ${MAX_NAMES} are kept.`);
  return [...new Set(names)].sort();
}

/** A name that no project in the scope has is most likely a typing error. */
async function checkEnvironments(
  db: Queryable,
  names: readonly string[],
  projects: readonly { readonly id: string }[],
): Promise<void> {
  const known = new Set<string>();
  for (const { id } of projects) for (const { name } of await readEnvironments(db, id)) known.add(name);
  for (const name of names) if (!known.has(name)) throw environmentNotFound(name);
}
