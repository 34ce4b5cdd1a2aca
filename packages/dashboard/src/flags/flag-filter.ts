import { isSameState } from '../api/flag-states.ts';
import type { FlagRecord } from '../api/types.ts';

/** A flag's state in an environment, as the filter knows it. */
type StateFilter = 'on' | 'off' | 'unset' | 'rollout';

/** The orders of the list. */
const SORTS = ['key', '-key', 'changed', '-changed', 'created', 'read', '-read'] as const;

/** An order; `-` reverses it. `changed`, `created` and `read` begin with the newest. */
export type Sort = (typeof SORTS)[number];

/** The spans of "recently changed", in milliseconds. */
const CHANGED_SPANS = { '1h': 3_600_000, '24h': 86_400_000, '7d': 604_800_000 } as const;

/** The choices of "unchanged for", in days. */
export const STALE_DAYS = { stale30: 30, stale90: 90 } as const;

/** The filter of the list, held by the address of the screen. */
export interface FlagFilter {
  readonly query: string;
  readonly state: { readonly environment: string; readonly is: StateFilter } | undefined;
  /** A flag must have all of them. */
  readonly tags: readonly string[];
  /** An owner, or {@link MINE}. */
  readonly owner: string;
  readonly isFavorite: boolean;
  /** Recently changed, or unchanged for long. */
  readonly changed: keyof typeof CHANGED_SPANS | keyof typeof STALE_DAYS | undefined;
  readonly isArchived: boolean;
  readonly sort: Sort;
}

/** The members of the address that hold a filter, and the order. */
export const FILTER_MEMBERS = [
  ...['q', 'state', 'tag', 'owner', 'favorite', 'changed', 'archived', 'sort'],
] as const;

/** The owner of the filter for flags of the signed-in person. */
export const MINE = '@me';

/** Several tags as one member of the address, and back. */
export const tagList = {
  write: (tags: readonly string[]): string =>
    tags.map((tag) => tag.replaceAll(/[%,]/g, encodeURIComponent)).join(','),
  read: (text: string): readonly string[] =>
    text
      .split(',')
      .filter(Boolean)
      .map((tag) => tag.replaceAll(/%(2C|25)/g, decodeURIComponent)),
} as const;

const CHANGES = ['1h', '24h', '7d', 'stale30', 'stale90'] as const;

/** Reads a filter from the address. Ignores unknown values. */
export function readFilter(params: URLSearchParams): FlagFilter {
  const [, environment, is] = /^(.+):(on|off|unset|rollout)$/.exec(params.get('state') ?? '') ?? [];
  const changed = params.get('changed') ?? '';
  return {
    query: params.get('q') ?? '',
    // The pattern lets only these words through.
    state: environment === undefined ? undefined : { environment, is: is as StateFilter },
    tags: tagList.read(params.get('tag') ?? ''),
    owner: params.get('owner') ?? '',
    isFavorite: params.has('favorite'),
    changed: CHANGES.find((choice) => choice === changed),
    isArchived: params.has('archived'),
    sort: SORTS.find((sort) => sort === params.get('sort')) ?? 'key',
  };
}

/** Whether the filter hides flags. */
export function isFiltering({ query, state, tags, owner, isFavorite, changed }: FlagFilter): boolean {
  const isNarrowed = state !== undefined || tags.length > 0 || owner !== '' || isFavorite;
  return query.trim() !== '' || isNarrowed || changed !== undefined;
}

/** The words of a search, in lower case. */
export function wordsOf(text: string): readonly string[] {
  return text.toLowerCase().split(/\s+/).filter(Boolean);
}

/** What a filter knows of the person who filters, and of the project. */
interface Person {
  readonly favorites: ReadonlySet<string>;
  /** The owners that mean this person: e-mail and name. */
  readonly owners: readonly string[];
  /** How many environments the project has. */
  readonly environments: number;
  /** When flags were last read, by key (ISO 8601); absent where that is not known. */
  readonly readTimes?: ReadonlyMap<string, string> | undefined;
}

const UNKNOWN_PERSON: Person = { favorites: new Set(), owners: [], environments: 0 };

/**
 * The flags that match a filter, in its order; by default the best matches of the search first. `now` is epoch
 * milliseconds.
 */
export function filterFlags(
  flags: readonly FlagRecord[],
  filter: FlagFilter,
  now: number,
  { favorites, owners, environments, readTimes }: Person = UNKNOWN_PERSON,
): readonly FlagRecord[] {
  const words = wordsOf(filter.query);
  const found = flags.filter(
    (flag) =>
      words.every((word) => textOf(flag).includes(word)) &&
      filter.tags.every((tag) => flag.tags.includes(tag)) &&
      (filter.owner === '' ||
        (filter.owner === MINE ? owners.includes(flag.owner) : flag.owner === filter.owner)) &&
      (!filter.isFavorite || favorites.has(flag.key)) &&
      hasAge(flag, filter.changed, { now, environments }) &&
      hasState(flag, filter.state),
  );
  if (filter.sort === 'read' || filter.sort === '-read')
    return sortByRead(found, readTimes, filter.sort === 'read' ? -1 : 1);
  if (filter.sort !== 'key') return found.sort(ORDERS[filter.sort]);
  if (words.length === 0) return found;
  return found
    .map((flag) => ({ flag, rank: rankFlag(flag, words) }))
    .sort((one, other) => one.rank - other.rank)
    .map(({ flag }) => flag);
}

