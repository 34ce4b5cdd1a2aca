import { createContext, type ReactNode, useContext, useMemo } from 'react';
import { requiresApprovals } from '../../api/projects.ts';
import { type OpenPlans, useOpenPlans } from '../../api/rollouts.ts';
import type { FlagRecord, ProjectRecord, RolloutPlanRecord } from '../../api/types.ts';
import { isUnread, useLastReads } from '../../api/usage.ts';
import { STALE_DAYS, staleDays } from '../../flags/flag-filter.ts';
import { useSame } from '../../flags/flag-tags.ts';

// Contexts, so that a row renders again only when its own flag changes: each holds the same object until its content
// changes.

/** The keys of the flags that are in use and were not read for 30 days. */
const UnreadFlags = createContext<ReadonlySet<string>>(new Set());

/** Whether an environment requires approvals, so that there may be proposals. */
const ApprovalsContext = createContext(false);

/** For how many days flags are unchanged and the same everywhere, by key; only those for long. */
const StaleFlags = createContext<ReadonlyMap<string, number>>(new Map());

/** When flags were last read in the environments that are shown. */
const ReadTimes = createContext<ReadonlyMap<string, string> | undefined>(undefined);

const NO_PLANS: OpenPlans = new Map();
const PlansContext = createContext(NO_PLANS);

/** Tells the rows inside what to say about their flags, besides the states. */
export function FlagMarks({
  project,
  flags,
  readTimes,
  children,
}: {
  project: ProjectRecord;
  flags: readonly FlagRecord[];
  readTimes: ReadonlyMap<string, string> | undefined;
  children: ReactNode;
}) {
  const { data: plans = NO_PLANS } = useOpenPlans(project.name);
  return (
    <PlansContext value={plans}>
      <UnreadFlags value={useUnread(project, flags)}>
        <StaleFlags value={useStale(flags, project.environments.length)}>
          <ApprovalsContext value={project.environments.some(requiresApprovals)}>
            <ReadTimes value={readTimes}>{children}</ReadTimes>
          </ApprovalsContext>
        </StaleFlags>
      </UnreadFlags>
    </PlansContext>
  );
}

/** The open rollout plan of a flag in an environment. */
export function useOpenPlan(key: string, environment: string): RolloutPlanRecord | undefined {
  return useContext(PlansContext).get(`${key}/${environment}`);
}

/** When flags were last read in the environments that are shown, by key; `undefined` while that is not known. */
export function useReadMarks(): ReadonlyMap<string, string> | undefined {
  return useContext(ReadTimes);
}

/** What to say about a flag besides its states. */
interface Marks {
  /** It was not read for 30 days. */
  readonly isUnread: boolean;
  /** For how many days it is unchanged, if for long. */
  readonly days: number | undefined;
  /** There may be proposals for it. */
  readonly hasProposals: boolean;
}

/** What to say about a flag besides its states. */
export function useFlagMarks(key: string): Marks {
  return {
    isUnread: useContext(UnreadFlags).has(key),
    days: useContext(StaleFlags).get(key),
    hasProposals: useContext(ApprovalsContext),
  };
}

function useUnread(project: ProjectRecord, flags: readonly FlagRecord[]): ReadonlySet<string> {
  const { data: lastReads } = useLastReads(project);
  const keys = useMemo(() => {
    const isForgotten = (flag: FlagRecord) =>
      lastReads !== undefined && flag.archivedAt === undefined && isUnread(flag, lastReads, Date.now());
    return flags.filter(isForgotten).map(({ key }) => key);
  }, [flags, lastReads]);
  const same = useSame(keys);
  return useMemo(() => new Set(same), [same]);
}

function useStale(flags: readonly FlagRecord[], environments: number): ReadonlyMap<string, number> {
  const days = useMemo(() => {
    const all = flags.map((flag) => [flag.key, staleDays(flag, environments, Date.now())] as const);
    return all.filter(([, count]) => count >= STALE_DAYS.stale30);
  }, [flags, environments]);
  const same = useSame(days);
  return useMemo(() => new Map(same), [same]);
}
