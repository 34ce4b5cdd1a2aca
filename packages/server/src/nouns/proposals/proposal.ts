import type { ProposalStatus } from '@halyard/protocol';
import type { AuditEntry } from '../../domain/audit.ts';

/** One record that an operation changes, as the audit log has it. */
export type Effect = Pick<AuditEntry, 'action' | 'environmentId' | 'target' | 'before' | 'after'>;

/** The request that a proposal repeats when it is applied. */
export interface ProposedRequest {
  readonly method: string;
  /** The address without its origin: path and query. */
  readonly path: string;
  readonly type?: string;
  readonly body?: string;
}

/** A person's approval. */
export interface GivenApproval {
  /** The actor's name, as in the audit log. */
  readonly by: string;
  /** Epoch milliseconds. */
  readonly at: number;
}

/** A change that waits for the approval of other people. Only its status and its approvals change. */
export interface Proposal {
  readonly id: string;
  readonly projectId: string;
  /** The ids of the environments that it changes and that require approvals. */
  readonly environments: readonly string[];
  /** The id of the operation. */
  readonly operation: string;
  readonly request: ProposedRequest;
  /** What it changes, and from what. */
  readonly effects: readonly Effect[];
  /** The actor's name, as in the audit log. */
  readonly author: string;
  /** Who created the author, if that is an access token. */
  readonly person?: string;
  readonly note?: string;
  /** How many people had to approve it when it was proposed. */
  readonly required: number;
  /** Whether it waits for a person once it is approved. */
  readonly hold: boolean;
  readonly approvals: readonly GivenApproval[];
  readonly status: ProposalStatus;
  /** Epoch milliseconds, as are all times here. */
  readonly createdAt: number;
  readonly expiresAt: number;
  readonly settledAt?: number;
  readonly settledBy?: string;
  /** Why it ended, in a sentence, where the status does not say it. */
  readonly outcome?: string;
  /** Of the change that it made. */
  readonly seq?: number;
}

/** A proposal with the names of its project and, by id, of the environments there. */
export interface NamedProposal extends Proposal {
  readonly project: string;
  readonly names: ReadonlyMap<string, string>;
}

/** How a proposal ends. */
export interface Settlement {
  readonly status: Exclude<ProposalStatus, 'open' | 'approved' | 'emergency'>;
  readonly at: number;
  readonly by: string;
  readonly outcome?: string;
}

/** Which proposals of a project to read. */
export interface ProposalFilter {
  readonly projectId: string;
  /** `waiting`: all that wait for a decision, emergencies included. */
  readonly status?: ProposalStatus | 'waiting';
  /** Most settled ones, of which the newest are read. All that wait for a decision are read. */
  readonly settled: number;
}

/** Whether it can still be approved or applied. */
export function isPending({ status }: Pick<Proposal, 'status'>): boolean {
  return status === 'open' || status === 'approved';
}
