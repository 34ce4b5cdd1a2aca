import type { Environment } from './project.ts';

/**
 * What lets an operation change environments that require approvals: an attempt without effect, a proposal that people have
 * approved, or an emergency. (docs/decisions/0045-approvals.md)
 */
export interface Approval {
  /** The proposal that is carried out. Schedules and rollout plans that it creates keep its id. */
  readonly proposal?: string;
  /** Whether the permission and the confirmation of the people who approve stand for those of the author. */
  readonly isConfirmed: boolean;
  /** Notes that the operation changes this environment. Throws where that is not allowed. */
  covers(environment: Environment): void;
  /** Takes the locks that {@link finish} needs. Called at most once, before the lock on people, which all operations take last. */
  lock?(tx: object): Promise<unknown>;
  /** Called in the transaction of the operation, which is the store's, after its work. A rejection rolls back everything. */
  finish(tx: object): Promise<void>;
}

/** The approval of what a schedule or plan does when it is due: of the proposal that created it. */
export function approvalBy(proposal: string | undefined): Approval | undefined {
  if (proposal === undefined) return undefined;
  return { proposal, isConfirmed: true, covers: () => {}, finish: async () => {} };
}
