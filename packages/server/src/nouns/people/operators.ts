import { defined } from '@halyard/protocol';
import type { Actor } from '../../domain/audit.ts';
import { invalid, quote } from '../../domain/errors.ts';
import type { Rights } from '../../domain/rights.ts';
import type { ManagementContext } from '../../management/context.ts';
import {
  administers,
  administersAll,
  requireRole,
  rightsOf,
  sees,
  visibleProjects,
} from '../../management/rights.ts';
import { checkLabel } from '../../management/rules.ts';
import { type Written, writeDone, writeRecord } from '../../management/write.ts';
import type { Queryable } from '../../storage/database.ts';
import type { Tx } from '../../storage/tx.ts';
import { type AccessToken, isValid } from '../access-tokens/access-token.ts';
import {
  readAccessTokens,
  storeRevocation as storeTokenRevocation,
} from '../access-tokens/access-token-table.ts';
import { recordNotFound } from '../lookup.ts';
import { isManagedBySso } from '../sso/sso.ts';
import { changeRights, lockGrant, type RightsChange } from './grants.ts';
import type { Invitation } from './invitation.ts';
import { readOpenInvitations, storeRevocation } from './invitation-table.ts';
import type { Operator } from './operator.ts';
import {
  hasOperators,
  readOperator,
  readOperators,
  removeOperator,
  storeOperator,
} from './operator-table.ts';
import { operatorActor, operatorName, type PeopleContext } from './people.ts';
import { removeSessionsOf } from './session-table.ts';
import { endStandingWork } from './standing-work.ts';

/** A change to an operator; absent members stay unchanged. */
export interface OperatorChange extends RightsChange {
  readonly name?: string;
}

/**
 * The operators that the actor may see, by e-mail: administrators see all of them, also those of one project, who may give them
 * roles; others see the people of their projects and themselves.
 */
export async function listOperators(context: ManagementContext, actor: Actor): Promise<readonly Operator[]> {
  const operators = await context.store.read((db) => readOperators(db));
  const visible = visibleProjects(actor);
  if (visible === undefined || visible.some((id) => administers(actor, [id]))) return operators;
  return operators.filter((operator) => {
    const { role, projects = [] } = operator;
    if (operatorName(operator) === actor.name) return true;
    return (
      (visible.length > 0 && role !== 'none') || projects.some(({ projectId }) => sees(actor, projectId))
    );
  });
}

/** Whether there is no operator yet. */
export async function isSetupNeeded(context: ManagementContext): Promise<boolean> {
  return !(await context.store.read((db) => hasOperators(db)));
}

/**
 * Changes an operator. A new role for all projects ends the operator's sessions, except the one of digest `keep`, the caller's
 * own. Other rights end the open links that the operator created and could no longer create. `not_found`,
 * `project_not_found`, `forbidden`, `invalid_argument` for the last administrator and for the roles of an operator whose groups decide them.
 */
export function changeOperator(
  context: PeopleContext,
  actor: Actor,
  input: { readonly id: string; readonly change: OperatorChange; readonly keep?: string },
): Promise<Written<Operator>> {
  const { id, change, keep } = input;
  const label = change.name === undefined ? {} : { name: checkLabel(change.name) };

  return writeRecord(context, actor, async (tx) => {
    const grant = await lockGrant(tx, actor, change.projects);
    const known = await findOperator(tx, id);
    if (change.name !== undefined) requireRole(grant.actor, 'admin');

    const rights = changeRights(grant, known, change);
    if (!Bun.deepEquals(rightsOf(known), rights) && isManagedBySso(known, context.sso)) {
      throw invalid(
        `${quote(known.email)} signs in by single sign-on: the role comes from their groups at the identity provider.`,
      );
    }

    const operator = withRights({ ...known, ...label }, rights);
    if (known.role === 'admin' && operator.role !== 'admin') await requireAnotherAdmin(tx, known);
    await replaceOperator(context, tx, { known, operator, ...defined({ keep }) });
    return operator;
  });
}

