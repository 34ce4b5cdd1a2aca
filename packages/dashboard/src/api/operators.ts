import { useQuery } from '@tanstack/react-query';
import { queryKeys } from './query-keys.ts';
import { api, request } from './request.ts';
import { useCan } from './session.ts';
import type { OperatorRecord, Role } from './types.ts';

/** A one-time link that is still open, without its secret. */
export interface InvitationRecord {
  readonly id: string;
  readonly kind: 'setup' | 'invite' | 'reset';
  readonly email?: string;
  readonly role: Role;
  readonly canChangeProtected: boolean;
  readonly createdBy: string;
  readonly createdAt: string;
  readonly expiresAt: string;
}

/** A link that has just been made: shown this once. */
export interface OfferedLink extends InvitationRecord {
  readonly email: string;
  readonly link: string;
}

/** The people who may sign in, by e-mail. */
export function useOperators() {
  return useQuery({
    queryKey: queryKeys.operators,
    queryFn: async ({ signal }) =>
      (await request<{ operators: readonly OperatorRecord[] }>('GET', api`operators`, { signal })).operators,
  });
}

/** Gives the function that tells whether someone is the only administrator, who can be neither demoted nor removed. */
export function useIsOnlyAdmin(): (operator: OperatorRecord) => boolean {
  const { data = [] } = useOperators();
  const admins = data.filter(({ role }) => role === 'admin');
  return ({ id }) => admins.length === 1 && admins[0]?.id === id;
}

/** Why the only administrator stays one. */
export function onlyAdminText({ name }: OperatorRecord): string {
  return `${name} is the only administrator. Make someone else an administrator first.`;
}

/** The links that are still open, newest first. Only administrators may read them: others do not ask. */
export function useInvitations() {
  return useQuery({
    enabled: useCan('admin'),
    queryKey: queryKeys.invitations,
    queryFn: async ({ signal }) => {
      const { invitations } = await request<{ invitations: readonly InvitationRecord[] }>(
        'GET',
        api`invitations`,
        { signal },
      );
      return invitations;
    },
  });
}

/** Invites somebody. The answer holds the link, this once: keep it out of the cache. */
export function inviteOperator(invited: {
  readonly email: string;
  readonly role: Role;
  readonly canChangeProtected: boolean;
}): Promise<OfferedLink> {
  return request('POST', api`invitations`, { body: invited });
}

/** Takes a link back. */
export function withdrawInvitation(id: string): Promise<undefined> {
  return request('DELETE', api`invitations/${id}`);
}

/** Changes a name, or what somebody may do: the latter ends their sessions. */
export function changeOperator(
  id: string,
  change: { readonly name?: string; readonly role?: Role; readonly canChangeProtected?: boolean },
): Promise<OperatorRecord> {
  return request('PATCH', api`operators/${id}`, { body: change });
}

/** Removes an operator with every session of theirs. */
export function removeOperator(id: string): Promise<undefined> {
  return request('DELETE', api`operators/${id}`);
}

/** Makes a link for a new password. The answer holds the link, this once: keep it out of the cache. */
export function offerReset(id: string): Promise<OfferedLink> {
  return request('POST', api`operators/${id}/reset`);
}
