import type { QueryClient, QueryKey } from '@tanstack/react-query';
import type { LiveChange } from './live-connection.ts';
import { queryKeys } from './query-cache.ts';
import { isOpenPlan } from './rollouts.ts';
import type { RolloutPlanRecord, ScheduleRecord } from './types.ts';

/**
 * The lists to read again after a change, by the kind of the change and by the actions of its audit entries, or by the noun
 * of either. States are not read again: they come with the change.
 */
export const LISTS: Readonly<Record<string, (project: string) => readonly QueryKey[]>> = {
  'project.created': (project) => [
    queryKeys.projects,
    // Its page may be open and say that it does not exist.
    queryKeys.project(project),
    queryKeys.flags(project),
  ],
  'project.updated': (project) => [queryKeys.projects, queryKeys.project(project), queryKeys.usage(project)],
  project: () => [queryKeys.projects],
  'environment.updated': (project) => [queryKeys.project(project)],
  environment: (project) => [
    queryKeys.project(project),
    queryKeys.flags(project),
    queryKeys.rollouts(project),
    queryKeys.schedules(project),
  ],
  flags: (project) => [queryKeys.compare(project)],
  flag: (project) => [queryKeys.flags(project), queryKeys.archivedFlags(project), ['flag', project]],
  key: (project) => [queryKeys.keys(project), queryKeys.clients(project)],
  webhook: (project) => [queryKeys.webhooks(project)],
  rollout: (project) => [queryKeys.rollouts(project)],
  schedule: (project) => [queryKeys.schedules(project)],
  proposal: (project) => [queryKeys.proposals(project)],
  token: () => [queryKeys.tokens],
  relay: () => [queryKeys.relayTokens],
  operator: () => [queryKeys.operators, queryKeys.invitations],
  invitation: () => [queryKeys.operators, queryKeys.invitations],
  session: () => [queryKeys.operators, queryKeys.invitations],
  // Its actions say what it was about.
  records: () => [],
};

/** The lists that a change makes stale, besides the states and {@link touchedPlans}. */
export function touchedBy({ kind, project, actions = [] }: LiveChange): readonly QueryKey[] {
  const lists = [kind, ...actions].flatMap((name) => {
    const listsOf = LISTS[name] ?? LISTS[name.replace(/\..*/, '')];
    return listsOf?.(project ?? '') ?? [];
  });
  return [queryKeys.audit, ...(project === undefined ? [] : [queryKeys.history(project)]), ...lists];
}

/**
 * The lists of rollout plans and of schedules that a change makes stale because it touches a flag of an open plan or of a
 * pending schedule: the change is a step of it, or interrupts it.
 */
export function touchedPlans(
  queries: QueryClient,
  { kind, project = '', changes }: LiveChange,
): readonly QueryKey[] {
  if (kind !== 'flags.changed') return [];
  const keys = changes && new Set(changes.map(({ key }) => key));
  const isTouched = (key: string) => keys === undefined || keys.has(key);

  const plans = cached<RolloutPlanRecord>(queries, queryKeys.rollouts(project)).filter(isOpenPlan);
  const schedules = cached<ScheduleRecord>(queries, queryKeys.schedules(project)).filter(isPending);

  const touched: QueryKey[] = [];
  if (plans.some(({ flag }) => isTouched(flag))) touched.push(queryKeys.rollouts(project));
  if (schedules.some((each) => each.changes.some(({ key }) => isTouched(key))))
    touched.push(queryKeys.schedules(project));
  return touched;
}

function isPending({ status }: ScheduleRecord): boolean {
  return status === 'pending';
}

/** The records of all lists with this key. */
function cached<Item>(queries: QueryClient, queryKey: QueryKey): readonly Item[] {
  return queries.getQueriesData<readonly Item[]>({ queryKey }).flatMap(([, items]) => items ?? []);
}