/** The operator with other rights. */
export function withRights({ projects: _, ...operator }: Operator, rights: Rights): Operator {
  return { ...operator, ...rights };
}

/**
 * Writes a changed operator. Another role for all projects ends the operator's sessions, except the one of digest `keep`; other
 * rights end the open links that the operator created and could no longer create.
 */
export async function replaceOperator(
  context: ManagementContext,
  tx: Tx,
  {
    known,
    operator,
    keep,
  }: { readonly known: Operator; readonly operator: Operator; readonly keep?: string },
): Promise<void> {
  await storeOperator(tx, operator);
  if (Bun.deepEquals(rightsOf(known), rightsOf(operator))) return;

  const creator = operatorActor(operator, {});
  await endLinks(context, tx, (link) => link.createdBy === creator.name && !mayOffer(creator, link));
  if (operator.role === 'none' && operator.projects === undefined) await endTokensOf(context, tx, operator);

  // Sessions have no rights of their own: each request reads them. A role in one project ends none, because the administrators of
  // a project could sign out anyone; a new role for all projects does, so that a stolen session does not rise with its owner.
  if (known.role !== operator.role || known.canChangeProtected !== operator.canChangeProtected) {
    await removeSessionsOf(tx, operator, keep);
  }
}

/** Whether the actor may create such a link: an invitation to rights that it administers, a password reset as an administrator of all projects. */
export function mayOffer(actor: Actor, link: Pick<Invitation, 'kind'> & Rights): boolean {
  return link.kind === 'reset' ? administers(actor) : administersAll(actor, link);
}

/**
 * Removes an operator with all sessions, own tokens, standing work, and all open links to or by the operator, which could restore access. Access
 * tokens of the installation stay, because pipelines depend on them. `not_found`, `invalid_argument` for the last administrator.
 */
export function deleteOperator(
  context: ManagementContext,
  actor: Actor,
  id: string,
): Promise<Written<object>> {
  return writeDone(context, actor, async (tx) => {
    await endStandingWork(tx, await findOperator(tx, id), actor.name);
    await tx.lockPeople();
    const operator = await findOperator(tx, id);
    if (operator.role === 'admin') await requireAnotherAdmin(tx, operator);

    const creator = operatorName(operator);
    await endLinks(context, tx, (link) => link.email === operator.email || link.createdBy === creator);
    await endTokensOf(context, tx, operator);
    await removeOperator(tx, operator);
  });
}

/** Revokes the tokens that belong to a person. */
async function endTokensOf(context: ManagementContext, tx: Tx, { id }: Operator): Promise<void> {
  for (const token of await readAccessTokens(tx)) {
    if (token.ownerId === id && isValid(token, context.now())) await endToken(context, tx, token);
  }
}

/** Revokes a token, with the open links that were created with it. */
export async function endToken(context: ManagementContext, tx: Tx, token: AccessToken): Promise<void> {
  await endLinks(context, tx, (link) => link.createdBy === `token:${token.name}`);
  await storeTokenRevocation(tx, token, context.now());
}

/** Revokes the open links that match. */
export async function endLinks(
  context: ManagementContext,
  tx: Tx,
  matches: (link: Invitation) => boolean,
): Promise<void> {
  const now = context.now();
  for (const link of await readOpenInvitations(tx, now)) {
    if (matches(link)) await storeRevocation(tx, link, now);
  }
}

/** The operator of that id, or `not_found`. */
export async function findOperator(db: Queryable, id: string): Promise<Operator> {
  const operator = await readOperator(db, id);
  if (operator !== undefined) return operator;
  throw recordNotFound(
    `The operator with the id ${quote(id)} does not exist: list the operators to find it.`,
  );
}

async function requireAnotherAdmin(db: Queryable, operator: Operator): Promise<void> {
  const operators = await readOperators(db);
  if (operators.some((other) => other.role === 'admin' && other.id !== operator.id)) return;
  throw invalid(
    `${quote(operator.email)} is the only administrator: make another operator an administrator first.`,
  );
}
