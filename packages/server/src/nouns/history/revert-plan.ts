import { defined, isRevertible, type RevertibleAction } from '@halyard/protocol';
import type { AuditEntry } from '../../domain/audit.ts';
import { detailsRecord, type Environment, type Flag, type StateText } from '../../domain/project.ts';
import { writeJson } from '../../domain/raw-json.ts';
import type { Queryable } from '../../storage/database.ts';
import type { ArchivedStates } from '../../storage/rows.ts';
import { readArchivedStates, readFlag, readFlagsNamed } from '../flags/flag-table.ts';
import { flagArchived } from '../lookup.ts';
import { readStoredState, readTexts } from '../states/state-table.ts';
import type { AuditedOperation } from './audit-query.ts';
import { readAppearance, readDeletedFlag, readDetails } from './recorded.ts';

/** One difference of a revert. Texts are JSON; an absent text means that it does not exist. */
export interface RevertDifference {
  /** With `key` a state, without it the environment's appearance. */
  readonly environment?: string;
  /** Without `environment` the flag itself: its texts, or whether it is archived. */
  readonly key?: string;
  readonly before?: string;
  readonly after?: string;
}

/** The steps of a revert, computed without writing anything. */
export interface RevertPlan {
  readonly differences: RevertDifference[];
  /** The differences since the change, in words. */
  readonly conflicts: string[];
  /** Why the revert is impossible, even with force; the end of a sentence. */
  obstacle?: string;
  readonly recreate: { readonly flag: Flag; readonly states: ArchivedStates }[];
  readonly restore: Flag[];
  readonly states: { readonly environment: Environment; readonly key: string; readonly state?: StateText }[];
  readonly archive: Flag[];
  readonly texts: Flag[];
  readonly remove: Flag[];
  readonly appearance: Environment[];
}

/** Plans how to revert `operation`, from the current contents. */
export function planRevert(
  db: Queryable,
  given: { readonly operation: AuditedOperation; readonly environments: readonly Environment[] },
): Promise<RevertPlan> {
  return new Planner(db, given.operation.entries, given.environments).run();
}

