import type { EnvironmentColor } from '@halyard/protocol';
import type { Environment, Flag, FlagDetails, Project, StateText } from '../../domain/project.ts';

/** The version of the declarative document that this program reads and writes. */
export const DECLARATION_VERSION = 1;

/** The formats of a declaration. */
export type DeclarationFormat = 'json' | 'yaml';

/** A project's flags as a document: export writes it, import reads it. */
export interface Declaration {
  readonly project: string;
  /** The environments it covers, in display order. Others stay unchanged. */
  readonly environments: readonly DeclaredEnvironment[];
  readonly flags: ReadonlyMap<string, DeclaredFlag>;
}

/** One environment of a {@link Declaration}. */
export interface DeclaredEnvironment {
  readonly name: string;
  /** Absent: only the name was given, and the environment keeps its appearance and its place. */
  readonly appearance?: { readonly protected?: boolean; readonly color?: EnvironmentColor };
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
}

/** One state that an import changes. */
export interface ImportStep {
  readonly environment: string;
  readonly key: string;
  readonly action: 'create' | 'update' | 'delete';
  readonly before?: StateText;
  readonly after?: StateText;
}

/** How an environment is shown and guarded. */
export type Appearance = Pick<Environment, 'protected' | 'color'>;

/** The difference between a document and a project, computed without writing anything. */
export interface ImportPlan {
  /** Absent: it is created. */
  readonly project?: Project;
  /** Those of the project before the import, sorted by position. */
  readonly environments: readonly Environment[];
  readonly environmentsCreated: readonly { readonly name: string; readonly appearance: Appearance }[];
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
export function isEmptyPlan(plan: ImportPlan): boolean {
  const { environmentsCreated, environmentsUpdated, flagsCreated, flagsUpdated } = plan;
  const { flagsArchived, flagsRestored, changes } = plan;
  const lists = [environmentsCreated, environmentsUpdated, flagsCreated, flagsUpdated, flagsArchived];
  return (
    plan.project !== undefined &&
    plan.order === undefined &&
    [...lists, flagsRestored, changes].every(({ length }) => length === 0)
  );
}
