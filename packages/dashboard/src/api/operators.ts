import { useQuery } from '@tanstack/react-query';
import { useCallback, useMemo } from 'react';
import { queryKeys } from './query-cache.ts';
import { api, reading, readingList, request } from './request.ts';
import { useCan, useOperator } from './session.ts';
import type {
  CreatedLink,
  GlobalRole,
  Holdings,
  InvitationRecord,
  OperatorRecord,
  ProjectRole,
  Rights,
} from './types.ts';

/** The people who can sign in, by e-mail. */
export function useOperators() {
  return useQuery({
    queryKey: queryKeys.operators,
    queryFn: readingList<OperatorRecord>(api`operators`, 'operators'),
  });
}

/** What a person has; only administrators of everything can read it. */
export function useHoldings(id: string) {
  return useQuery({
    queryKey: [...queryKeys.operators, id, 'holdings'],
    queryFn: reading<Holdings>(api`operators/${id}/holdings`),
    // Read when it is shown: others are at work.
    staleTime: 0,
  });
}

/** Returns a function that checks whether a person is the only administrator, who cannot be demoted or removed. */
export function useIsOnlyAdmin(): (operator: OperatorRecord) => boolean {
  const { data = [] } = useOperators();
  const admins = data.filter(({ role }) => role === 'admin');
  return ({ id }) => admins.length === 1 && admins[0]?.id === id;
}

/** The links that still work, newest first. Only administrators can read them. */
export function useInvitations() {
  return useQuery({
    enabled: useCan('admin'),
    queryKey: queryKeys.invitations,
    queryFn: readingList<InvitationRecord>(api`invitations`, 'invitations'),
  });
}

/** Invites a person. Only this response contains the link: keep it out of the cache. */
export function inviteOperator(invited: {
  readonly email: string;
  readonly role: GlobalRole;
  readonly canChangeProtected: boolean;
  readonly projects: readonly ProjectRole[];
}): Promise<CreatedLink> {
  return request('POST', api`invitations`, { body: invited });
}

/** Revokes a link. */
export function revokeInvitation(id: string): Promise<undefined> {
  return request('DELETE', api`invitations/${id}`);
}

/** Changes a person's name or permissions. A new role for all projects ends their sessions. */
export function changeOperator(
  id: string,
  change: { readonly name?: string } & Partial<Rights>,
): Promise<OperatorRecord> {
  return request('PATCH', api`operators/${id}`, { body: change });
}

/** Removes a person and ends their sessions. */
export function removeOperator(id: string): Promise<undefined> {
  return request('DELETE', api`operators/${id}`);
}

/** Creates a password reset link. Only this response contains it: keep it out of the cache. */
export function createResetLink(id: string): Promise<CreatedLink> {
  return request('POST', api`operators/${id}/reset`);
}

/** The name of an actor of the audit log on screens. */
interface PersonName {
  /** The name of a person or a token; the e-mail if the person has no name or was removed. */
  readonly name: string;
  /** Distinguishes people of the same name; absent if the name is unique. */
  readonly detail?: string;
  /** Whether it is the signed-in person. */
  readonly isSelf: boolean;
}

/** Returns a function that names actors such as `operator:ada@example.com`, `token:ci` and `system`. */
export function usePersonName(): (actor: string) => PersonName {
  const { data: operators } = useOperators();
  const self = useOperator();
  const names = useMemo(
    () => new Map([...(operators ?? []), self].map(({ email, name }) => [email, name])),
    [operators, self],
  );
  return useCallback(
    (actor) => {
      const [kind, id] = splitActor(actor);
      if (kind === 'token') return { name: `token ${id}`, isSelf: false };
      if (kind === 'system') return { name: 'the server', isSelf: false };
      const name = names.get(id) ?? '';
      const isSelf = id === self.email;
      return name === '' || name === id ? { name: id, isSelf } : { name, detail: id, isSelf };
    },
    [names, self],
  );
}

/** Splits an actor into kind and name: `operator:ada@example.com` is `operator` and `ada@example.com`. */
function splitActor(actor: string): readonly [kind: string, id: string] {
  const colon = actor.indexOf(':');
  return colon === -1 ? [actor, actor] : [actor.slice(0, colon), actor.slice(colon + 1)];
}
