import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { queryKeys } from './query-keys.ts';
import { api, request } from './request.ts';
import type { OperatorRecord, Role, SessionRecord } from './types.ts';

/** Who is signed in. */
export function useSession() {
  return useQuery({
    queryKey: queryKeys.session,
    queryFn: ({ signal }) => request<SessionRecord>('GET', api`session`, { signal }),
    staleTime: 5 * 60_000,
  });
}

/** The person who is signed in; only for screens that nobody else sees. */
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
export function useEnter<Input>(path: 'session' | 'setup' | 'invitations/accept') {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (body: Input) => request<SessionRecord>('POST', `/api/${path}`, { body }),
    // It was called with a password: nothing of it is kept.
    gcTime: 0,
    onSuccess: (session) => queries.setQueryData(queryKeys.session, session),
  });
}

/** Signs out, and forgets everything that was shown. */
export function useSignOut() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: () => request<undefined>('DELETE', api`session`),
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
