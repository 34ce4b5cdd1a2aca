import { defined, formatSecret, type TokenLimit } from '@halyard/protocol';
import type { Actor } from '../../domain/audit.ts';
import { invalid, quote, ServiceError } from '../../domain/errors.ts';
import { type Credential, type Permissions, type Rights, UNLIMITED } from '../../domain/rights.ts';
import { digestOf, isSameSecret } from '../../domain/secret.ts';
import type { ManagementContext } from '../../management/context.ts';
import { administersAll, commonRights } from '../../management/rights.ts';
import { checkExpiry, checkLabel } from '../../management/rules.ts';
import { type Written, writeDone, writeRecord } from '../../management/write.ts';
import { storeLastUse } from '../../storage/last-use.ts';
import type { Tx } from '../../storage/tx.ts';
import { recordNotFound } from '../lookup.ts';
import { ADMIN_NAME, lockGrant, newRights, permissionsOf, type RightsChange } from '../people/grants.ts';
import { endToken, findOperator } from '../people/operators.ts';
import { type AccessToken, isValid } from './access-token.ts';
import { insertAccessToken, readAccessTokens, readTokenByDigest } from './access-token-table.ts';
import { tokenRights } from './token-rights.ts';

/** The prefix of every access token, for people and secret scanners. */
const ACCESS_TOKEN_PREFIX = 'hat_';

/** Longest text that is looked up as a token; an admin token from the settings may have any form. */
const MAX_TOKEN_LENGTH = 512;

/** Most valid own tokens of a person. */
const MAX_OWN = 20;

/** How long a new token is valid by default, in milliseconds. */
const LIFETIME_MS = 90 * 86_400_000;

/** When a token that is created at `now` expires by default. Epoch milliseconds. */
export function defaultExpiry(now: number): number {
  return now + LIFETIME_MS;
}

/** The properties of a new access token. Without a role and without roles in projects, it is an editor of all projects. */
export interface NewAccessToken extends RightsChange {
  readonly name: string;
  readonly only?: TokenLimit;
  /** Whether its changes need no approval, as those of a pipeline that people review. */
  readonly exempt?: boolean;
  /** Epoch milliseconds. */
  readonly expiresAt?: number;
}

/** A token's record with the token itself, which is shown only once. */
export type CreatedAccessToken = Written<AccessToken> & { readonly token: string };

/** The holder of a verified token. */
export interface TokenHolder {
  readonly name: string;
  readonly permissions: Permissions;
  /** Absent for the token from the settings, which has no record. */
  readonly credential?: Credential;
}

/** A new token's text: the prefix and 43 base62 characters. */
export function newAccessToken(context: Pick<ManagementContext, 'randomBytes'>): string {
  return ACCESS_TOKEN_PREFIX + formatSecret(context.randomBytes(32));
}

/** The access tokens whose rights the actor administers, including revoked and expired ones. */
export async function listAccessTokens(
  context: ManagementContext,
  actor: Actor,
): Promise<readonly AccessToken[]> {
  const tokens = await context.store.read((db) => readAccessTokens(db));
  return tokens.filter((token) => administersAll(actor, token));
}

/**
 * Creates an access token. Only its digest is kept. No other valid token may have the name, because the audit log
 * identifies tokens by name. `invalid_argument`, `project_not_found`, `forbidden`, `already_exists`.
 */
export function createAccessToken(
  context: ManagementContext,
  actor: Actor,
  input: NewAccessToken,
): Promise<CreatedAccessToken> {
  return create(context, actor, input, async (tx) => {
    // Also locks people: two concurrent requests must not both get one name.
    const grant = await lockGrant(tx, actor, input.projects);
    const role = input.role ?? (input.projects === undefined ? 'editor' : 'none');
    return { ...newRights(grant, { ...input, role }), ...(input.exempt && { exempt: true }) };
  });
}

/** The properties of a person's own token. Without a role, it has the rights that the person has now. */
export type NewOwnToken = Pick<NewAccessToken, 'name' | 'role' | 'canChangeProtected' | 'only' | 'expiresAt'>;

/** Creates a token that belongs to a person, and never does more than they may. At most 20 valid ones. As {@link createAccessToken}. (Spec: S23.2) */
export function createOwnToken(
  context: ManagementContext,
  actor: Actor,
  { ownerId, ...input }: NewOwnToken & { readonly ownerId: string },
): Promise<CreatedAccessToken> {
  const { role = 'admin', canChangeProtected = true } = input;

  return create(context, actor, input, async (tx) => {
    await tx.lockPeople();
    const owner = await findOperator(tx, ownerId);
    const rights = commonRights({ role, canChangeProtected }, owner);
    if (rights.role === 'none' && rights.projects === undefined)
      throw invalid('There is no role: you have none that a token could have.');
    return { ...rights, ownerId, owner: owner.email };
  });
}

