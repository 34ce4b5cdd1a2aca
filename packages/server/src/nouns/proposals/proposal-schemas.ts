import { rawJson, type Writable } from '../../domain/raw-json.ts';
import { isoTime, isoTimeOr } from '../../management/api/answers.ts';
import type { NamedProposal, ProposedRequest } from './proposal.ts';

/** A proposal as it is answered; its environments that were deleted are left out. `request`: where it is read alone. */
export function proposalRecord(
  { project, names, ...proposal }: NamedProposal,
  request?: ProposedRequest,
): Writable {
  const { id, status, operation, author, person, note, required, hold, createdAt, expiresAt } = proposal;
  const nameOf = (environmentId: string) => names.get(environmentId);

  return {
    id,
    project,
    status,
    environments: proposal.environments.flatMap((each) => nameOf(each) ?? []),
    operation,
    request: request && { ...request },
    effects: proposal.effects.map(({ action, environmentId = '', target, before, after }) => ({
      action,
      environment: nameOf(environmentId),
      target,
      before: rawJson(before),
      after: rawJson(after),
    })),
    author,
    person,
    note,
    required,
    hold,
    approvals: proposal.approvals.map(({ by, at }) => ({ by, at: isoTime(at) })),
    createdAt: isoTime(createdAt),
    expiresAt: isoTime(expiresAt),
    settledAt: isoTimeOr(proposal.settledAt),
    settledBy: proposal.settledBy,
    outcome: proposal.outcome,
    seq: proposal.seq,
  };
}
