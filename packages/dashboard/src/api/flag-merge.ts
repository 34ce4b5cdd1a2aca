import type { LiveChange } from './live-events.ts';
import type { FlagRecord, StateRecord } from './types.ts';

/** The record with its state in one environment replaced; `undefined` takes the state away. */
export function withState(flag: FlagRecord, environment: string, state: StateRecord | undefined): FlagRecord {
  const { [environment]: _, ...others } = flag.environments;
  return { ...flag, environments: state === undefined ? others : { ...others, [environment]: state } };
}

/** What a list of flags becomes by a committed change. */
export interface Merged {
  readonly flags: readonly FlagRecord[];
  /** The states that are other than before. */
  readonly touched: readonly StateRecord[];
  /** Flags that the change names and the list does not have. */
  readonly unknown: readonly string[];
}

/**
 * Applies a change to a list of flags, leaving every record alone that it does not name. What the list already knows,
 * or something newer, stays: events and answers may arrive in any order.
 */
export function mergeChange(flags: readonly FlagRecord[], change: LiveChange): Merged {
  const { environment, revision, changes, actor, at: updatedAt } = change;
  if (environment === undefined || revision === undefined || changes === undefined)
    return { flags, touched: [], unknown: [] };
  const byKey = new Map(changes.map(({ key, state }) => [key, state]));
  const who = actor === undefined ? {} : { updatedBy: actor };
  const touched: StateRecord[] = [];
  const merged = flags.map((flag) => {
    const state = byKey.get(flag.key);
    if (state === undefined) return flag;
    byKey.delete(flag.key);
    const known = flag.environments[environment];
    if (known !== undefined && known.revision >= revision) return flag;
    const record = state === null ? undefined : { state, revision, updatedAt, ...who };
    if (record !== undefined) touched.push(record);
    return withState(flag, environment, record);
  });
  return {
    flags: merged,
    touched,
    unknown: [...byKey].flatMap(([key, state]) => (state === null ? [] : [key])),
  };
}
