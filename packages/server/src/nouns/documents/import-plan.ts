import type { Actor } from '../../domain/audit.ts';
import {
  detailsOf,
  type Environment,
  type Flag,
  type FlagDetails,
  type StateText,
} from '../../domain/project.ts';
import { sees } from '../../management/rights.ts';
import type { Queryable } from '../../storage/database.ts';
import { readEnvironments } from '../environments/environment-table.ts';
import { defaultAppearance } from '../environments/environments.ts';
import { readArchivedStates, readFlags } from '../flags/flag-table.ts';
import { readProject } from '../projects/project-table.ts';
import { readStoredStates } from '../states/state-table.ts';
import type { DeclaredEnvironment, DeclaredFlag, ImportRules } from './document.ts';
import type { ImportPlan, ImportStep, SectionPlan } from './plan.ts';
import { planSections } from './section-plan.ts';

/**
 * Plans an import from what `db` sees. Made under the locks, it stays true until the commit. A project that the actor
 * may not see counts as one to create, which requires the role for all projects.
 */
export async function planImport(
  db: Queryable,
  actor: Actor,
  rules: ImportRules,
  now: number,
): Promise<ImportPlan> {
  const known = await readProject(db, rules.declaration.project);
  const project = known !== undefined && sees(actor, known.id) ? known : undefined;
  const environments = project === undefined ? [] : await readEnvironments(db, project.id);
  const flags = project === undefined ? [] : await readFlags(db, project.id);
  const states = new Map<string, ReadonlyMap<string, StateText>>();
  for (const { id, name } of environments) {
    states.set(name, new Map((await readStoredStates(db, id)).map(({ flagKey, state }) => [flagKey, state])));
  }
  const planner = new Planner(rules, { environments, flags, states });
  for (const flag of planner.planFlags()) {
    const archived = await readArchivedStates(db, flag);
    planner.restore(flag, new Map(environments.map(({ id, name }) => [name, archived.get(id)])));
  }

  const sections = await planSections(db, actor, { project, rules, now });
  return { ...(project && { project }), ...planner.finish(sections) };
}

/** The records of the project before an import. */
interface Found {
  readonly environments: readonly Environment[];
  readonly flags: readonly Flag[];
  /** By environment name, then by key. */
  readonly states: ReadonlyMap<string, ReadonlyMap<string, StateText>>;
}

class Planner {
  readonly #rules: ImportRules;
  readonly #found: Found;
  readonly #enforces: boolean;
  readonly #prunes: boolean;
  /** The names that the document lists. */
  readonly #listed: readonly string[];
  readonly #flagsCreated: { readonly key: string; readonly declared: DeclaredFlag }[] = [];
  readonly #flagsUpdated: { readonly before: Flag; readonly after: Flag }[] = [];
  readonly #flagsArchived: { readonly flag: Flag; readonly states: ReadonlyMap<string, StateText> }[] = [];
  readonly #flagsRestored: Flag[] = [];
  readonly #changes: ImportStep[] = [];
  readonly #operations = new Map<string, Map<string, StateText | null>>();
  readonly #onlyFlags: string[] = [];
  readonly #onlyStates: { readonly environment: string; readonly key: string }[] = [];
  #kept = 0;

  constructor(rules: ImportRules, found: Found) {
    this.#rules = rules;
    this.#found = found;
    this.#enforces = rules.policy === 'enforce';
    this.#prunes = this.#enforces && rules.prune;
    this.#listed = rules.declaration.environments.map(({ name }) => name);
  }

  /** Plans all flags. Returns those to restore, for which {@link restore} must be called. */
  planFlags(): readonly Flag[] {
    const { flags: declaredFlags } = this.#rules.declaration;
    const known = new Map(this.#found.flags.map((flag) => [flag.key, flag]));

    for (const [key, declared] of [...declaredFlags].sort(([a], [b]) => (a < b ? -1 : 1))) {
      const flag = known.get(key);
      if (flag === undefined) this.#create(key, declared);
      else this.#compare(flag, declared);
    }

    if (this.#enforces) {
      for (const flag of this.#found.flags) {
        if (flag.archivedAt === undefined && !declaredFlags.has(flag.key)) this.#removeUnnamed(flag);
      }
    }

    return this.#flagsRestored;
  }

  #create(key: string, declared: DeclaredFlag): void {
    this.#flagsCreated.push({ key, declared });
    if (!declared.archived) this.#compareStates(key, declared);
  }

