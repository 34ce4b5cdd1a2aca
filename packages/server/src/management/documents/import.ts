import type { Actor } from '../../domain/audit.ts';
import { ServiceError } from '../../domain/errors.ts';
import {
  type Environment,
  type Flag,
  PLAIN_DETAILS,
  type Project,
  type StateOperation,
  type StateText,
} from '../../domain/project.ts';
import type { StoreTransaction } from '../../domain/store.ts';
import type { ManagementContext } from '../context.ts';
import { addEnvironment } from '../environments/environments.ts';
import { requireRole, sees } from '../rights.ts';
import { lockProject, requireChangeOf, type Written, writeRecord } from '../write.ts';
import type { Declaration, DeclaredFlag } from './declaration.ts';

/** How an import treats existing data. */
export const IMPORT_POLICIES = ['create-only', 'enforce'] as const;

/** `create-only` adds what is missing; `enforce` changes each listed environment to match the document. */
export type ImportPolicy = (typeof IMPORT_POLICIES)[number];

/** How to import. */
export interface ImportInput {
  readonly declaration: Declaration;
  readonly policy: ImportPolicy;
  /** `preview` runs the import and rolls it back. */
  readonly mode: 'apply' | 'preview';
}

/** One state that an import changes. */
export interface ImportStep {
  readonly environment: string;
  readonly key: string;
  readonly action: 'create' | 'update' | 'delete';
  readonly before?: StateText;
  readonly after?: StateText;
}

/** The result of an import, or of its preview. */
export interface ImportResult {
  readonly projectCreated: boolean;
  readonly environmentsCreated: readonly string[];
  readonly flagsCreated: readonly string[];
  /** Flags whose description, tags or owner are now different. */
  readonly flagsUpdated: readonly string[];
  /** Flags deleted because the document names neither them nor any state of them. */
  readonly flagsDeleted: readonly string[];
  /** By environment, then by key. */
  readonly changes: readonly ImportStep[];
  /** Different states that `create-only` did not change. */
  readonly kept: number;
}

/** Thrown through a transaction to roll it back once its outcome is known. */
class Preview {
  readonly result: ImportResult;

  constructor(result: ImportResult) {
    this.result = result;
  }
}

/**
 * Imports a declaration in one transaction: each environment touched is one change. `flag_archived`, and `forbidden` and
 * `confirmation_required` where it changes what a protected environment has; a preview needs no confirmation.
 */
export async function importDeclaration(
  context: ManagementContext,
  actor: Actor,
  input: ImportInput,
): Promise<Written<ImportResult>> {
  const work = (transaction: StoreTransaction) => new Import(context, { transaction, actor, input }).run();
  if (input.mode === 'apply') return writeRecord(context, actor, work);
  try {
    await context.store.commit(actor, async (transaction) => {
      throw new Preview(await work(transaction));
    });
  } catch (error) {
    if (error instanceof Preview) return error.result;
    throw error;
  }
  throw new Error('a preview was committed');
}

/** One import within one transaction. */
class Import {
  readonly #context: ManagementContext;
  readonly #transaction: StoreTransaction;
  readonly #actor: Actor;
  readonly #mode: ImportInput['mode'];
  readonly #declaration: Declaration;
  readonly #policy: ImportPolicy;
  readonly #environmentsCreated: string[] = [];
  readonly #flagsCreated: string[] = [];
  readonly #flagsUpdated: string[] = [];
  readonly #changes: ImportStep[] = [];
  #kept = 0;

  constructor(
    context: ManagementContext,
    {
      transaction,
      actor,
      input,
    }: { readonly transaction: StoreTransaction; readonly actor: Actor; readonly input: ImportInput },
  ) {
    this.#context = context;
    this.#transaction = transaction;
    this.#actor = actor;
    this.#mode = input.mode;
    this.#declaration = input.declaration;
    this.#policy = input.policy;
  }

