import type { AuditedOperation } from '../../domain/store.ts';

/** Deeds that have an opposite. */
const REVERTIBLE = new Set([
  'flag.changed',
  'flag.updated',
  'flag.archived',
  'flag.restored',
  'flag.deleted',
  'flag.recreated',
  'environment.updated',
]);

/** Deeds that others bring along; what they left behind does no harm. */
const BESIDE_THE_POINT = new Set(['flag.created', 'schedule.applied', 'schedule.cancelled']);

const REASONS: Readonly<Record<string, string>> = {
  'flag.created': 'it made a flag: archive the flag instead',
  'key.created': 'it made a project key: revoke the key instead',
  'key.revoked': 'a revoked key stays revoked, since its secret is not kept: make a new one',
  'project.created': 'it made a project: delete the project instead',
  'project.deleted': 'what was in a deleted project is gone: import an export of it',
  'environment.created': 'it made an environment: delete the environment instead',
  'schedule.cancelled': 'a cancelled schedule stays cancelled: schedule the change again',
  'environment.deleted':
    'the states of a deleted environment are gone: make it again and copy them from another',
};

/** Why an operation cannot be reverted, as the end of a sentence; `undefined` when it can. */
export function unrevertible({ entries }: AuditedOperation): string | undefined {
  const actions = entries.map(({ action }) => action);
  const other = actions.find((action) => !REVERTIBLE.has(action) && !BESIDE_THE_POINT.has(action));
  if (other !== undefined) return REASONS[other] ?? `nothing undoes "${other}"`;
  if (actions.some((action) => REVERTIBLE.has(action))) return undefined;
  return REASONS[actions[0] ?? ''] ?? 'it changed nothing that could be put back';
}
