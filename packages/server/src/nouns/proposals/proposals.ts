import { defined, type ProposalStatus } from '@halyard/protocol';
import type { Actor } from '../../domain/audit.ts';
import { quote, RightsChanged, ServiceError } from '../../domain/errors.ts';
import type { Environment } from '../../domain/project.ts';
import type { HeavyCall } from '../../management/api/heavy-call.ts';
import type { ManagementContext } from '../../management/context.ts';
import { mayChangeProtected } from '../../management/rights.ts';
import {
  requireConfirmation,
  requirePermission,
  type Written,
  write,
  writeRecord,
} from '../../management/write.ts';
import type { Queryable } from '../../storage/database.ts';
import type { Tx } from '../../storage/tx.ts';
import { readEnvironments } from '../environments/environment-table.ts';
import { findProject, type RecordPlace, recordNotFound } from '../lookup.ts';
import {
  type Applier,
  CarryingOut,
  closed,
  countApprovals,
  MoreNeeded,
  Outdated,
  requireAuthor,
} from './carrying-out.ts';
import {
  isPending,
  type NamedProposal,
  type Proposal,
  type ProposalFilter,
  type Settlement,
} from './proposal.ts';
import {
  lockProposal,
  readProposal,
  readProposals,
  storeApproval,
  storeSettlement,
} from './proposal-table.ts';

/** Most settled proposals in a list. */
const SETTLED_SHOWN = 200;

/** Repeats the request of a proposal, without authenticating it: the actor is given. */
export type Repeat = (call: HeavyCall) => Promise<Response>;

/** The parts of the node that decisions on proposals use. */
export interface ProposalContext extends ManagementContext {
  readonly repeat: Repeat;
}

/** What a person decides about a proposal. Also `project_not_found`, `not_found`. */
export type Decision = (
  context: ProposalContext,
  actor: Actor,
  place: RecordPlace,
) => Promise<Written<NamedProposal>>;

/** Proposals that wait for a decision, the oldest first, then the newest of the others. `project_not_found`. */
export function listProposals(
  context: ManagementContext,
  actor: Actor,
  { project, status }: { readonly project: string; readonly status?: ProposalStatus | 'waiting' },
): Promise<readonly NamedProposal[]> {
  return context.store.read(async (db) => {
    const { id: projectId } = await findProject(db, actor, project);
    const filter: ProposalFilter = { projectId, settled: SETTLED_SHOWN, ...defined({ status }) };
    const names = namesOf(await readEnvironments(db, projectId));
    return (await readProposals(db, filter)).map((proposal) => ({ ...proposal, project, names }));
  });
}

/** One proposal. `project_not_found`, `not_found`. */
export function getProposal(
  context: ManagementContext,
  actor: Actor,
  place: RecordPlace,
): Promise<NamedProposal> {
  return context.store.read(async (db) => (await findProposal(db, actor, place)).proposal);
}

/**
 * Approves a proposal. The last approval that it needs applies it, in the same transaction, unless its author wants it held.
 * `forbidden` for its author and for tokens, `confirmation_required`, `proposal_closed`, `already_exists` for a second approval by
 * one person, `revision_conflict` when something that it changes has changed since.
 */
export const approveProposal: Decision = async (context, actor, place) => {
  const at = context.now();
  const { proposal, environments } = await context.store.read((db) => findProposal(db, actor, place));
  requireOpen(proposal);
  requireApprover(actor, proposal);
  for (const environment of environments) requireConfirmation(actor, environment);
  if (proposal.approvals.some(({ by }) => by === actor.name)) {
    throw new ServiceError(
      'already_exists',
      'You have approved this proposal already: another person must, too.',
    );
  }

  const required = Math.max(1, ...environments.map(({ approvals }) => approvals));
  const counted = await context.store.read((db) => countApprovals(db, proposal, at));
  const isLast = counted + 1 >= required;
  if (isLast && !proposal.hold) {
    try {
      return await carryOut(context, { proposal, actor, at, approves: true });
    } catch (error) {
      if (!(error instanceof MoreNeeded)) throw error;
    }
  }

  const status = isLast && proposal.hold ? 'approved' : 'open';
  return writeProposal(context, actor, place, (tx, locked) =>
    storeApproval(tx, locked, { given: { by: actor.name, at }, status }),
  );
};

/** Applies a proposal that was approved and held. As {@link approveProposal} refuses; also its author may apply it. */
export const applyProposal: Decision = async (context, actor, place) => {
  const { proposal, environments } = await context.store.read((db) => findProposal(db, actor, place));
  requireOpen(proposal);
  if (proposal.status !== 'approved') {
    throw new ServiceError('approval_required', 'The proposal has not been approved yet.');
  }
  for (const environment of environments) {
    requirePermission(actor, environment);
    requireConfirmation(actor, environment);
  }

  try {
    return await carryOut(context, { proposal, actor, at: context.now(), approves: false });
  } catch (error) {
    if (error instanceof MoreNeeded)
      throw new ServiceError('approval_required', 'The proposal needs more approvals by now.');
    throw error;
  }
};

/** Rejects a proposal: it ends. The note of the request is the reason. As {@link approveProposal} refuses. */
export const rejectProposal: Decision = (context, actor, place) =>
  writeProposal(context, actor, place, async (tx, proposal) => {
    requireApprover(actor, proposal);
    await storeSettlement(tx, proposal, settlement(context, actor, 'rejected'));
  });