class Planner {
  readonly #db: Queryable;
  readonly #entries: readonly AuditEntry[];
  readonly #environments: ReadonlyMap<string, Environment>;
  /** The entries of states, by flag: an operation may have tens of thousands. */
  readonly #states: ReadonlyMap<string, readonly AuditEntry[]>;
  readonly #plan: RevertPlan = {
    differences: [],
    conflicts: [],
    recreate: [],
    restore: [],
    states: [],
    archive: [],
    texts: [],
    remove: [],
    appearance: [],
  };
  /** Flags that are archived or restored with their states, whose own entries are skipped. */
  readonly #whole = new Set<string>();

  constructor(db: Queryable, entries: readonly AuditEntry[], environments: readonly Environment[]) {
    this.#db = db;
    this.#entries = entries;
    this.#states = Map.groupBy(
      entries.filter(({ action }) => action === 'flag.changed'),
      ({ target }) => target,
    );
    this.#environments = new Map(environments.map((environment) => [environment.id, environment]));
  }

  async run(): Promise<RevertPlan> {
    for (const entry of this.#entries)
      if (isRevertible(entry.action)) await this.#revert(entry.action, entry);

    await this.#revertStates();
    return this.#plan;
  }

  /** An action that is called revertible and is not here is refused by the compiler. */
  async #revert(action: RevertibleAction, entry: AuditEntry): Promise<void> {
    switch (action) {
      case 'flag.archived':
        return this.#unarchive(entry);
      case 'flag.restored':
        return this.#archiveAgain(entry);
      case 'flag.deleted':
        return this.#recreate(entry);
      case 'flag.recreated':
        return this.#deleteAgain(entry);
      case 'flag.updated':
        return this.#revertTexts(entry);
      case 'environment.updated':
        return this.#revertAppearance(entry);
      case 'flag.changed':
        // All states together, after the flags.
        return;
      default:
        action satisfies never;
    }
  }

  async #unarchive(entry: AuditEntry): Promise<void> {
    this.#whole.add(entry.target);
    const flag = await this.#flag(entry);
    if (flag === undefined) return this.#conflict(`the flag "${entry.target}" was deleted`);
    if (flag.archivedAt === undefined) return this.#conflict(`the flag "${entry.target}" was restored`);
    this.#plan.restore.push(flag);
    this.#differ({ key: flag.key, before: '{"archived":true}', after: '{"archived":false}' });
    for (const [id, after] of await readArchivedStates(this.#db, flag)) {
      const environment = this.#environments.get(id)?.name;
      if (environment !== undefined) this.#differ({ environment, key: flag.key, after });
    }
  }

  async #archiveAgain(entry: AuditEntry): Promise<void> {
    this.#whole.add(entry.target);
    const flag = await this.#flag(entry);
    if (flag === undefined) return this.#conflict(`the flag "${entry.target}" was deleted`);
    if (flag.archivedAt !== undefined) return this.#conflict(`the flag "${entry.target}" was archived`);
    this.#plan.archive.push(flag);
    this.#differ({ key: flag.key, before: '{"archived":false}', after: '{"archived":true}' });
    const restored = new Map(this.#statesOf(flag.key).map((one) => [one.environmentId, one.after]));
    for (const { id, name } of this.#environments.values()) {
      const before = (await readStoredState(this.#db, id, flag.key))?.state;
      if (before !== restored.get(id)) this.#conflict(`"${flag.key}" in ${name}`);
      if (before !== undefined) this.#differ({ environment: name, key: flag.key, before });
    }
  }

  async #recreate(entry: AuditEntry): Promise<void> {
    const { projectId = '', target: key } = entry;
    if ((await this.#flag(entry)) !== undefined) return this.#block(`a flag "${key}" exists again`);
    const kept = readDeletedFlag(entry.before);
    if (kept === undefined) return this.#block(`the audit log does not hold the whole flag "${key}"`);
    this.#plan.recreate.push({ flag: { projectId, key, ...kept.flag }, states: kept.states });
    this.#differ({ key, ...defined({ after: entry.before }) });
  }

  async #deleteAgain(entry: AuditEntry): Promise<void> {
    const { target: key } = entry;
    const flag = await this.#flag(entry);
    if (flag === undefined) return this.#conflict(`the flag "${key}" was deleted`);
    const wasArchived = readDeletedFlag(entry.after)?.flag.archivedAt !== undefined;
    if ((wasArchived && flag.archivedAt === undefined) || (await this.#keepsStates(key))) {
      return this.#block(`the flag "${key}" is in use again: archive it, then delete it`);
    }
    this.#plan.remove.push(flag);
    this.#differ({ key, ...defined({ before: entry.after }) });
  }

  /** Whether the flag has states that reverting this change would not remove. */
  async #keepsStates(key: string): Promise<boolean> {
    const removed = new Set(
      this.#statesOf(key).flatMap(({ environmentId, before }) =>
        before === undefined ? [environmentId] : [],
      ),
    );
    for (const id of this.#environments.keys()) {
      if (!removed.has(id) && (await readStoredState(this.#db, id, key)) !== undefined) return true;
    }
    return false;
  }

  async #revertTexts(entry: AuditEntry): Promise<void> {
    const flag = await this.#flag(entry);
    if (flag === undefined) return this.#conflict(`the flag "${entry.target}" was deleted`);
    const steps = differing(readDetails(entry.before), readDetails(entry.after), flag);
    for (const name of steps.changedSince) this.#conflict(`the ${name} of "${flag.key}"`);
    if (Object.keys(steps.back).length === 0) return;
    this.#plan.texts.push({ ...flag, ...steps.back });
    const [before, after] = [steps.now, steps.back].map((details) => writeJson(detailsRecord(details)));
    this.#differ({ key: flag.key, ...defined({ before, after }) });
  }

  #revertAppearance(entry: AuditEntry): void {
    const environment = this.#environments.get(entry.environmentId ?? '');
    if (environment === undefined) {
      this.#conflict(`the environment "${entry.target}" was deleted`);
      return;
    }
    const steps = differing(readAppearance(entry.before), readAppearance(entry.after), environment);
    for (const name of steps.changedSince) this.#conflict(`"${name}" of the environment ${environment.name}`);
    if (Object.keys(steps.back).length === 0) return;
    this.#plan.appearance.push({ ...environment, ...steps.back });
    const [before, after] = [JSON.stringify(steps.now), JSON.stringify(steps.back)];
    this.#differ({ environment: environment.name, before, after });
  }

  async #revertStates(): Promise<void> {
    const changed = this.#entries.filter(
      ({ action, target }) => action === 'flag.changed' && !this.#whole.has(target),
    );
    const [first] = changed;
    if (first === undefined) return;

    const keys = changed.map(({ target }) => target);
    const flags = await readFlagsNamed(this.#db, first.projectId ?? '', keys);
    const recreated = new Set(this.#plan.recreate.map((one) => one.flag.key));

    for (const [id, entries] of Map.groupBy(changed, ({ environmentId = '' }) => environmentId)) {
      const environment = this.#environments.get(id);
      if (environment === undefined) {
        this.#conflict('an environment was deleted');
        continue;
      }

      const current = await readTexts(
        this.#db,
        id,
        entries.map(({ target }) => target),
      );
      for (const { target: key, before: after, after: left } of entries) {
        const before = current.get(key);
        if (before === after) continue;
        if (before !== left) this.#conflict(`"${key}" in ${environment.name}`);

        const flag = flags.get(key);
        if (flag?.archivedAt !== undefined) throw flagArchived(key);
        if (flag === undefined && !recreated.has(key)) {
          this.#conflict(`the flag "${key}" was deleted`);
        }

        this.#plan.states.push({ environment, key, ...defined({ state: after }) });
        this.#differ({ environment: environment.name, key, ...defined({ before, after }) });
      }
    }
  }

  #statesOf(key: string): readonly AuditEntry[] {
    return this.#states.get(key) ?? [];
  }

  #flag({ projectId = '', target }: AuditEntry): Promise<Flag | undefined> {
    return readFlag(this.#db, projectId, target);
  }

  #differ(difference: RevertDifference): void {
    this.#plan.differences.push(difference);
  }

  #conflict(what: string): void {
    this.#plan.conflicts.push(what);
  }

  #block(reason: string): void {
    this.#plan.obstacle = reason;
  }
}

/** Compares member by member: members that the change left alone may have changed since. */
function differing<T extends object>(before: Partial<T>, after: Partial<T>, current: T) {
  const back: Partial<T> = {};
  const now: Partial<T> = {};
  const changedSince: string[] = [];
  // `keyof T`: both texts were read as parts of a `T`.
  for (const name of Object.keys(before) as (keyof T & string)[]) {
    const wanted = before[name];
    if (wanted === undefined || Bun.deepEquals(wanted, after[name]) || Bun.deepEquals(wanted, current[name]))
      continue;
    if (!Bun.deepEquals(current[name], after[name])) changedSince.push(name);
    back[name] = wanted;
    now[name] = current[name];
  }
  return { back, now, changedSince };
}
