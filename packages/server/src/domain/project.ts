import type { EnvironmentColor, ValueKind } from '@halyard/protocol';
import { type NamedValuesText, NO_NAMED_VALUES } from './named-values.ts';
import { RawJson, type Writable } from './raw-json.ts';

/** A project: the owner of environments, flags and keys. */
export interface Project {
  readonly id: string;
  /** Unique slug, immutable; what people and programs call it. */
  readonly name: string;
  /** Epoch milliseconds. */
  readonly createdAt: number;
  /** Since when clients are asked to report how often they read each flag; absent while they are not. */
  readonly usageSince?: number;
}

/** The appearance of an environment without guards, and without a color or a place of its own. */
export const PLAIN_APPEARANCE = {
  protected: false,
  approvals: 0,
  emergencyOff: true,
  reasonRequired: false,
  color: 'gray',
  position: 0,
} as const;

/** One environment of a project: an ordered log of revisions. */
export interface Environment {
  readonly id: string;
  readonly projectId: string;
  /** Unique in its project, immutable. */
  readonly name: string;
  /** Counts committed changes. A recreated environment continues the count of the deleted one, so that no reader goes back in time. */
  readonly revision: number;
  /** Changes to its states need the permission for it, and a confirmation from people. */
  readonly protected: boolean;
  /** How many other people approve a change to its states before it is made; 0: none. Only where it is protected. */
  readonly approvals: number;
  /** Whether people who may not approve can turn flags off without approval, as an emergency. */
  readonly emergencyOff: boolean;
  /** Whether every change to its states needs a reason. */
  readonly reasonRequired: boolean;
  /** How screens tell it apart: one of {@link ENVIRONMENT_COLORS}. */
  readonly color: EnvironmentColor;
  /** Its place among its project's environments on a screen, from 0. */
  readonly position: number;
  /** Epoch milliseconds. */
  readonly createdAt: number;
}

/** Marks the name of a deleted environment in the list of a key; no environment's name can end with it. */
export const DELETED_MARK = ' (deleted)';

/** A flag of a project; its state lives per environment. */
export interface Flag {
  readonly projectId: string;
  /** Unique in its project, immutable: renaming would re-roll every rollout. */
  readonly key: string;
  readonly description: string;
  readonly tags: readonly string[];
  /** The person or team responsible: free text, may be empty. */
  readonly owner: string;
  /** Whether it is meant to stay, so that it never counts as unchanged for too long. */
  readonly permanent: boolean;
  /** The kind of value that code expects. It guides people; states of other kinds are accepted. */
  readonly valueKind: ValueKind;
  /** Values that people choose from. They change nothing that is served: states hold values, not names. */
  readonly namedValues: NamedValuesText;
  /** Epoch milliseconds. */
  readonly createdAt: number;
  /** Since when it is archived: it has no states, is not served, and can be restored or deleted. */
  readonly archivedAt?: number;
}

/** What people write about a flag, the same in all environments. */
export type FlagDetails = Pick<
  Flag,
  'description' | 'tags' | 'owner' | 'permanent' | 'valueKind' | 'namedValues'
>;

/** The details among the members of a flag. */
export function detailsOf(flag: FlagDetails): FlagDetails {
  const { description, tags, owner, permanent, valueKind, namedValues } = flag;
  return { description, tags, owner, permanent, valueKind, namedValues };
}

/** The given details as answers and the audit log have them. */
export function detailsRecord(details: Partial<FlagDetails>) {
  const { namedValues, ...others } = details;
  return {
    ...others,
    ...(namedValues !== undefined && { namedValues: new RawJson(namedValues) }),
  } satisfies Writable;
}

/** The details of a flag that was created without any. */
export const PLAIN_DETAILS: FlagDetails = {
  description: '',
  tags: [],
  owner: '',
  permanent: false,
  valueKind: 'any',
  namedValues: NO_NAMED_VALUES,
};

/**
 * A flag state as compact JSON text, members in the order `enabled`, `value`, `rolloutPct`, then those that a newer
 * version wrote. The value's text is kept as its writer sent it (less white space), so key order and number notation
 * survive.
 */
export type StateText = string;

/** The state of one flag in one environment, as stored. */
export interface StoredState {
  readonly flagKey: string;
  readonly state: StateText;
  /** The environment's revision in which this state was written. */
  readonly revision: number;
  /** Epoch milliseconds. */
  readonly updatedAt: number;
  /** The actor's name, as in the audit log; empty in old records. */
  readonly updatedBy: string;
}

/** One step of a change: the new state of a flag, or `null` to remove it from the environment. */
export type StateOperation = readonly [flagKey: string, state: StateText | null];

/** A project key after its creation, without the key itself. (Spec: S3.4) */
export interface ProjectKey {
  /** Public id; safe in logs and URLs. */
  readonly id: string;
  readonly projectId: string;
  readonly name: string;
  /** The key's last four characters, to recognize it by. */
  readonly lastFour: string;
  /** Names of the environments it opens. */
  readonly environments: readonly string[];
  /** Epoch milliseconds, as are all times here. */
  readonly createdAt: number;
  readonly expiresAt?: number;
  readonly revokedAt?: number;
  /** Written lazily, up to a minute late. */
  readonly lastUsedAt?: number;
  /** The id of the key that was made in its place. */
  readonly replacedBy?: string;
}

/** Flags that an operation changes or removes: in one environment or in all of the project, these or all of them. */
export interface Affected {
  readonly projectId: string;
  readonly environmentId?: string;
  readonly keys?: readonly string[];
}
