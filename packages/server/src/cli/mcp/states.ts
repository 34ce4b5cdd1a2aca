import { apiPath } from '../api-client.ts';
import { type McpSession, readJson, requireProject } from './session.ts';

/** A flag state as the API returns it. */
export interface State {
  readonly enabled: boolean;
  readonly value?: unknown;
  readonly rolloutPct?: number;
}

/** Parts of a state to change. */
export interface Patch {
  readonly enabled?: boolean | undefined;
  readonly value?: unknown;
  readonly rolloutPct?: number | undefined;
  readonly unset?: readonly ('value' | 'rolloutPct')[] | undefined;
}

/** A flag as the API returns it. */
export interface Flag {
  readonly key: string;
  readonly description: string;
  readonly tags: readonly string[];
  readonly owner: string;
  readonly permanent: boolean;
  readonly valueKind: string;
  readonly namedValues?: readonly {
    readonly name: string;
    readonly value: unknown;
    readonly description?: string;
  }[];
  readonly createdAt: string;
  readonly archivedAt?: string;
  readonly environments: Readonly<Record<string, StateRecord>>;
}

interface StateRecord {
  readonly state: State;
  readonly revision: number;
  readonly updatedAt: string;
  readonly updatedBy?: string;
  /** The name that the flag gives the value of the state. */
  readonly valueName?: string;
}

/** A flag of a project. Rejects with `flag_not_found`. */
export async function readFlag(session: McpSession, project: string, key: string): Promise<Flag> {
  requireProject(session, project);
  return await readJson<Flag>(session, { path: apiPath`/projects/${project}/flags/${key}` });
}

/** The state of a flag in an environment, whose name may be that of a member which every object has. */
export function stateRecordIn({ environments }: Flag, name: string): StateRecord | undefined {
  return Object.hasOwn(environments, name) ? environments[name] : undefined;
}

/** A state after a change. A flag without one starts as disabled. */
export function applyPatch(before: State | undefined, patch: Patch): State {
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
export function shareOf(state: State | null | undefined): number {
  return state?.enabled ? (state.rolloutPct ?? 100) : 0;
}

/** `before`, `after`, and for which share of users the flag was and will be on. */
export function differenceOf(before: State | null | undefined, after: State): object {
  return {
    before: before ?? 'no state',
    after,
    shareOfUsersPct: { before: shareOf(before), after: shareOf(after) },
  };
}
