import { useEnvironments } from '../../api/projects.ts';
import type { EnvironmentRecord, ProposalRecord } from '../../api/types.ts';
import { EnvironmentBadge } from '../../components/badges.tsx';

/** The environments that a proposal changes, in their order. */
export function usePlaces({ project, environments }: ProposalRecord): readonly EnvironmentRecord[] {
  return useEnvironments(project).filter(({ name }) => environments.includes(name));
}

/** Names the environments that a proposal changes. */
export function ProposalPlaces({ proposal, className }: { proposal: ProposalRecord; className?: string }) {
  return usePlaces(proposal).map((environment) => (
    <EnvironmentBadge key={environment.name} environment={environment} className={className} />
  ));
}