/** How many ranks {@link rankFlag} tells apart. */
export const RANKS = 5;

/**
 * How well a flag matches the words of a search, from 0, the best: its key begins with them, has them at the start of a
 * part, or anywhere; its description or tags have them; only its owner has. `Infinity`: not all of them are found.
 */
export function rankFlag({ key, description, tags, owner }: FlagRecord, words: readonly string[]): number {
  const low = key.toLowerCase();
  let rank = 0;
  for (const word of words) {
    const at = low.indexOf(word);
    if (at === 0) continue;
    if (at > 0) rank = Math.max(rank, /[._-]/.test(low[at - 1] ?? '') ? 1 : 2);
    else if (`${description} ${tags.join(' ')}`.toLowerCase().includes(word)) rank = Math.max(rank, 3);
    else if (owner.toLowerCase().includes(word)) rank = 4;
    else return Number.POSITIVE_INFINITY;
  }
  return rank;
}

function hasAge(
  flag: FlagRecord,
  changed: FlagFilter['changed'],
  { now, environments }: { readonly now: number; readonly environments: number },
): boolean {
  if (changed === undefined) return true;
  if (changed === 'stale30' || changed === 'stale90')
    return staleDays(flag, environments, now) >= STALE_DAYS[changed];
  return Date.parse(lastChange(flag).at) >= now - CHANGED_SPANS[changed];
}

/**
 * For how many whole days a flag in use has been the same in every environment; 0 for one that is not, or is marked as
 * permanent. As `halyard flag list --stale` does.
 */
export function staleDays(flag: FlagRecord, environments: number, now: number): number {
  const [first, ...others] = Object.values(flag.environments);
  if (flag.permanent || flag.archivedAt !== undefined) return 0;
  if (first !== undefined) {
    const isAlike = others.every(({ state }) => isSameState(state, first.state));
    if (others.length + 1 < environments || !isAlike) return 0;
  }
  return Math.max(0, Math.floor((now - Date.parse(lastChange(flag).at)) / 86_400_000));
}

function hasState(flag: FlagRecord, filter: FlagFilter['state']): boolean {
  if (filter === undefined) return true;
  const state = flag.environments[filter.environment]?.state;
  if (filter.is === 'unset') return state === undefined;
  if (filter.is === 'rollout') return state?.rolloutPct !== undefined;
  return state !== undefined && state.enabled === (filter.is === 'on');
}

/** Records are immutable, so facts derived from them are cached by record. */
const texts = new WeakMap<FlagRecord, string>();
const changes = new WeakMap<FlagRecord, LastChangeFacts>();

function textOf(flag: FlagRecord): string {
  let text = texts.get(flag);
  if (text === undefined) {
    text = [flag.key, flag.description, flag.owner, ...flag.tags].join('\n').toLowerCase();
    texts.set(flag, text);
  }
  return text;
}

/** A change, as far as its flag's record knows it. */
export interface LastChangeFacts {
  /** ISO 8601. */
  readonly at: string;
  /** The actor, as in the audit log; absent where unknown. */
  readonly by?: string;
}

/** The last change of a flag's states in any environment; without states, its creation. */
export function lastChange(flag: FlagRecord): LastChangeFacts {
  let last = changes.get(flag);
  if (last === undefined) {
    last = { at: flag.createdAt };
    for (const { updatedAt, updatedBy } of Object.values(flag.environments)) {
      // The first states have the time of the flag itself.
      if (updatedAt < last.at || (updatedAt === last.at && last.by !== undefined)) continue;
      last = { at: updatedAt, ...(updatedBy === undefined ? {} : { by: updatedBy }) };
    }
    changes.set(flag, last);
  }
  return last;
}

type Order = (one: FlagRecord, other: FlagRecord) => number;

const newestChange: Order = (one, other) => compare(lastChange(other).at, lastChange(one).at);

/** Flags that were never read count as the least recently read. */
function sortByRead(flags: FlagRecord[], times: ReadonlyMap<string, string> | undefined, direction: 1 | -1) {
  if (times === undefined) return flags;
  const readAt = ({ key }: FlagRecord) => times.get(key) ?? '';
  return flags.sort((one, other) => direction * compare(readAt(one), readAt(other)));
}

const ORDERS: Readonly<Record<Exclude<Sort, 'key' | 'read' | '-read'>, Order>> = {
  '-key': (one, other) => compare(other.key, one.key),
  changed: newestChange,
  '-changed': (one, other) => newestChange(other, one),
  created: (one, other) => compare(other.createdAt, one.createdAt),
};

function compare(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}
