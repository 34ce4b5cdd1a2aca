/** What a row of the change log can say. */
export const CHANGE_KINDS = [
  'project.created',
  'project.deleted',
  'environment.created',
  'environment.deleted',
  'flags.changed',
  'key.created',
  'key.revoked',
  'records.changed',
] as const;

/** The kind of a change-log row. Only `flags.changed` makes a revision and a frame. */
export type ChangeKind = (typeof CHANGE_KINDS)[number];

/** One row of the change log: the truth that every node follows, in order of `seq`, without gaps. */
export interface LogRow {
  readonly seq: number;
  /** Random; tells two histories apart that reuse a `seq` after a lossy failover. */
  readonly changeId: string;
  readonly kind: ChangeKind;
  readonly projectId: string;
  /** Present on environment and flag rows. */
  readonly environmentId?: string;
  /** Present on `flags.changed`: the revision this change made. */
  readonly revision?: number;
  /** JSON text whose shape depends on `kind`; see {@link ChangePayload}. */
  readonly payload: string;
  /** Who did it, as the audit log names them; empty in rows of programs that did not write it down. */
  readonly actor: string;
  /** Epoch milliseconds of the commit, by the writer's clock; never used for order. */
  readonly at: number;
}

/** What `payload` holds once parsed, per kind. */
export interface ChangePayload {
  'project.created': { readonly name: string };
  'project.deleted': Record<string, never>;
  'environment.created': { readonly name: string; readonly revision: number };
  'environment.deleted': Record<string, never>;
  /** State texts are JSON strings inside the JSON, so that their own bytes are not reinterpreted. */
  'flags.changed': readonly (readonly [flagKey: string, state: string | null])[];
  'key.created': {
    readonly id: string;
    readonly digest: string;
    readonly environments: readonly string[];
    readonly expiresAt?: number;
  };
  'key.revoked': { readonly id: string; readonly digest: string };
  /** Something that nobody is served: descriptions, tokens, operators. It only tells screens to look again. */
  'records.changed': { readonly actions: readonly string[] };
}

/** Where a follower stands in the log. */
export interface Cursor {
  /** Names one history of the database; a restore begins a new one. */
  readonly epoch: string;
  readonly seq: number;
  /** `changeId` of row `seq`; empty while the log is empty. */
  readonly changeId: string;
}
