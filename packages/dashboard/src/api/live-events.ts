import type { DeliveryRecord, FlagState } from './types.ts';

/** Something was committed. */
export interface LiveChange {
  readonly seq: number;
  /** As `flags.changed`, `records.changed`, `key.revoked`. */
  readonly kind: string;
  readonly project?: string;
  readonly environment?: string;
  readonly revision?: number;
  /** Who made it, as the audit log names them; absent where the server does not know. */
  readonly actor?: string;
  readonly at: string;
  /** The new states; absent when they are too large for an event. `null` is a state that went away. */
  readonly changes?: readonly { readonly key: string; readonly state: FlagState | null }[];
  /** What was done, as in the audit log: `flag.updated`, `token.created`. */
  readonly actions?: readonly string[];
}

/** How many streams are open on the environments of a project. */
export interface LivePresence {
  readonly project: string;
  readonly environments: readonly {
    readonly environment: string;
    readonly streams: number;
    readonly nodes: number;
  }[];
}

/** The events of `GET /api/events` by name. */
export interface LiveEvents {
  readonly hello: { readonly seq: number; readonly node: string };
  /** Nothing has happened, and the stream lives. */
  readonly beat: Readonly<Record<string, never>>;
  readonly change: LiveChange;
  readonly delivery: DeliveryRecord;
  readonly presence: LivePresence;
}

/** The names of the events. */
export const LIVE_EVENTS = [
  'hello',
  'beat',
  'change',
  'delivery',
  'presence',
] as const satisfies (keyof LiveEvents)[];
