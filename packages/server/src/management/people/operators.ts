import type { Actor } from '../../domain/audit.ts';
import { invalid, quote, ServiceError } from '../../domain/errors.ts';
import type { Invitation, Operator, PeopleReader, PeopleTransaction, Role } from '../../domain/people.ts';
import type { ManagementContext } from '../context.ts';
import { checkLabel } from '../rules.ts';
import { type Written, writeDone, writeRecord } from '../write.ts';
import { operatorName } from './people.ts';

/** A change to an operator; absent members stay unchanged. */
export interface OperatorChange {
  readonly name?: string;
  readonly role?: Role;
  readonly canChangeProtected?: boolean;
}

/** All operators, by e-mail. */
export function listOperators(context: ManagementContext): Promise<readonly Operator[]> {
  return context.store.read(({ people }) => people.operators());
}

/** Whether there is no operator yet. */
export async function isSetupNeeded(context: ManagementContext): Promise<boolean> {
  return !(await context.store.read(({ people }) => people.hasOperators()));
}

/**
 * Changes an operator. New permissions end the operator's sessions, except the one of digest `keep`, the caller's
 * own, and a demotion ends the open links that the administrator created. `not_found`, `invalid_argument` for the last administrator.
 */
export function changeOperator(
  context: ManagementContext,
  actor: Actor,
  input: { readonly id: string; readonly change: OperatorChange; readonly keep?: string },
): Promise<Written<Operator>> {
  const { id, change, keep } = input;
  const label = change.name === undefined ? {} : { name: checkLabel(change.name) };
  return writeRecord(context, actor, async ({ people }) => {
    await people.lock();
    const known = await findOperator(people, id);
    const operator: Operator = { ...known, ...change, ...label };
    if (known.role === 'admin' && operator.role !== 'admin') await requireAnotherAdmin(people, known);
    await people.updateOperator(operator);
    if (known.role === 'admin' && operator.role !== 'admin')
      await endLinks(context, people, (link) => link.createdBy === operatorName(known));
    const isChanged =
      known.role !== operator.role || known.canChangeProtected !== operator.canChangeProtected;
    if (isChanged) await people.deleteSessionsOf(operator, keep);
    return operator;
  });
}

/**
 * Removes an operator with all sessions, and all open links to or by the operator, which could restore access. Access
 * tokens stay, because pipelines depend on them. `not_found`, `invalid_argument` for the last administrator.
 */
export function removeOperator(
  context: ManagementContext,
  actor: Actor,
  id: string,
): Promise<Written<object>> {
  return writeDone(context, actor, async ({ people }) => {
    await people.lock();
    const operator = await findOperator(people, id);
    if (operator.role === 'admin') await requireAnotherAdmin(people, operator);
    const creator = operatorName(operator);
    await endLinks(context, people, (link) => link.email === operator.email || link.createdBy === creator);
    await people.deleteOperator(operator);
  });
}

/** Revokes the open links that match. */
export async function endLinks(
  context: ManagementContext,
  people: PeopleTransaction,
  matches: (link: Invitation) => boolean,
): Promise<void> {
  const now = context.now();
  for (const link of await people.openInvitations(now)) {
    if (matches(link)) await people.revokeInvitation(link, now);
  }
}

/** The operator of that id, or `not_found`. */
export async function findOperator(people: PeopleReader, id: string): Promise<Operator> {
  const operator = await people.operator(id);
  if (operator !== undefined) return operator;
  throw new ServiceError(
    'not_found',
    `The operator with the id ${quote(id)} does not exist: list the operators to find it.`,
  );
}

async function requireAnotherAdmin(people: PeopleReader, operator: Operator): Promise<void> {
  const operators = await people.operators();
  if (operators.some((other) => other.role === 'admin' && other.id !== operator.id)) return;
  throw invalid(
    `${quote(operator.email)} is the only administrator: make another operator an administrator first.`,
  );
}
