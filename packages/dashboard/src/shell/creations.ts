import { useCan, useCanEverywhere, useIsAdminAnywhere, useSso } from '../api/session.ts';
import { links } from '../browser/links.ts';
import { messages } from './messages.ts';

/** Something that the person may create. */
export interface Creation {
  /** Of the command that the screen itself may offer. */
  readonly id: string;
  readonly title: string;
  /** The address whose screen asks for it. */
  readonly to: string;
}

/** What the person may create in a project, and elsewhere. */
export function useCreations(
  project: string | undefined,
): readonly [inProject: readonly Creation[], elsewhere: readonly Creation[]] {
  const [canEdit, canManage] = [useCan('editor'), useCan('admin')];
  const [isAdmin, isGlobalAdmin] = [useIsAdminAnywhere(), useCanEverywhere('admin')];
  const canInvite = !useSso()?.only && isAdmin;

  const inProject =
    project === undefined
      ? []
      : ([
          [canEdit, 'flag', `${links.flags(project)}?new=`],
          [canEdit, 'schedule', `${links.schedules(project)}?new=1`],
          [canManage, 'key', `${links.keys(project)}?new=1`],
          [canManage, 'environment', `${links.environments(project)}?new=1`],
          [canManage, 'webhook', `${links.webhooks(project)}?new=1`],
        ] as const);
  const elsewhere = [
    [isGlobalAdmin, 'project', `${links.projects}&new=project`],
    [canInvite, 'operator', `${links.operators}?new=1`],
    [isAdmin, 'token', `${links.tokens}?new=1`],
    [isAdmin, 'relay-token', `${links.relayTokens}?new=1`],
  ] as const;
  return [inProject.flatMap(toCreation), elsewhere.flatMap(toCreation)];
}

function toCreation([isAllowed, noun, to]: readonly [
  isAllowed: boolean,
  noun: keyof typeof messages.create.nouns,
  to: string,
]): readonly Creation[] {
  return isAllowed ? [{ id: `${noun}.new`, title: messages.create.nouns[noun], to }] : [];
}
