import { isRevertible } from '@halyard/protocol';
import type { AuditEntryRecord, Json } from '../../api/types.ts';

/** Each action as the verb of a sentence: `ada@example.com` … `new-checkout`. */
export const ACTION_TEXTS: Readonly<Record<string, string>> = {
  'flag.changed': 'changed',
  'flag.created': 'created the flag',
  'flag.updated': 'edited the flag',
  'flag.archived': 'archived the flag',
  'flag.restored': 'restored the flag',
  'flag.deleted': 'deleted the flag',
  'flag.recreated': 'recreated the flag',

  'environment.created': 'created the environment',
  'environment.updated': 'edited the environment',
  'environment.deleted': 'deleted the environment',
  'environment.published': 'published the environment',
  'environment.withdrawn': 'stopped publishing the environment',

  'project.created': 'created the project',
  'project.updated': 'edited the project',
  'project.deleted': 'deleted the project',

  'key.created': 'created the project key',
  'key.replaced': 'replaced the project key',
  'key.revoked': 'revoked the project key',
  'token.created': 'created the access token',
  'token.revoked': 'revoked the access token',
  'relay.created': 'created the relay token',
  'relay.revoked': 'revoked the relay token',

  'schedule.created': 'scheduled',
  'schedule.cancelled': 'canceled the schedule',
  'schedule.applied': 'ran the schedule',
  'schedule.failed': 'could not run the schedule',

  'webhook.created': 'created the webhook',
  'webhook.updated': 'edited the webhook',
  'webhook.disabled': 'disabled the webhook',
  'webhook.skipped': 'skipped changes for the webhook',
  'webhook.rotated': 'replaced the secret of the webhook',
  'webhook.deleted': 'deleted the webhook',

  'rollout.started': 'started a rollout plan for',
  'rollout.advanced': 'rolled out',
  'rollout.paused': 'paused the rollout plan of',
  'rollout.resumed': 'resumed the rollout plan of',
  'rollout.stopped': 'stopped the rollout plan of',

  'proposal.created': 'proposed to change',
  'proposal.approved': 'approved the proposal',
  'proposal.applied': 'applied the proposal',
  'proposal.rejected': 'rejected the proposal',
  'proposal.withdrawn': 'withdrew the proposal',
  'proposal.expired': 'ended the proposal',
  'proposal.outdated': 'found the proposal outdated',
  'proposal.emergency': 'changed without approval, in an emergency,',
  'proposal.acknowledged': 'acknowledged the emergency',

  'operator.invited': 'invited',
  'operator.joined': 'joined as',
  'operator.changed': 'changed the person',
  'operator.removed': 'removed the person',
  'operator.linked': 'linked to single sign-on',
  'operator.reset_offered': 'created a password reset link for',
  'operator.setup_offered': 'created the setup link for',
  'operator.password_changed': 'reset the password of',
  'invitation.created': 'invited',
  'invitation.revoked': 'revoked the invitation for',

  'session.started': 'signed in',
  'session.ended': 'signed out',
  'session.refused': 'was refused single sign-on',
};

/** Actions whose versions are not worth comparing. */
const HAS_NO_VERSIONS = new Set(['session.started', 'session.ended', 'operator.password_changed']);

/** The action of an audit entry in words. Unknown actions are named after their code. */
export function actionText(
  action: string,
  versions: { readonly before?: unknown; readonly after?: unknown },
): string {
  if (action === 'flag.changed' && versions.before === undefined) return 'added';
  if (action === 'flag.changed' && versions.after === undefined) return 'removed';
  const [noun = action, verb = 'did'] = action.split('.');
  return ACTION_TEXTS[action] ?? `${verb.replaceAll('_', ' ')} the ${noun.replaceAll('_', ' ')}`;
}

/** The entries to show: the step of a rollout plan says the same as its change of the flag, and more. */
export function shownEntries(entries: readonly AuditEntryRecord[]): readonly AuditEntryRecord[] {
  const steps = new Set(
    entries.flatMap(({ action, operation }) => (action === 'rollout.advanced' ? [operation] : [])),
  );
  return entries.filter(({ action, operation }) => action !== 'flag.changed' || !steps.has(operation));
}

/** The verb of an entry where its target goes without saying, such as on the page of the flag: "turned it on". */
export function verbAlone(action: string, verb: string): string {
  if (action === 'flag.changed' || action === 'rollout.advanced') return verb.replace(/( o\w+)?$/, ' it$1');
  return verb.replace(/ (of|for)$/, '');
}

/** Whether an entry has two versions to compare. */
export function hasVersions(action: string, versions: { before?: unknown; after?: unknown }): boolean {
  if (HAS_NO_VERSIONS.has(action) || action.startsWith('rollout.')) return false;
  return versions.before !== undefined || versions.after !== undefined;
}

/** The target of an audit entry, by name if the log has one; empty if the entry is only about its actor. */
export function targetText({ action, target, before, after }: Subject): string {
  if (action.startsWith('session.')) return '';
  const known = { ...membersOf(before), ...membersOf(after) };
  if (/^(key|token|relay)\./.test(action) && typeof known.name === 'string') return known.name;
  const isProposal = action.startsWith('proposal.');
  if ((isProposal || action.startsWith('schedule.')) && Array.isArray(known.changes))
    return [...new Set(keysOf(known.changes))].join(', ') || target;
  // The end of an ID is what differs.
  if (isProposal) return target.slice(-6);
  return target;
}

/** The part of an entry that {@link targetText} needs. */
interface Subject {
  readonly action: string;
  readonly target: string;
  readonly before?: Json;
  readonly after?: Json;
}

function keysOf(changes: readonly Json[]): readonly string[] {
  return changes.flatMap((change) => {
    const { key } = membersOf(change);
    return typeof key === 'string' ? [key] : [];
  });
}

/** The members of a version that is an object; none of any other. */
export function membersOf(version: Json | undefined): { readonly [name: string]: Json | undefined } {
  const isObject = typeof version === 'object' && version !== null && !Array.isArray(version);
  // `isArray` does not narrow readonly arrays away.
  return isObject ? (version as { readonly [name: string]: Json }) : {};
}

/** Whether it is worth offering to revert the change of an entry. */
export function offersRevert(action: string): boolean {
  // A step of a plan is reverted with the change of the flag. The server decides; this only hides buttons that never work.
  return isRevertible(action) || action === 'rollout.advanced';
}
