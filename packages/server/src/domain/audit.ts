import { isRecord } from '@halyard/protocol';
import type { Approval } from './approval.ts';
import { type Credential, type Permissions, UNLIMITED } from './rights.ts';

/** The person or program that runs a management operation, with its permissions and reason. */
export interface Actor {
  /** `token:<name>`, `operator:<e-mail>` or `system`. */
  readonly name: string;
  readonly permissions: Permissions;
  /** Where the permissions come from; absent where no record can take them away before the commit. */
  readonly credential?: Credential;
  /**
   * The only project in which a call may act, because it is authorized by the role there: not another one that has the name
   * by now. Absent where the role for all projects counts.
   */
  readonly projectId?: string;
  readonly ip?: string;
  /** Free text of the person: why. */
  readonly note?: string;
  /** The caller's own name for this request, by which it finds what the request changed. */
  readonly reference?: string;
  /** What lets it change environments that require approvals; absent where nothing does. */
  readonly approval?: Approval;
}

/** A request with the caller's own name, and its author's. */
export interface ReferencePlace {
  readonly actor: string;
  readonly reference: string;
}

/** The author of what the server does by itself. */
export const SYSTEM: Actor = { name: 'system', permissions: UNLIMITED };

/** One row of the audit log. It is never pruned; a setting removes personal data from old ones. */
export interface AuditEntry {
  readonly id: string;
  /** The row of the change log that it belongs to. */
  readonly seq: number;
  /** The last `seq` of its operation: the number of the change. */
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
  /** JSON text of the record before and after; absent where it did not exist. Never a secret. */
  readonly before?: string;
  readonly after?: string;
  /** Epoch milliseconds. */
  readonly at: number;
}

/** A page of entries ends with the one that reaches this size, in characters: a change can have thousands of large ones. */
export const AUDIT_PAGE_SIZE = 4 * 1024 * 1024;

/** The characters of an entry's long texts. */
export function sizeOf({ before, after }: Pick<AuditEntry, 'before' | 'after'>): number {
  return (before?.length ?? 0) + (after?.length ?? 0);
}

/** The members of an entry's `before` or `after`; none when it is absent or damaged. */
export function auditMembers(text: string | undefined): Readonly<Record<string, unknown>> {
  try {
    const data: unknown = JSON.parse(text ?? '{}');
    return isRecord(data) ? data : {};
  } catch {
    // Not JSON: damaged.
    return {};
  }
}

/** Nouns of actions on people and their credentials, which only administrators may read. */
export const PEOPLE_NOUNS = ['token', 'relay', 'operator', 'invitation', 'session'] as const;

/** Whether an action is about people and their credentials. */
export function isAboutPeople(action: string): boolean {
  return PEOPLE_NOUNS.some((noun) => action.startsWith(`${noun}.`));
}

/** Entries that name a change in a list. A change may have thousands. */
export const NAMING_ENTRIES = 8;

/** What a change was about: an entry of the audit log without its versions, with the name of its environment. */
export type ChangedPlace = Pick<AuditEntry, 'action' | 'target'> & { readonly environment?: string };
