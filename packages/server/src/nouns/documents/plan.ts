import type { Environment, Flag, Project, ProjectKey, StateText } from '../../domain/project.ts';
import type { Operator } from '../people/operator.ts';
import type { Webhook } from '../webhooks/webhook.ts';
import type {
  DeclaredFlag,
  DeclaredKey,
  DeclaredMember,
  DeclaredWebhook,
  EnvironmentSettings,
  Removable,
} from './document.ts';

/** One state that an import changes. */
export interface ImportStep {
  readonly environment: string;
  readonly key: string;
  readonly action: 'create' | 'update' | 'delete';
  readonly before?: StateText;
  readonly after?: StateText;
}

/** What an import changes in the sections of a document, beside its flags. */
export interface SectionPlan {
  readonly keysCreated: readonly DeclaredKey[];
  readonly keysRevoked: readonly ProjectKey[];
  readonly webhooksCreated: readonly DeclaredWebhook[];
  readonly webhooksUpdated: readonly { readonly before: Webhook; readonly after: DeclaredWebhook }[];
  readonly webhooksDeleted: readonly Webhook[];
  readonly membersChanged: readonly MemberChange[];
  /** What differs and `create-only` leaves as it is. */
  readonly kept: number;
  /** What the project has and the document lacks, and nothing removes: names, and e-mails of members. */
  readonly only: Readonly<Record<Removable, readonly string[]>>;
}

/** A role that a person gets, has changed, or loses. */
export interface MemberChange {
  readonly email: string;
  /** Absent: there is no such person yet. */
  readonly operator?: Operator;
  readonly before?: MemberRole;
  readonly after?: MemberRole;
}

/** The role of a person in the project. */
export type MemberRole = Omit<DeclaredMember, 'email'>;

/** The difference between a document and a project, computed without writing anything. */
export interface ImportPlan {
  /** Absent: it is created. */
  readonly project?: Project;
  /** Those of the project before the import, sorted by position. */
  readonly environments: readonly Environment[];
  readonly environmentsCreated: readonly {
    readonly name: string;
    readonly appearance: Pick<EnvironmentSettings, 'protected' | 'color'> & Partial<EnvironmentSettings>;
  }[];
  readonly environmentsUpdated: readonly { readonly before: Environment; readonly after: Environment }[];
  /** The names of all environments in their new order, if that changes. */
  readonly order?: readonly string[];
  readonly flagsCreated: readonly { readonly key: string; readonly declared: DeclaredFlag }[];
  readonly flagsUpdated: readonly { readonly before: Flag; readonly after: Flag }[];
  /** Each with the states that it has, by environment name. */
  readonly flagsArchived: readonly { readonly flag: Flag; readonly states: ReadonlyMap<string, StateText> }[];
  readonly flagsRestored: readonly Flag[];
  /** By environment name, the environments sorted, each by key. States that leave with their flag are not among them. */
  readonly changes: readonly ImportStep[];
  /** What to write of each environment that exists or is created, by its name; `null` removes the state. */
  readonly operations: ReadonlyMap<string, ReadonlyMap<string, StateText | null>>;
  readonly sections: SectionPlan;
  /** States and flags that differ, and that `create-only` leaves as they are. */
  readonly kept: number;
  /** What the project has and the document lacks, and nothing removes. */
  readonly onlyInProject: {
    readonly flags: readonly string[];
    /** Of flags that the document names. */
    readonly states: readonly { readonly environment: string; readonly key: string }[];
  };
}

/** Whether carrying out the plan would change nothing. */
export function isEmptyPlan({ project, order, environments: _, ...plan }: ImportPlan): boolean {
  // Every list but that of the environments is one of changes.
  const changes = Object.values({ ...plan, ...plan.sections }).filter((part) => Array.isArray(part));
  return project !== undefined && order === undefined && changes.every(({ length }) => length === 0);
}

/** The secrets of what an import created, which are shown once. */
export interface CreatedSecrets {
  /** In the order of the plan. */
  readonly keys: readonly (DeclaredKey & { readonly id: string; readonly key: string })[];
  /** By the name of the webhook. */
  readonly webhooks: ReadonlyMap<string, string>;
}