  #compare(flag: Flag, declared: DeclaredFlag): void {
    const after = { ...flag, ...detailsOf({ owner: flag.owner, ...declared }) };
    const isArchived = flag.archivedAt !== undefined;
    if (this.#enforces && !isSameDetails(flag, after)) this.#flagsUpdated.push({ before: flag, after });
    // An archived flag that stays archived keeps its states: they are not served.
    if (isArchived && declared.archived) return;
    if (isArchived === declared.archived) this.#compareStates(flag.key, declared);
    else if (!this.#enforces) this.#kept++;
    else if (isArchived) this.#flagsRestored.push(flag);
    else this.#archive(flag);
  }

  #compareStates(key: string, declared: DeclaredFlag): void {
    for (const environment of this.#listed) {
      const before = this.#found.states.get(environment)?.get(key);
      const after = declared.states.get(environment);
      if (before === after) continue;
      if (after === undefined) this.#removeState(environment, key, before);
      else if (before === undefined) this.#change({ environment, key, action: 'create', after });
      else if (this.#enforces) this.#change({ environment, key, action: 'update', before, after });
      else this.#kept++;
    }
  }

  /** Removes a state that the document lacks, if this import may. */
  #removeState(environment: string, key: string, before: StateText | undefined): void {
    if (before === undefined || !this.#enforces) return;
    if (this.#prunes) this.#change({ environment, key, action: 'delete', before });
    else this.#onlyStates.push({ environment, key });
  }

  /** A document of all environments is about the whole project: a flag that it does not name is archived. */
  #removeUnnamed(flag: Flag): void {
    const { key } = flag;
    const places = this.#listed.filter((name) => this.#found.states.get(name)?.has(key) === true);
    const isWhole = this.#found.environments.every(({ name }) => this.#listed.includes(name));
    if (!isWhole && places.length === 0) return;
    if (!this.#prunes) this.#onlyFlags.push(key);
    else if (isWhole) this.#archive(flag);
    else for (const name of places) this.#removeState(name, key, this.#found.states.get(name)?.get(key));
  }

  #archive(flag: Flag): void {
    const states = new Map<string, StateText>();
    for (const { name } of this.#found.environments) {
      const state = this.#found.states.get(name)?.get(flag.key);
      if (state === undefined) continue;
      states.set(name, state);
      this.#operation(name, flag.key, null);
    }
    this.#flagsArchived.push({ flag, states });
  }

  /** Plans the states of a restored flag: the document's, and those it had in environments that are not listed. */
  restore({ key }: Flag, archived: ReadonlyMap<string, StateText | undefined>): void {
    const declared = this.#rules.declaration.flags.get(key);
    for (const environment of new Set([...archived.keys(), ...this.#listed])) {
      const isListed = this.#listed.includes(environment);
      const after = isListed ? declared?.states.get(environment) : archived.get(environment);
      if (after !== undefined) this.#change({ environment, key, action: 'create', after });
    }
  }

  #change(step: ImportStep): void {
    this.#changes.push(step);
    this.#operation(step.environment, step.key, step.after ?? null);
  }

  #operation(environment: string, key: string, state: StateText | null): void {
    const operations = this.#operations.get(environment) ?? new Map<string, StateText | null>();
    this.#operations.set(environment, operations.set(key, state));
  }

  finish(sections: SectionPlan): Omit<ImportPlan, 'project'> {
    const order = this.#newOrder();
    return {
      environments: this.#found.environments,
      environmentsCreated: this.#missingEnvironments().map(({ name, appearance }) => ({
        name,
        appearance: { ...defaultAppearance(name), ...appearance },
      })),
      environmentsUpdated: this.#enforces ? this.#changedAppearances() : [],
      ...(order && { order }),
      flagsCreated: this.#flagsCreated,
      flagsUpdated: this.#flagsUpdated,
      flagsArchived: this.#flagsArchived,
      flagsRestored: this.#flagsRestored,
      changes: this.#changes.toSorted(byPlace),
      operations: this.#operations,
      sections,
      kept: this.#kept + sections.kept,
      onlyInProject: { flags: this.#onlyFlags, states: this.#onlyStates },
    };
  }

  #missingEnvironments(): readonly DeclaredEnvironment[] {
    const known = new Set(this.#found.environments.map(({ name }) => name));
    return this.#rules.declaration.environments.filter(({ name }) => !known.has(name));
  }

  #changedAppearances(): { readonly before: Environment; readonly after: Environment }[] {
    const known = new Map(this.#found.environments.map((environment) => [environment.name, environment]));
    return this.#rules.declaration.environments.flatMap(({ name, appearance }) => {
      const before = known.get(name);
      if (before === undefined) return [];
      const changed = { ...before, ...appearance };
      // With its protection an environment loses its approvals; a document that names both is refused.
      const losesBoth = !changed.protected && appearance?.approvals === undefined;
      const after = losesBoth ? { ...changed, approvals: 0 } : changed;
      return Bun.deepEquals(before, after) ? [] : [{ before, after }];
    });
  }

  /** The order with the placed environments in the document's order, each in a place that one of them had. */
  #newOrder(): readonly string[] | undefined {
    if (!this.#enforces) return undefined;
    const placed = this.#rules.declaration.environments.filter(({ appearance }) => appearance !== undefined);
    const wanted = placed.map(({ name }) => name);
    const missing = this.#missingEnvironments().map(({ name }) => name);
    const now = [...this.#found.environments.map(({ name }) => name), ...missing];
    let next = 0;
    const order = now.map((name) => (wanted.includes(name) ? (wanted[next++] ?? name) : name));
    return order.every((name, index) => name === now[index]) ? undefined : order;
  }
}

function byPlace(a: ImportStep, b: ImportStep): number {
  if (a.environment !== b.environment) return a.environment < b.environment ? -1 : 1;
  return a.key < b.key ? -1 : a.key > b.key ? 1 : 0;
}

/** Whether two flags have the same details. */
export function isSameDetails(a: FlagDetails, b: FlagDetails): boolean {
  return JSON.stringify(detailsOf(a)) === JSON.stringify(detailsOf(b));
}
