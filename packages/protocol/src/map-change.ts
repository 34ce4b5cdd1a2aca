/** The negotiated stream of changes: what an event of it says, and how it is written. (Spec: S26) */

import type { FlagMap } from './flag-state.ts';
import { event } from './sse.ts';

/** The query parameter of `GET /v1/stream` that asks for changes, with the one value that it may have. */
export const CHANGES_PARAMETER = 'changes';

/** Asks for changes: what follows `env=…` in the query of a stream. An older server ignores it and sends whole maps. */
export const CHANGES_QUERY = `${CHANGES_PARAMETER}=1`;

/** The name of each event on a stream of changes. */
export const CHANGE_EVENT = 'change';

/** What one event says: how the map of revision `to` differs from that of revision `from`. (Spec: S26.2, S26.3) */
export interface MapChange {
  /** The revision that it changes; `null`: it is a change from nothing, so `set` is the whole map. */
  readonly from: number | null;
  /** The revision that it makes. */
  readonly to: number;
  /** The whole state of each flag that is new or has changed. */
  readonly set: FlagMap;
  /** The keys of the flags that are gone. */
  readonly removed: readonly string[];
}

/**
 * Writes one event. `set` is the JSON text of {@link MapChange.set}, on one line: states keep the notation in which they
 * were written.
 */
export function changeEvent({ from, to, removed }: Omit<MapChange, 'set'>, set: string): string {
  return event(CHANGE_EVENT, `{"from":${from},"to":${to},"set":${set},"removed":${JSON.stringify(removed)}}`);
}
