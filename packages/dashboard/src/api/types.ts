/** The records of the management API as the dashboard reads them. A test compares them with the OpenAPI document. */

/** The roles, from the least to the most permissions. */
export type Role = 'viewer' | 'editor' | 'admin';

/** Any JSON value. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json };

/** A flag's state. (Spec: Flag) */
export interface FlagState {
  readonly enabled: boolean;
  readonly value?: Json;
  /** 0 to 100; absent means everyone. */
  readonly rolloutPct?: number;
}

/** A person who signs in. */
export interface OperatorRecord {
  readonly id: string;
  readonly email: string;
  readonly name: string;
  readonly role: Role;
  readonly canChangeProtected: boolean;
  readonly createdAt?: string;
  readonly lastSeenAt?: string;
}

/** The session, and whether setup is still needed. */
export interface SessionRecord {
  readonly signedIn: boolean;
  /** There are no accounts yet: the first administrator signs up through the one-time link. */
  readonly setupNeeded: boolean;
  /** The signed-in person. On this page it stays set after the session has ended. */
  readonly operator?: OperatorRecord;
  readonly expiresAt?: string;
  /** Where programs read flags, if not at the dashboard's own address. */
  readonly evaluationUrl?: string;
}

/** The appearance of an environment. */
export type EnvironmentColor = 'gray' | 'blue' | 'green' | 'amber' | 'red' | 'violet' | 'teal' | 'pink';

/** An environment of a project. */
export interface EnvironmentRecord {
  readonly name: string;
  readonly revision: number;
  readonly createdAt: string;
  readonly protected: boolean;
  readonly color: EnvironmentColor;
  readonly position: number;
}

/** A project in the list of projects. */
export interface ProjectSummary {
  readonly name: string;
  readonly createdAt: string;
}

/** A project with its environments, in their order. */
export interface ProjectRecord extends ProjectSummary {
  readonly environments: readonly EnvironmentRecord[];
}

/** A flag's state in one environment. */
export interface StateRecord {
  readonly state: FlagState;
  /** The environment's revision in which this state was written; `If-Match` names it. */
  readonly revision: number;
  readonly updatedAt: string;
  /** The writer: `operator:<e-mail>`, `token:<name>` or `system`; absent if unknown. */
  readonly updatedBy?: string;
}

/** A flag with its states by environment. */
export interface FlagRecord {
  readonly key: string;
  readonly description: string;
  readonly tags: readonly string[];
  readonly owner: string;
  readonly createdAt: string;
  readonly archivedAt?: string;
  readonly environments: Readonly<Record<string, StateRecord>>;
}

/** The response to a write of one state. */
export interface StateWritten extends StateRecord {
  readonly key: string;
  readonly changed: boolean;
  readonly environmentRevision: number;
  readonly seq?: number;
}

/** The response to a multi-flag change. */
export interface ChangeWritten {
  readonly environment: string;
  readonly revision: number;
  readonly changed: readonly string[];
  readonly seq?: number;
}

/** The open streams of an environment. */
export interface EnvironmentClients {
  readonly environment: string;
  readonly streams: number;
  readonly nodes: number;
  readonly keys: readonly {
    readonly id: string;
    readonly name: string;
    readonly lastFour: string;
    readonly streams: number;
    readonly nodes: number;
    readonly lastSeenAt?: string;
  }[];
}

/** The delivery of a change. */
export interface DeliveryRecord {
  readonly seq: number;
  readonly project: string;
  readonly environment: string;
  readonly streams: number;
  readonly seen: number;
  readonly slowestMs: number;
  readonly nodes?: unknown;
}