/** Withdraws a proposal: its author takes it back, or an administrator does. `forbidden`, `proposal_closed`. */
export const withdrawProposal: Decision = (context, actor, place) =>
  writeProposal(context, actor, place, async (tx, proposal) => {
    const isOwn = actor.name === proposal.author || actor.name === proposal.person;
    if (!isOwn && !mayChangeProtected(actor.permissions, proposal.projectId))
      throw forbidden('Only its author or an administrator withdraws a proposal: reject it instead.');
    await storeSettlement(tx, proposal, settlement(context, actor, 'withdrawn'));
  });

/** Acknowledges a change that was made in an emergency: another person has seen it. `forbidden`, `proposal_closed`. */
export const acknowledgeProposal: Decision = (context, actor, place) => {
  const decide: Decide = async (tx, proposal) => {
    requireApprover(actor, proposal);
    await storeSettlement(tx, proposal, settlement(context, actor, 'acknowledged'));
  };
  return writeProposal(context, actor, place, decide, ({ status }) => status === 'emergency');
};

/** Repeats the request of a proposal as its author. When it would no longer do what was proposed, the proposal is outdated. */
async function carryOut(
  context: ProposalContext,
  { proposal, actor, at, approves }: Applier & { readonly proposal: NamedProposal },
): Promise<Written<NamedProposal>> {
  try {
    const author = await context.store.read((db) => requireAuthor(db, proposal, at));
    const approval = new CarryingOut(proposal, { actor, at, approves });
    // The person whose request this is: the right to decide counts at the commit as well.
    const { credential, ip } = actor;
    await context.repeat({
      ...callOf(proposal),
      actor: { ...author, approval, ...defined({ credential, ip }) },
    });
  } catch (error) {
    if (error instanceof RightsChanged || error instanceof MoreNeeded) throw error;
    if (!(error instanceof Outdated) && !isRefusal(error)) throw error;
    await endOutdated(context, actor, proposal, error.message);
    throw new ServiceError(
      'revision_conflict',
      `Nothing was changed, and the proposal is outdated: ${error.message} Propose the change again.`,
    );
  }

  const applied = await context.store.read((db) => readProposal(db, proposal.id));
  // It does not exist if its project was deleted.
  return { ...proposal, status: 'applied', ...applied };
}

/** The operation refused what it had allowed when it was proposed. */
function isRefusal(error: unknown): error is ServiceError {
  if (!(error instanceof ServiceError)) return false;
  return error.code !== 'internal_error' && error.code !== 'proposal_closed';
}

async function endOutdated(context: ManagementContext, actor: Actor, { id }: Proposal, outcome: string) {
  await write(context, actor, async (tx) => {
    const proposal = await lockProposal(tx, id);
    if (proposal === undefined || !isPending(proposal)) throw closed(proposal);
    await storeSettlement(tx, proposal, { ...settlement(context, actor, 'outdated'), outcome });
  });
}

function callOf({ request: { method, path, type, body } }: Proposal): Omit<HeavyCall, 'actor'> {
  return {
    method,
    url: new URL(path, 'http://localhost').href,
    headers: type === undefined ? {} : { 'Content-Type': type },
    ...(body !== undefined && { body: new TextEncoder().encode(body) }),
  };
}

type Decide = (tx: Tx, proposal: Proposal) => Promise<void>;

/** Runs a decision on a locked proposal that still waits for it. */
function writeProposal(
  context: ManagementContext,
  actor: Actor,
  place: RecordPlace,
  decide: Decide,
  waits: (proposal: Proposal) => boolean = isPending,
): Promise<Written<NamedProposal>> {
  return writeRecord(context, actor, async (tx) => {
    await findProposal(tx, actor, place);
    const proposal = await lockProposal(tx, place.id);
    if (proposal === undefined || !waits(proposal)) throw closed(proposal);

    await decide(tx, proposal);
    return (await findProposal(tx, actor, place)).proposal;
  });
}

function settlement(
  context: ManagementContext,
  { name, note }: Actor,
  status: Settlement['status'],
): Settlement {
  return { status, at: context.now(), by: name, ...defined({ outcome: note }) };
}

async function findProposal(
  db: Queryable,
  actor: Actor,
  { project, id }: RecordPlace,
): Promise<{ readonly proposal: NamedProposal; readonly environments: readonly Environment[] }> {
  const { id: projectId } = await findProject(db, actor, project);
  const proposal = await readProposal(db, id);
  if (proposal?.projectId !== projectId) {
    throw recordNotFound(`The project has no proposal with the id ${quote(id)}: list them to find it.`);
  }

  const all = await readEnvironments(db, projectId);
  const environments = all.filter((environment) => proposal.environments.includes(environment.id));
  return { proposal: { ...proposal, project, names: namesOf(all) }, environments };
}

function namesOf(environments: readonly Environment[]): ReadonlyMap<string, string> {
  return new Map(environments.map(({ id, name }) => [id, name]));
}

function requireOpen(proposal: Proposal): void {
  if (!isPending(proposal)) throw closed(proposal);
}

/** Refuses who must not decide: programs, the author in any guise, and people who may not change these environments. */
function requireApprover(actor: Actor, { projectId, author, person }: Proposal): void {
  if (actor.credential?.kind !== 'session')
    throw forbidden('Only people approve, in the dashboard: a token cannot.');
  if (actor.name === author || actor.name === person)
    throw forbidden('You proposed this yourself: another person decides.');
  if (!mayChangeProtected(actor.permissions, projectId))
    throw forbidden(
      'You may not change this environment yourself, so you cannot decide: ask an administrator.',
    );
}

function forbidden(message: string): ServiceError {
  return new ServiceError('forbidden', message);
}