/** The tokens of a person, including revoked and expired ones. */
export async function listOwnTokens(
  context: ManagementContext,
  ownerId: string,
): Promise<readonly AccessToken[]> {
  const tokens = await context.store.read((db) => readAccessTokens(db));
  return tokens.filter((token) => token.ownerId === ownerId);
}

/** Creates a token with what `decide` says it may do, who has locked people. */
async function create(
  context: ManagementContext,
  actor: Actor,
  input: NewOwnToken,
  decide: (tx: Tx) => Promise<Rights & Pick<AccessToken, 'exempt' | 'ownerId' | 'owner'>>,
): Promise<CreatedAccessToken> {
  const name = checkLabel(input.name);
  const createdAt = context.now();
  checkExpiry(input.expiresAt, createdAt);
  const token = newAccessToken(context);

  return writeRecord(context, actor, async (tx) => {
    const decided = await decide(tx);
    const { only, expiresAt } = input;
    const record: AccessToken = {
      id: context.newId(),
      name,
      ...decided,
      createdAt,
      ...defined({ only, expiresAt }),
    };

    const valid = (await readAccessTokens(tx)).filter((other) => isValid(other, createdAt));
    if (name === ADMIN_NAME || valid.some((other) => other.name === name)) {
      throw new ServiceError(
        'already_exists',
        `The access token ${quote(name)} already exists: choose another name.`,
      );
    }

    const { ownerId } = record;
    if (ownerId !== undefined && valid.filter((other) => other.ownerId === ownerId).length >= MAX_OWN)
      throw invalid(`You have ${MAX_OWN} access tokens, which is the limit: revoke one first.`);

    await insertAccessToken(tx, record, digestOf(token));
    return { ...record, token };
  });
}

/**
 * Revokes an access token permanently, with the open links created with it; repeating it changes nothing. With `ownerId`, a token of
 * that person. `not_found`.
 */
export function revokeAccessToken(
  context: ManagementContext,
  actor: Actor,
  { id, ownerId }: { readonly id: string; readonly ownerId?: string },
): Promise<Written<object>> {
  const mayRevoke = (token: AccessToken) =>
    ownerId === undefined ? administersAll(actor, token) : token.ownerId === ownerId;

  return writeDone(context, actor, async (tx) => {
    const token = (await readAccessTokens(tx)).find((candidate) => candidate.id === id);
    if (token === undefined || !mayRevoke(token))
      throw recordNotFound(
        `The access token with the id ${quote(id)} does not exist: list the tokens to find it.`,
      );
    if (token.revokedAt !== undefined) return;

    await tx.lockPeople();
    await endToken(context, tx, token);
  });
}

/**
 * The holder of this token; `undefined` for an unknown, revoked, expired or malformed one. The
 * token from the settings is compared by digest in constant time and works without the database.
 */
export async function verifyAccessToken(
  context: ManagementContext & { readonly adminToken?: string | undefined },
  presented: string,
): Promise<TokenHolder | undefined> {
  if (presented === '' || presented.length > MAX_TOKEN_LENGTH) return undefined;

  const { adminToken } = context;
  if (adminToken !== undefined && isSameSecret(presented, adminToken))
    return { name: ADMIN_NAME, permissions: UNLIMITED };

  return context.store.read(async (db) => {
    const found = await readTokenByDigest(db, digestOf(presented));
    const rights = found && (await tokenRights(db, found.token, context.now()));
    if (found === undefined || rights === undefined) return undefined;

    const { credential, token } = found;
    return { name: token.name, permissions: permissionsOf(rights), credential };
  });
}

/** How exact "last used" is, in milliseconds. */
const RESOLUTION_MS = 60_000;

/** Records when access tokens were last used: in the background, at most once a minute each. */
export class TokenUses {
  readonly #context: ManagementContext;
  readonly #onFailure: (error: unknown) => void;
  readonly #noted = new Map<string, number>();

  /** A use that cannot be written is reported to `onFailure` and dropped; the request continues. */
  constructor(context: ManagementContext, onFailure: (error: unknown) => void) {
    this.#context = context;
    this.#onFailure = onFailure;
  }

  /** Records that the token is used now. */
  note(id: string): void {
    const now = this.#context.now();
    if (now - (this.#noted.get(id) ?? Number.NEGATIVE_INFINITY) < RESOLUTION_MS) return;
    this.#noted.set(id, now);
    void storeLastUse(this.#context.store, 'access_tokens', [[id, now]]).catch(this.#onFailure);
  }
}
