import { type QueryClient, queryOptions, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { askToLeave, leaveAtOnce } from '../browser/leave-guard.ts';
import { useCurrentProject } from '../browser/links.ts';
import { writeStored } from '../browser/stored.ts';
import { queryKeys } from './query-cache.ts';
import { api, noteSignIn, request } from './request.ts';
import type { GlobalRole, InvitationFacts, Rights, Role, SessionRecord, SignedInOperator } from './types.ts';

/** Where this browser stores whether its last session was open. */
export const SIGNED_IN = 'signed-in';

/** Set while signing out: the screen stays as it is until the sign-in replaces it, and asks nothing. */
let isSigningOut = false;

/** How the session is read. */
export function sessionQuery(queries: QueryClient) {
  return queryOptions({
    queryKey: queryKeys.session,
    queryFn: async ({ signal }) => {
      const session = await request<SessionRecord>('GET', api`session`, { signal });
      writeStored(SIGNED_IN, session.signedIn ? 'yes' : '');
      const before = queries.getQueryData<SessionRecord>(queryKeys.session);
      return (isSigningOut && before) || nextSession(before, session);
    },
    staleTime: 5 * 60_000,
  });
}

/** The session. Once it has ended, `signedIn` is false and `operator` is the person who was signed in. */
export function useSession() {
  return useQuery({
    ...sessionQuery(useQueryClient()),
    // The person may have signed in again in another tab.
    refetchOnWindowFocus: ({ state }) => (state.data?.signedIn === false ? 'always' : false),
  });
}

/**
 * The signed-in person, or the last one if the session ended while the screen was open. Only for screens that require a
 * session.
 */
export function useOperator(): SignedInOperator {
  const { data } = useSession();
  if (data?.operator === undefined) throw new Error('this screen is for people who are signed in');
  return data.operator;
}

const ORDER: Readonly<Record<GlobalRole, number>> = { none: -1, viewer: 0, editor: 1, admin: 2 };

/** The rights in one place: the role, and whether protected environments may be changed. */
type RightsHere = Pick<Rights, 'role' | 'canChangeProtected'>;

/** The rights of the signed-in person in the project of the screen; outside of projects the highest that they have anywhere. */
export function useRights(): RightsHere {
  return rightsIn(useOperator(), useCurrentProject());
}

/** Returns a function that says which role the signed-in person has in a project. */
export function useRoleIn(): (project: string) => GlobalRole {
  const operator = useOperator();
  return (project) => rightsIn(operator, project).role;
}

/** The highest rights of a person in a project; in any project for `undefined`. */
function rightsIn(operator: SignedInOperator, project: string | undefined): RightsHere {
  const { projects = [] } = operator;
  const here = projects.filter((each) => project === undefined || each.project === project);
  return here.reduce<RightsHere>(higher, operator);
}

function higher(a: RightsHere, b: RightsHere): RightsHere {
  const isMore = ORDER[b.role] > ORDER[a.role];
  const mayChange = [a, b].some((each) => ORDER[each.role] >= ORDER.editor && each.canChangeProtected);
  return { role: isMore ? b.role : a.role, canChangeProtected: mayChange };
}

/** Whether the signed-in person has at least this role, in the place that {@link useRights} describes. */
export function useCan(role: Role): boolean {
  return ORDER[useRights().role] >= ORDER[role];
}

/** Whether the signed-in person may change protected environments, in the same place. */
export function useMayChangeProtected(): boolean {
  const { role, canChangeProtected } = useRights();
  return role === 'admin' || (role === 'editor' && canChangeProtected);
}

/** Whether the signed-in person has at least this role for all projects. */
export function useCanEverywhere(role: Role): boolean {
  return ORDER[useOperator().role] >= ORDER[role];
}

/** Whether the signed-in person administers at least one project. */
export function useIsAdminAnywhere(): boolean {
  return useAdministered()?.length !== 0;
}

/** The projects that the signed-in person administers; `undefined`: all. */
export function useAdministered(): readonly string[] | undefined {
  const { role, projects = [] } = useOperator();
  if (role === 'admin') return undefined;
  return projects.filter((each) => each.role === 'admin').map(({ project }) => project);
}

/** The address at which programs read flags, for snippets to copy. */
export function useEvaluationUrl(): string {
  return useSession().data?.evaluationUrl ?? location.origin;
}

/** What a new session does not change: the session is in its answer, and a link that was used is only an error. */
const KNOWN_AFTER = new Set<unknown>(['session', 'invitation']);

/** Signs in, sets up the first administrator, or accepts an invitation. Each starts a new session. */
export function useStartSession<Input>(path: 'session' | 'setup' | 'invitations/accept') {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (body: Input) => request<SessionRecord>('POST', `/api/${path}`, { body }),
    // The input holds a password, which must not stay in memory.
    gcTime: 0,
    onSuccess: async (session) => {
      noteSignIn();
      // The response of an earlier request would end the new session.
      await queries.cancelQueries({ queryKey: queryKeys.session });
      const before = queries.getQueryData<SessionRecord>(queryKeys.session);
      // A one-time link is used now: reloading its page would only show that.
      const kept = path === 'session' ? nextSession(before, session) : nextSession(before, session, '/');
      queries.setQueryData(queryKeys.session, kept);
      // Changes since the session ended are unknown. For another person the page is left as it is.
      if (before?.operator !== undefined && kept === session)
        void queries.invalidateQueries({ predicate: ({ queryKey }) => !KNOWN_AFTER.has(queryKey[0]) });
    },
  });
}

/** Signs out and leaves the page, after a question where edits would be lost. Rejects when that fails. */
export async function signOut(): Promise<void> {
  if (!(await askToLeave())) return;

  isSigningOut = true;
  try {
    const ended = await request<{ readonly continueAt?: string } | undefined>('DELETE', api`session`);
    writeStored(SIGNED_IN, '');
    // A browser may keep the page as it is for its Back button.
    addEventListener('pageshow', () => location.reload());
    // The identity provider has its own session, and sends the browser back.
    leaveAtOnce(ended?.continueAt ?? '/sign-in');
  } catch (error) {
    isSigningOut = false;
    throw error;
  }
}

/** Single sign-on, where the server has it. */
export function useSso() {
  return useSession().data?.sso;
}

/** Inspects a one-time link by its secret. */
export function useInvitation(token: string) {
  return useQuery({
    queryKey: ['invitation', token],
    queryFn: () => request<InvitationFacts>('POST', api`invitations/inspect`, { body: { token } }),
    enabled: token !== '',
    retry: false,
    // A refetch after the link was used would replace the form with an error.
    staleTime: Infinity,
    gcTime: 0,
  });
}

/**
 * The session to keep after a response with the current one. An ended session keeps its operator, and the screen stays
 * until they sign in again. If another person signs in, the page reloads at `to`, so that they see none of its data.
 */
function nextSession(
  before: SessionRecord | undefined,
  next: SessionRecord,
  to = location.pathname + location.search,
): SessionRecord {
  if (before?.operator === undefined) return next;
  if (!next.signedIn) return { ...before, signedIn: false };
  if (next.operator?.id === before.operator.id) return next;
  leaveAtOnce(to);
  return before;
}
