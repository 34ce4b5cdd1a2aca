import { defined } from '@halyard/protocol';
import type { Approval } from '../../domain/approval.ts';
import type { Actor } from '../../domain/audit.ts';
import { quote, ServiceError } from '../../domain/errors.ts';
import type { Environment } from '../../domain/project.ts';
import { mayChangeProtected } from '../../management/rights.ts';
import type { Queryable } from '../../storage/database.ts';
import type { Tx } from '../../storage/tx.ts';
import { recordNotFound } from '../lookup.ts';
import { currentPermissions } from '../people/grants.ts';
import { differenceOf, effectsOf } from './effects.ts';
import { type Effect, type GivenApproval, isPending, type Proposal } from './proposal.ts';
import { lockProposal, storeApproval, storeSettlement } from './proposal-table.ts';

/** What a proposal would do is no longer what people have approved. */
export class Outdated extends Error {
  override readonly name = 'Outdated';
}

/** An environment has come to require more approvals than the proposal has. */
export class MoreNeeded extends Error {
  override readonly name = 'MoreNeeded';
}

/** The person who applies a proposal, and whether this is an approval. */
export interface Applier {
  readonly actor: Actor;
  /** Epoch milliseconds. */
  readonly at: number;
  readonly approves: boolean;
}

/**
 * Carries out a proposal, as the approval of the operation that its author has asked for. In the transaction of that operation it
 * checks, under the locks, that it does exactly what was proposed, that author and approvers still have their rights, and that the
 * proposal has not ended; then it ends it.
 */
export class CarryingOut implements Approval {
  readonly isConfirmed = true;
  readonly #proposal: Proposal;
  readonly #applier: Applier;
  #required = 1;
  /** The proposal under its lock, with the transaction that has it. */
  #locked: { readonly tx: object; readonly proposal: Proposal | undefined } | undefined;

  constructor(proposal: Proposal, applier: Applier) {
    this.#proposal = proposal;
    this.#applier = applier;
  }

  get proposal(): string {
    return this.#proposal.id;
  }

  covers({ approvals }: Environment): void {
    this.#required = Math.max(this.#required, approvals);
  }

  async lock(tx: Tx): Promise<void> {
    this.#locked = { tx, proposal: await lockProposal(tx, this.#proposal.id) };
  }

  async finish(tx: Tx): Promise<void> {
    const { actor, at, approves } = this.#applier;
    const effects = effectsOf(tx.journal);
    // A transaction may run again.
    if (this.#locked?.tx !== tx) await this.lock(tx);
    const stored = this.#locked?.proposal;
    // A project takes its proposals with it, the one that deletes it included.
    const isGone = stored === undefined && effects.some(({ action }) => action === 'project.deleted');
    const proposal = isGone ? this.#proposal : stored;
    if (proposal === undefined || !isPending(proposal)) throw closed(proposal);

    const different = differenceOf(proposal.effects, effects);
    if (different !== undefined) throw new Outdated(`${subjectOf(different)} was changed in the meantime.`);

    const given: GivenApproval = { by: actor.name, at };
    const approvals = approves ? [...proposal.approvals, given] : proposal.approvals;
    await tx.lockPeople();
    await requireAuthor(tx, proposal, at);
    const counted = await countApprovals(tx, { ...proposal, approvals }, at);
    if (counted < this.#required) throw new MoreNeeded();

    if (approves)
      await storeApproval(tx, proposal, { given, status: 'approved', journal: tx.journalOf(actor) });
    const settled = { status: 'applied', at, by: actor.name } as const;
    await storeSettlement(tx, { ...proposal, approvals }, settled);
  }
}

/** The approvals that count: of people who still have the right to change the environments, each once, and never the author. */
export async function countApprovals(db: Queryable, proposal: Proposal, now: number): Promise<number> {
  const { projectId, author, person, approvals } = proposal;
  const counted = new Set<string>();
  for (const { by, at } of approvals) {
    const permissions = await currentPermissions(db, by, { now, since: at });
    const isOther = by !== author && by !== person;
    if (isOther && permissions !== undefined && mayChangeProtected(permissions, projectId)) counted.add(by);
  }
  return counted.size;
}

/** The author with the rights of now, to whom the change belongs. `forbidden` once the author has none. */
export async function requireAuthor(db: Queryable, proposal: Proposal, now: number): Promise<Actor> {
  const { author: name, note, createdAt } = proposal;
  const permissions = await currentPermissions(db, name, { now, since: createdAt });
  if (permissions !== undefined) return { name, permissions, ...defined({ note }) };
  throw new Outdated(`${quote(name)}, who proposed this, no longer has permission to make changes.`);
}

/** The proposal has ended, so nothing can be done with it. */
export function closed(proposal: Proposal | undefined): ServiceError {
  if (proposal === undefined) return recordNotFound('The proposal no longer exists.');
  const { status, outcome } = proposal;
  const why = outcome === undefined ? '.' : `: ${outcome}`;
  return new ServiceError('proposal_closed', `The proposal is ${status}${why} Propose the change again.`);
}

function subjectOf({ action, target }: Effect): string {
  return action.startsWith('flag.') ? `The flag ${quote(target)}` : `What it changes (${action})`;
}
