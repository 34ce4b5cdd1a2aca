import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { leaveAtOnce } from '../shell/leave-guard.ts';
import { queryKeys } from './query-cache.ts';
import { api, noteSignIn, request } from './request.ts';
import type { OperatorRecord, Role, SessionRecord } from './types.ts';

/** Set while signing out, so that the person is not asked to sign in again. */
let isSigningOut = false;

/** Who is signed in; once the session has ended, who was (`signedIn` is false then). */
export function useSession() {
  const queries = useQueryClient();
  return useQuery({
    queryKey: queryKeys.session,
    queryFn: async ({ signal }) => {
      const session = await request<SessionRecord>('GET', api`session`, { signal });
      return isSigningOut ? session : nextSession(queries.getQueryData(queryKeys.session), session);
    },
    staleTime: 5 * 60_000,
    // They may have signed in again in another tab.
    refetchOnWindowFocus: ({ state }) => (state.data?.signedIn === false ? 'always' : false),
  });
}

/**
 * The person who is signed in, or was until the session ended under the screen; only for screens that nobody else sees.
 */
export function useOperator(): OperatorRecord {
  const { data } = useSession();
  if (data?.operator === undefined) throw new Error('this screen is for people who are signed in');
  return data.operator;
}

const ORDER: Readonly<Record<Role, number>> = { viewer: 0, editor: 1, admin: 2 };

/** Whether the person who is signed in has at least this role. */
export function useCan(role: Role): boolean {
  return ORDER[useOperator().role] >= ORDER[role];
}

/** The address at which programs read flags, for snippets to copy. */
export function useEvaluationUrl(): string {
  return useSession().data?.evaluationUrl ?? location.origin;
}

/** Signs in, sets up the first administrator, or accepts an invitation: each answers with the new session. */
export function useStartSession<Input>(path: 'session' | 'setup' | 'invitations/accept') {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (body: Input) => request<SessionRecord>('POST', `/api/${path}`, { body }),
    // It was called with a password: nothing of it is kept.
    gcTime: 0,
    onSuccess: async (session) => {
      noteSignIn();
      // An answer from before would end the session again.
      await queries.cancelQueries({ queryKey: queryKeys.session });
      const before = queries.getQueryData<SessionRecord>(queryKeys.session);
      // A one-time link is used up by now: loaded anew, it would only say so.
      const kept = path === 'session' ? nextSession(before, session) : nextSession(before, session, '/');
      queries.setQueryData(queryKeys.session, kept);
      // What happened meanwhile is unknown.
      if (before?.operator !== undefined && kept.signedIn)
        void queries.invalidateQueries({ predicate: ({ queryKey }) => queryKey[0] !== 'session' });
    },
  });
}

/** Signs out, and forgets everything that was shown. */
export function useSignOut() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: () => request<undefined>('DELETE', api`session`),
    onMutate: () => {
      isSigningOut = true;
    },
    onError: () => {
      isSigningOut = false;
    },
    onSuccess: () => {
      queries.clear();
      location.assign('/sign-in');
    },
  });
}

/** What an invitation or set-up link is for. */
export interface InvitationFacts {
  readonly kind: 'setup' | 'invite' | 'reset';
  readonly email?: string;
  readonly role?: Role;
  readonly expiresAt: string;
}

/** Looks at a link's secret. */
export function useInvitation(token: string) {
  return useQuery({
    queryKey: ['invitation', token],
    queryFn: () => request<InvitationFacts>('POST', api`invitations/inspect`, { body: { token } }),
    enabled: token !== '',
    retry: false,
    // Once it is used, asking again would only say that it is.
    staleTime: Infinity,
    gcTime: 0,
  });
}

/**
 * What the page goes on with when the server says how the session stands. One that has ended keeps its operator: the
 * screen stays as it is until they sign in again. Somebody else must see nothing of it, so the page is loaded anew, and
 * what was known stays until then. `to` is where it is loaded anew.
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