  async run(): Promise<ImportResult> {
    const known = await this.#transaction.project(this.#declaration.project);
    // A project that the actor may not see counts as one to create, which requires the role for all projects.
    const place = known !== undefined && sees(this.#actor, known.id) ? known : undefined;
    requireRole(this.#actor, 'admin', place);
    const project = known ?? (await this.#createProject());
    const environments = await this.#prepareEnvironments(project);
    await this.#putFlags(project);
    for (const environment of environments) await this.#changeStates(environment);
    return {
      projectCreated: known === undefined,
      environmentsCreated: this.#environmentsCreated,
      flagsCreated: this.#flagsCreated,
      flagsUpdated: this.#flagsUpdated,
      flagsDeleted: await this.#deleteLeftOver(project),
      changes: this.#changes,
      kept: this.#kept,
    };
  }

  async #createProject(): Promise<Project> {
    const { project: name } = this.#declaration;
    const project = { id: this.#context.newId(), name, createdAt: this.#context.now() };
    await this.#transaction.insertProject(project);
    return project;
  }

  /** Creates the missing environments, locks all of the project, as deleting flags requires, and returns the listed ones. */
  async #prepareEnvironments({ id: projectId }: Project): Promise<readonly Environment[]> {
    const known = new Set((await this.#transaction.environments(projectId)).map(({ name }) => name));
    for (const name of this.#declaration.environments) {
      if (known.has(name)) continue;
      await addEnvironment(this.#context, this.#transaction, { projectId, name });
      this.#environmentsCreated.push(name);
    }
    const all = await lockProject(this.#transaction, projectId);
    const listed = new Set(this.#declaration.environments);
    return all.filter(({ name }) => listed.has(name));
  }

  async #putFlags({ id: projectId }: Project): Promise<void> {
    const known = new Map((await this.#transaction.flags(projectId)).map((flag) => [flag.key, flag]));
    const createdAt = this.#context.now();
    const created: Flag[] = [];
    for (const [key, declared] of byKey(this.#declaration.flags)) {
      const flag = known.get(key);
      const { description, tags, owner = flag?.owner ?? '' } = declared;
      if (flag === undefined)
        created.push({ ...PLAIN_DETAILS, projectId, key, description, tags, owner, createdAt });
      else if (flag.archivedAt !== undefined) throw namesArchived(key);
      else if (this.#policy === 'enforce' && !isSameText(flag, { description, tags, owner })) {
        await this.#transaction.putFlag({ ...flag, description, tags, owner });
        this.#flagsUpdated.push(key);
      }
    }
    await this.#transaction.insertFlags(created);
    this.#flagsCreated.push(...created.map(({ key }) => key));
  }

  async #changeStates(environment: Environment): Promise<void> {
    const stored = await this.#transaction.states(environment.id);
    const current = new Map(stored.map(({ flagKey, state }) => [flagKey, state]));
    const steps: ImportStep[] = [];
    for (const [key, flag] of byKey(this.#declaration.flags)) {
      const after = flag.states.get(environment.name);
      const before = current.get(key);
      if (after !== undefined && after !== before)
        steps.push(this.#step(environment, key, { before, after }));
    }
    if (this.#policy === 'enforce') {
      for (const [key, before] of current) {
        if (this.#declaration.flags.get(key)?.states.has(environment.name) !== true) {
          steps.push({ environment: environment.name, key, action: 'delete', before });
        }
      }
    }
    const taken = steps.filter((step) => this.#policy === 'enforce' || step.action === 'create');
    this.#kept += steps.length - taken.length;
    const isNew = this.#environmentsCreated.includes(environment.name);
    // A new environment has no readers yet, and a preview is rolled back.
    if (taken.length > 0 && !isNew && this.#mode === 'apply') requireChangeOf(this.#actor, environment);
    this.#changes.push(...taken.sort((a, b) => (a.key < b.key ? -1 : 1)));
    await this.#transaction.changeStates(environment, taken.map(operationOf));
  }

  #step(
    environment: Environment,
    key: string,
    { before, after }: { readonly before: StateText | undefined; readonly after: StateText },
  ): ImportStep {
    if (before === undefined) return { environment: environment.name, key, action: 'create', after };
    return { environment: environment.name, key, action: 'update', before, after };
  }

  /** Deletes flags that lost their last state to this import and that the document does not name. */
  async #deleteLeftOver({ id: projectId }: Project): Promise<readonly string[]> {
    const gone = new Set(
      this.#changes.flatMap(({ key, action }) =>
        action === 'delete' && !this.#declaration.flags.has(key) ? [key] : [],
      ),
    );
    if (gone.size === 0) return [];
    for (const { id } of await this.#transaction.environments(projectId)) {
      for (const { flagKey } of await this.#transaction.states(id)) gone.delete(flagKey);
    }
    const flags = (await this.#transaction.flags(projectId)).filter(({ key }) => gone.has(key));
    for (const flag of flags) await this.#transaction.deleteFlag(flag);
    return flags.map(({ key }) => key);
  }
}

function namesArchived(key: string): ServiceError {
  return new ServiceError(
    'flag_archived',
    `The document names the flag "${key}", which is archived: restore the flag, or take it out of the document.`,
  );
}

function operationOf({ key, after }: ImportStep): StateOperation {
  return [key, after ?? null];
}

function byKey(flags: Declaration['flags']): readonly (readonly [string, DeclaredFlag])[] {
  return [...flags].sort(([a], [b]) => (a < b ? -1 : 1));
}

type FlagText = Pick<Flag, 'description' | 'tags' | 'owner'>;

function isSameText(a: FlagText, b: FlagText): boolean {
  return (
    a.description === b.description &&
    a.owner === b.owner &&
    JSON.stringify(a.tags) === JSON.stringify(b.tags)
  );
}
