import { useQuery } from '@tanstack/react-query';
import type { Wanted } from './approvals.ts';
import { requiresApprovals, useEnvironments } from './projects.ts';
import { queryKeys } from './query-cache.ts';
import { api, reading, readingList, request } from './request.ts';
import type { ProposalRecord } from './types.ts';

/** The proposals of a project: the waiting ones, oldest first, then the others, newest first. */
export function useProposals(project: string) {
  return useQuery({
    queryKey: queryKeys.proposals(project),
    queryFn: readingList<ProposalRecord>(api`projects/${project}/proposals`, 'proposals'),
  });
}

const NONE: readonly ProposalRecord[] = [];

/** The proposals of a project that are waiting; not read where no environment requires approvals. */
export function useWaitingProposals(project: string): readonly ProposalRecord[] {
  return useWaiting(project).data ?? NONE;
}

/** Whether the waiting proposals have been read, are not used, or could not be read at the first try. */
export function useKnowsProposals(project: string): boolean {
  const { isLoading, failureCount } = useWaiting(project);
  return !isLoading || failureCount > 0;
}

function useWaiting(project: string) {
  const isUsed = useEnvironments(project).some(requiresApprovals);
  return useQuery({
    queryKey: [...queryKeys.proposals(project), 'waiting'],
    enabled: isUsed,
    queryFn: readingList<ProposalRecord>(`${api`projects/${project}/proposals`}?status=waiting`, 'proposals'),
  });
}

/** One proposal, with the request that it repeats. */
export function useProposal(project: string, id: string) {
  return useQuery({
    queryKey: [...queryKeys.proposals(project), id],
    queryFn: reading<ProposalRecord>(api`projects/${project}/proposals/${id}`),
  });
}

/** What a person decides about a proposal. */
export type Decision = 'approve' | 'apply' | 'reject' | 'withdraw' | 'acknowledge';

/** Decides about a proposal. The person has typed the names of the environments where it changes something. */
export function decideProposal(
  { project, id, environments }: ProposalRecord,
  decision: Decision,
  note: string | undefined,
): Promise<ProposalRecord> {
  const options = { confirmed: environments, note };
  return request('POST', api`projects/${project}/proposals/${id}/${decision}`, options);
}

/** Sends the request of a proposal again, to propose it on what is in effect now. Rejects with `proposed`. */
export async function proposeAgain({ request: repeated }: ProposalRecord, wanted: Wanted): Promise<void> {
  if (repeated === undefined) return;
  const { method, path, body } = repeated;
  await request(method, path, { text: body, ...wanted });
}
