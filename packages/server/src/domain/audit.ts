import type { Permissions } from './people.ts';

/** Who runs a management operation, what they may do, and why they do it. */
export interface Actor {
  /** `token:<name>`, `operator:<e-mail>` or `system`. */
  readonly name: string;
  readonly permissions: Permissions;
  readonly ip?: string;
  /** Free text of the person: why. */
  readonly note?: string;
}

/** One row of the audit log. It is never pruned. */
export interface AuditEntry {
  readonly id: string;
  /** The change-log row this belongs to, or the last one before it where the operation made none. */
  readonly seq: number;
  /** The last `seq` of the operation that it is part of: the number of the change. */
  readonly operation: number;
  readonly actor: string;
  readonly ip?: string;
  readonly note?: string;
  /** `flag.changed`, `key.revoked`, …: noun and past participle. */
  readonly action: string;
  /** Absent on entries about access tokens, which belong to no project. */
  readonly projectId?: string;
  readonly environmentId?: string;
  /** The flag key, key id, or name that was acted on. */
  readonly target: string;
  /** JSON text of what was there before and after; absent for nothing. Never a secret. */
  readonly before?: string;
  readonly after?: string;
  /** Epoch milliseconds. */
  readonly at: number;
}

/** Nouns of deeds that are about people and their credentials: administrators alone read of them. */
export const PEOPLE_NOUNS = ['token', 'operator', 'invitation', 'session'] as const;

/** Whether a deed is about people and their credentials. */
export function isAboutPeople(action: string): boolean {
  return PEOPLE_NOUNS.some((noun) => action.startsWith(`${noun}.`));
}
