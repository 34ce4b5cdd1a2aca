import type { Actor } from '../../domain/audit.ts';
import type { SessionLifetime } from '../../domain/rights.ts';
import { requireRole } from '../../management/rights.ts';
import { type AccessToken, isValid } from '../access-tokens/access-token.ts';
import { readAccessTokens } from '../access-tokens/access-token-table.ts';
import { tokenActing } from '../access-tokens/creators.ts';
import { readTokenCreations, type TokenCreation } from '../access-tokens/creators-query.ts';
import { sessionLifetime } from '../sso/sso.ts';
import { type HeldKey, type OwnedFlag, readFlagsOf, readKeysBy, readPlaceNames } from './holdings-query.ts';
import type { Invitation } from './invitation.ts';
import { readOpenInvitations } from './invitation-table.ts';
import { isLive, type Operator, type Session } from './operator.ts';
import { findOperator } from './operators.ts';
import { operatorName, type PeopleContext } from './people.ts';
import { readSessionsOf } from './session-table.ts';
import { actorNames, readStandingWork, type StandingWork } from './standing-work.ts';

/** What a person has, and what becomes of it when they are removed. */
export interface Holdings {
  readonly operator: Operator;
  readonly lifetime: SessionLifetime;
  readonly ends: StandingWork & {
    readonly sessions: readonly Session[];
    /** Those that belong to the person. */
    readonly tokens: readonly AccessToken[];
    /** To the person, or made by them. */
    readonly links: readonly Invitation[];
  };
  readonly stays: {
    /** Those of the installation that the person created, and whose values they may know. */
    readonly tokens: readonly AccessToken[];
    readonly keys: readonly HeldKey[];
    readonly flags: readonly OwnedFlag[];
  };
  /** The names of projects and environments, by id. */
  readonly names: ReadonlyMap<string, string>;
}

/** What a person has. `forbidden`, `not_found`. */
export function readHoldings(context: PeopleContext, actor: Actor, id: string): Promise<Holdings> {
  requireRole(actor, 'admin');
  const now = context.now();

  return context.store.read(async (db) => {
    const operator = await findOperator(db, id);
    const lifetime = sessionLifetime(operator, context.sso);
    const tokens = (await readAccessTokens(db)).filter((token) => isValid(token, now));
    const names = actorNames(operator, tokens, now);
    const creations = await readTokenCreations(db);
    // Also with own tokens that have ended. Another person's token may have had the name since.
    const isCreator = (creation: Pick<TokenCreation, 'by' | 'seq'>) =>
      creation.by === operatorName(operator) || tokenActing(creations, creation)?.ownerId === id;
    const created = new Set(creations.filter(isCreator).map((token) => token.id));
    const own = creations.filter(({ ownerId }) => ownerId === id).map(({ name }) => `token:${name}`);
    const keys = await readKeysBy(db, [...new Set([operatorName(operator), ...own])], now);
    const links = await readOpenInvitations(db, now);
    const sessions = await readSessionsOf(db, operator);

    return {
      operator,
      lifetime,
      ends: {
        sessions: sessions.filter((session) => isLive(session, lifetime, now)),
        tokens: tokens.filter(({ ownerId }) => ownerId === id),
        links: links.filter(({ email, createdBy }) => email === operator.email || names.includes(createdBy)),
        ...(await readStandingWork(db, names)),
      },
      stays: {
        tokens: tokens.filter((token) => token.ownerId === undefined && created.has(token.id)),
        keys: keys.filter(isCreator),
        flags: await readFlagsOf(db, [operator.email, operator.name]),
      },
      names: await readPlaceNames(db),
    };
  });
}
