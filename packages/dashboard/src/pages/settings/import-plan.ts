import type { ImportPlan, Json } from '../../api/types.ts';
import { membersOf } from '../../components/audit/action-text.ts';

/** One difference of a thing: as a whole, or its state in an environment. */
export interface Difference {
  readonly environment?: string;
  readonly before?: Json | undefined;
  readonly after?: Json | undefined;
}

/** Something that an import changes: a flag with its states, an environment, or anything else that the server compares. */
export interface ChangedThing {
  /** What it is, as "flag". */
  readonly noun: string;
  readonly name: string;
  /** What happens to it as a whole, as "created"; empty if only its states change. */
  readonly verbs: readonly string[];
  readonly differences: readonly Difference[];
  /** Whether it, or a state of it, is removed. */
  readonly isRemoval: boolean;
}

/** A list in the server's answer: `flagsCreated`, `environmentsUpdated`, or one that a newer server adds. */
const LIST =
  /^([a-z]\w*?)(Created|Added|Updated|Changed|Archived|Restored|Removed|Deleted|Revoked|Ended|Disabled)$/;

/** Verbs that take something away. */
const REMOVALS = new Set(['archived', 'removed', 'deleted', 'revoked', 'ended', 'disabled']);

/** The things that an import changes, in the order of the answer; what is removed comes first. */
export function thingsOf(plan: ImportPlan): readonly ChangedThing[] {
  const things = new Map<string, ChangedThing>();
  const add = (
    noun: string,
    name: string,
    more: { verb?: string; difference?: Difference; isRemoval?: boolean },
  ) => {
    const id = `${noun}\n${name}`;
    const known = things.get(id);
    const { verb, difference, isRemoval = false } = more;
    things.set(id, {
      noun,
      name,
      verbs: [...(known?.verbs ?? []), ...(verb === undefined ? [] : [verb])],
      differences: [...(known?.differences ?? []), ...(difference === undefined ? [] : [difference])],
      isRemoval: (known?.isRemoval ?? false) || isRemoval,
    });
  };

  for (const [list, value] of Object.entries(plan as { readonly [list: string]: Json })) {
    const [, nouns, verb = ''] = LIST.exec(list) ?? [];
    if (nouns === undefined || !Array.isArray(value)) continue;
    for (const item of value) {
      const isRemoval = REMOVALS.has(verb.toLowerCase());
      add(singular(nouns), nameOf(item), { verb: verb.toLowerCase(), isRemoval, ...differenceOf(item) });
    }
  }
  for (const { key, environment, before, after } of plan.changes) {
    // States are JSON.
    const difference = { environment, before: before as Json | undefined, after: after as Json | undefined };
    add('flag', key, { difference, isRemoval: after === undefined });
  }
  if (plan.environmentOrder !== undefined)
    add('order of environments', '', { difference: { after: plan.environmentOrder } });

  return [...things.values()].toSorted((a, b) => Number(b.isRemoval) - Number(a.isRemoval));
}

/** The names of the things that one of two plans changes and the other does not, or changes in another way. */
export function namesOfOthers(one: ImportPlan, other: ImportPlan): readonly string[] {
  const namesByText = (plan: ImportPlan) =>
    new Map(thingsOf(plan).map((thing) => [JSON.stringify(thing), thing.name || thing.noun]));
  const [before, after] = [namesByText(one), namesByText(other)];
  const names = [...before, ...after].flatMap(([text, name]) =>
    before.has(text) && after.has(text) ? [] : [name],
  );
  return [...new Set(names)];
}

/** What the project has, the document lacks and the import leaves alone: how many of each noun. */
export function onlyInProject(plan: ImportPlan): readonly (readonly [noun: string, count: number])[] {
  return Object.entries(plan.onlyInProject).flatMap(([noun, items]) =>
    items.length === 0 ? [] : [[items.length === 1 ? singular(noun) : spaced(noun), items.length] as const],
  );
}

/** Whether the plan changes nothing. */
export function isNothing(plan: ImportPlan): boolean {
  return !plan.projectCreated && thingsOf(plan).length === 0;
}

function nameOf(item: Json): string {
  if (typeof item === 'string') return item;
  const { key, name, email, id } = membersOf(item);
  const found = [key, name, email, id].find((each) => typeof each === 'string');
  return typeof found === 'string' ? found : '';
}

function differenceOf(item: Json): { difference?: Difference } {
  const { before, after } = membersOf(item);
  return before === undefined && after === undefined ? {} : { difference: { before, after } };
}

/** "projectKeys" as "project key". */
function singular(nouns: string): string {
  return spaced(nouns).replace(/ies$/, 'y').replace(/s$/, '');
}

function spaced(nouns: string): string {
  return nouns.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}
