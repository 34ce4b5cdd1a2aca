import type { DOCUMENT_SECTIONS, REMOVABLE_SECTIONS, Role, WebhookEvents } from '@halyard/protocol';
import type { Environment, FlagDetails, StateText } from '../../domain/project.ts';

/** The version of a document that is about flags alone. */
export const DECLARATION_VERSION = 1;

/** The version of a document with any of {@link DOCUMENT_SECTIONS}, which programs of before refuse. */
export const SECTIONS_VERSION = 2;

/** One of {@link DOCUMENT_SECTIONS}. */
export type Section = (typeof DOCUMENT_SECTIONS)[number];

/** One of {@link REMOVABLE_SECTIONS}. */
export type Removable = (typeof REMOVABLE_SECTIONS)[number];

/** The formats of a declaration. */
export type DeclarationFormat = 'json' | 'yaml';

/** A project's flags as a document: export writes it, import reads it. */
export interface Declaration {
  readonly project: string;
  /** The environments it covers, in display order. Others stay unchanged. */
  readonly environments: readonly DeclaredEnvironment[];
  readonly flags: ReadonlyMap<string, DeclaredFlag>;
  /** Absent sections stay unchanged. */
  readonly keys?: readonly DeclaredKey[];
  readonly webhooks?: readonly DeclaredWebhook[];
  readonly members?: readonly DeclaredMember[];
}

/** Whether a document has keys, webhooks or members. */
export function hasSections({ keys, webhooks, members }: Declaration): boolean {
  return (keys ?? webhooks ?? members) !== undefined;
}

/** A project key by its name, never the key itself. */
export interface DeclaredKey {
  readonly name: string;
  /** Sorted; at least one. */
  readonly environments: readonly string[];
  /** Epoch milliseconds. */
  readonly expiresAt?: number;
}

/** A webhook, never its secret. An address that ends with `…` is a secret, too: it stands for the one that the webhook has. */
export interface DeclaredWebhook {
  readonly name: string;
  readonly url: string;
  readonly format: 'json' | 'slack';
  readonly environments: readonly string[];
  readonly events: readonly WebhookEvents[];
  readonly paused: boolean;
}

/** A role of a person in the project. */
export interface DeclaredMember {
  /** Lower case. */
  readonly email: string;
  readonly role: Role;
  readonly canChangeProtected: boolean;
}

/** The members of an environment that a document can have, in the order of their columns on screens. */
export type EnvironmentSettings = Pick<
  Environment,
  'protected' | 'color' | 'approvals' | 'emergencyOff' | 'reasonRequired'
>;

/** The settings of an environment. */
export function settingsOf(environment: Environment): EnvironmentSettings {
  const { protected: isProtected, color, approvals, emergencyOff, reasonRequired } = environment;
  return { protected: isProtected, color, approvals, emergencyOff, reasonRequired };
}

/** One environment of a {@link Declaration}. */
export interface DeclaredEnvironment {
  readonly name: string;
  /** Absent: only the name was given, and the environment keeps its appearance and its place. */
  readonly appearance?: Partial<EnvironmentSettings>;
}

/** One flag of a {@link Declaration}. */
export interface DeclaredFlag extends Omit<FlagDetails, 'owner'> {
  /** Absent: the owner stays unchanged. */
  readonly owner?: string;
  readonly archived: boolean;
  /** By environment name; the flag does not exist in absent environments. Of an archived flag, those it comes back with. */
  readonly states: ReadonlyMap<string, StateText>;
}

/** How an import treats existing data. */
export const IMPORT_POLICIES = ['create-only', 'enforce'] as const;

/** `create-only` adds what is missing; `enforce` also changes what differs. */
export type ImportPolicy = (typeof IMPORT_POLICIES)[number];

/** What to compare with the project, and how. */
export interface ImportRules {
  readonly declaration: Declaration;
  readonly policy: ImportPolicy;
  /** With `enforce`: whether to remove what the document lacks. */
  readonly prune: boolean;
  /** With `enforce`: the sections from which to remove what the document lacks. */
  readonly remove: readonly Removable[];
  /** The name of the previewed plan that the import must carry out. */
  readonly planned?: string;
}
