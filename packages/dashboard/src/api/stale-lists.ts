import type { QueryClient, QueryKey } from '@tanstack/react-query';
import type { LiveChange } from './live-connection.ts';
import { queryKeys } from './query-cache.ts';
import { isOpenPlan } from './rollouts.ts';
import type { FlagRecord, ProjectRecord, RolloutPlanRecord, ScheduleRecord } from './types.ts';

/** A list that screens read, as {@link queryKeys} names it. */
type List = keyof typeof queryKeys;

/** The lists of a project with names of its environments. */
const WITH_ENVIRONMENTS = [
  'project',
  'flags',
  'flag',
  'clients',
  'keys',
  'webhooks',
  'schedules',
  'proposals',
  'rollouts',
  'usage',
  'deliveries',
  'relayTokens',
] as const satisfies List[];

/** The lists, besides its own, with names of a project or with roles in it. */
const WITH_PROJECTS = [
  'projects',
  'operators',
  'invitations',
  'tokens',
  'relayTokens',
] as const satisfies List[];

/**
 * The lists to read again after a change, by the actions of its audit entries, or by its kind where no entries come with it.
 * States are not read again: they come with the change.
 */
export const STALE: readonly { readonly actions: readonly string[]; readonly lists: readonly List[] }[] = [
  // Its page may be open and say that it does not exist, and lists of an earlier project of that name may be cached.
  {
    actions: ['project.created'],
    lists: ['projects', ...WITH_ENVIRONMENTS, 'archivedFlags', 'compare', 'codeReferences'],
  },
  // Its page then says that it does not exist, instead of its lists.
  { actions: ['project.deleted'], lists: ['project', ...WITH_PROJECTS] },
  { actions: ['project.updated'], lists: ['projects', 'project', 'usage'] },

  // Which environments exist, and what they are called.
  { actions: ['environment.created', 'environment.deleted'], lists: WITH_ENVIRONMENTS },
  { actions: ['environment.updated', 'environment.published', 'environment.withdrawn'], lists: ['project'] },

  { actions: ['flags.changed', 'flag.changed'], lists: ['compare'] },
  {
    actions: [
      'flag.created',
      'flag.updated',
      'flag.archived',
      'flag.restored',
      'flag.deleted',
      'flag.recreated',
    ],
    lists: ['flags', 'archivedFlags', 'flag'],
  },

  { actions: ['key.created', 'key.replaced', 'key.revoked'], lists: ['keys', 'clients'] },
  {
    actions: [
      'webhook.created',
      'webhook.updated',
      'webhook.disabled',
      'webhook.skipped',
      'webhook.rotated',
      'webhook.deleted',
    ],
    lists: ['webhooks'],
  },
  {
    actions: ['rollout.started', 'rollout.advanced', 'rollout.paused', 'rollout.resumed', 'rollout.stopped'],
    lists: ['rollouts'],
  },
  {
    actions: ['schedule.created', 'schedule.cancelled', 'schedule.applied', 'schedule.failed'],
    lists: ['schedules'],
  },
  {
    actions: [
      'proposal.created',
      'proposal.approved',
      'proposal.applied',
      'proposal.rejected',
      'proposal.withdrawn',
      'proposal.expired',
      'proposal.outdated',
      'proposal.emergency',
      'proposal.acknowledged',
    ],
    lists: ['proposals'],
  },

  { actions: ['token.created', 'token.revoked'], lists: ['tokens'] },
  { actions: ['relay.created', 'relay.revoked'], lists: ['relayTokens'] },
  {
    actions: [
      'operator.invited',
      'operator.joined',
      'operator.changed',
      'operator.removed',
      'operator.linked',
      'operator.reset_offered',
      'operator.setup_offered',
      'operator.password_changed',
      'invitation.created',
      'invitation.revoked',
      'session.started',
      'session.ended',
      'session.refused',
    ],
    lists: ['operators', 'invitations'],
  },

  // Its actions say what it was about.
  { actions: ['records.changed'], lists: [] },
];

const BY_ACTION = new Map(STALE.flatMap(({ actions, lists }) => actions.map((action) => [action, lists])));

/** The lists that a change makes stale, besides the states and {@link touchedByStates}. */
export function touchedBy({ kind, project = '', actions = [] }: LiveChange): readonly QueryKey[] {
  const lists = new Set([kind, ...actions].flatMap((action) => BY_ACTION.get(action) ?? listsOfNoun(action)));
  const own = [...lists].map((list) => keyOf(list, project));
  return [queryKeys.audit, ...(project === '' ? [] : [queryKeys.history(project)]), ...own];
}

/** The lists of an action that only a newer server knows: those of every other action of its noun. */
function listsOfNoun(action: string): readonly List[] {
  const noun = action.replace(/\..*/, '.');
  return STALE.flatMap(({ actions, lists }) => (actions.some((each) => each.startsWith(noun)) ? lists : []));
}

/** The key of a list, and so of what is below it: of all flags, where each has a key of its own. */
function keyOf(list: List, project: string): QueryKey {
  const key = queryKeys[list];
  if (typeof key !== 'function') return key;
  // Each function takes the project first, and its key begins with the name and the project.
  return (key as (project: string) => QueryKey)(project).slice(0, 2);
}

/**
 * The lists that a change of states makes stale because of the flags or the environment that it touches: of plans and schedules, of
 * which the change is a step or an interruption; of archived flags; and of proposals, which it may carry out.
 */
export function touchedByStates(
  queries: QueryClient,
  { kind, project = '', environment, changes }: LiveChange,
): readonly QueryKey[] {
  if (kind !== 'flags.changed') return [];
  const keys = changes && new Set(changes.map(({ key }) => key));
  const isTouched = (key: string) => keys === undefined || keys.has(key);

  const plans = cached<RolloutPlanRecord>(queries, queryKeys.rollouts(project)).filter(isOpenPlan);
  const schedules = cached<ScheduleRecord>(queries, queryKeys.schedules(project)).filter(isPending);
  const archived = cached<FlagRecord>(queries, queryKeys.archivedFlags(project));
  const mayArchive = keys === undefined || changes?.some(({ state }) => state === null);
  const record = queries.getQueryData<ProjectRecord>(queryKeys.project(project));
  const isGuarded = record?.environments.some(({ name, approvals }) => name === environment && approvals > 0);

  const touched: QueryKey[] = [];
  if (plans.some(({ flag }) => isTouched(flag))) touched.push(queryKeys.rollouts(project));
  if (schedules.some((each) => each.changes.some(({ key }) => isTouched(key))))
    touched.push(queryKeys.schedules(project));
  if (mayArchive || archived.some(({ key }) => isTouched(key)))
    touched.push(queryKeys.archivedFlags(project));
  // The event does not say whether a proposal or an emergency changed it.
  if (isGuarded) touched.push(queryKeys.proposals(project));
  return touched;
}

function isPending({ status }: ScheduleRecord): boolean {
  return status === 'pending';
}

/** The records of all lists with this key. */
function cached<Item>(queries: QueryClient, queryKey: QueryKey): readonly Item[] {
  return queries.getQueriesData<readonly Item[]>({ queryKey }).flatMap(([, items]) => items ?? []);
}
