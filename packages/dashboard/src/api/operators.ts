import { useQuery } from '@tanstack/react-query';
import { useCallback, useMemo } from 'react';
import { queryKeys } from './query-cache.ts';
import { api, request } from './request.ts';
import { useCan, useOperator } from './session.ts';
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
export interface CreatedLink extends InvitationRecord {
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

/** Invites a person. The answer holds the link, this once: keep it out of the cache. */
export function inviteOperator(invited: {
  readonly email: string;
  readonly role: Role;
  readonly canChangeProtected: boolean;
}): Promise<CreatedLink> {
  return request('POST', api`invitations`, { body: invited });
}

/** Takes a link back. */
export function revokeInvitation(id: string): Promise<undefined> {
  return request('DELETE', api`invitations/${id}`);
}

/** Changes a person's name or permissions; the latter ends their sessions. */
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
export function createResetLink(id: string): Promise<CreatedLink> {
  return request('POST', api`operators/${id}/reset`);
}

/** How an actor of the audit log is called on the screen. */
interface PersonName {
  /** The name of a person, or of a token; the e-mail where the person has no name or is gone. */
  readonly name: string;
  /** What tells two of the same name apart; absent where the name says it. */
  readonly detail?: string;
  /** Whether it is the person at this screen. */
  readonly isSelf: boolean;
}

/** Gives the function that names actors such as `operator:ada@example.com`, `token:ci` and `system`. */
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

/** The kind of an actor and what names it: `operator:ada@example.com` is `operator` and `ada@example.com`. */
function splitActor(actor: string): readonly [kind: string, id: string] {
  const colon = actor.indexOf(':');
  return colon === -1 ? [actor, actor] : [actor.slice(0, colon), actor.slice(colon + 1)];
}
