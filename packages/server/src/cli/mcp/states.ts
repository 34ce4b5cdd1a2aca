import type { FlagRecord, FlagState } from '../../app/types.ts';
import { apiPath } from '../api-client.ts';
import type { Patch } from './inputs.ts';
import { type McpSession, readJson, requireProject } from './session.ts';

/** A flag of a project. Rejects with `flag_not_found`. */
export async function readFlag(session: McpSession, project: string, key: string): Promise<FlagRecord> {
  requireProject(session, project);
  return await readJson<FlagRecord>(session, { path: apiPath`/projects/${project}/flags/${key}` });
}

/** The state of a flag in an environment, whose name may be that of a member which every object has. */
export function stateRecordIn({ environments }: FlagRecord, name: string) {
  return Object.hasOwn(environments, name) ? environments[name] : undefined;
}

/** A state after a change. A flag without one starts as disabled. */
export function applyPatch(before: FlagState | undefined, patch: Patch): FlagState {
  const { value, rolloutPct } = before ?? {};
  const unset = new Set(patch.unset);
  // A value may be null.
  const newValue = patch.value === undefined ? value : patch.value;

  const after = {
    enabled: patch.enabled ?? before?.enabled ?? false,
    value: unset.has('value') ? undefined : newValue,
    rolloutPct: unset.has('rolloutPct') ? undefined : (patch.rolloutPct ?? rolloutPct),
  };
  // JSON leaves out what is undefined, as the API does.
  return JSON.parse(JSON.stringify(after));
}

/** The share of users for whom a flag is on, in percent. */
export function shareOf(state: FlagState | null | undefined): number {
  return state?.enabled ? (state.rolloutPct ?? 100) : 0;
}

/** `before`, `after`, and for which share of users the flag was and will be on. */
export function differenceOf(before: FlagState | null | undefined, after: FlagState): object {
  return {
    before: before ?? 'no state',
    after,
    shareOfUsersPct: { before: shareOf(before), after: shareOf(after) },
  };
}
