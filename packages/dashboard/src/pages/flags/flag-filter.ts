import type { FlagRecord } from '../../api/types.ts';

/** A flag's state in an environment, as the filter knows it. */
export type StateFilter = 'on' | 'off' | 'unset' | 'rollout';

/** The orders of the list. */
export const SORTS = ['key', '-key', 'changed', '-changed', 'created'] as const;

/** An order; `-` reverses it. `changed` and `created` begin with the newest. */
export type Sort = (typeof SORTS)[number];

/** The spans of "recently changed", in milliseconds. */
export const CHANGED_SPANS = { '1h': 3_600_000, '24h': 86_400_000, '7d': 604_800_000 } as const;

/** The filter of the list, held by the address of the screen. */
export interface FlagFilter {
  readonly query: string;
  readonly state: { readonly environment: string; readonly is: StateFilter } | undefined;
  readonly tag: string;
  readonly owner: string;
  readonly changed: keyof typeof CHANGED_SPANS | undefined;
  readonly isArchived: boolean;
  readonly sort: Sort;
}

/** Reads a filter from the address. Ignores unknown values. */
export function readFilter(params: URLSearchParams): FlagFilter {
  const [, environment, is] = /^(.+):(on|off|unset|rollout)$/.exec(params.get('state') ?? '') ?? [];
  const changed = params.get('changed') ?? '';
  return {
    query: params.get('q') ?? '',
    // The pattern lets only these words through.
    state: environment === undefined ? undefined : { environment, is: is as StateFilter },
    tag: params.get('tag') ?? '',
    owner: params.get('owner') ?? '',
    changed: changed === '1h' || changed === '24h' || changed === '7d' ? changed : undefined,
    isArchived: params.has('archived'),
    sort: SORTS.find((sort) => sort === params.get('sort')) ?? 'key',
  };
}

/** Whether the filter hides flags. */
export function isFiltering({ query, state, tag, owner, changed }: FlagFilter): boolean {
  return query.trim() !== '' || state !== undefined || tag !== '' || owner !== '' || changed !== undefined;
}

/** The flags that match a filter, in its order. `now` is epoch milliseconds. */
export function filterFlags(
  flags: readonly FlagRecord[],
  filter: FlagFilter,
  now: number,
): readonly FlagRecord[] {
  const words = filter.query.toLowerCase().split(/\s+/).filter(Boolean);
  const since = filter.changed === undefined ? undefined : now - CHANGED_SPANS[filter.changed];
  const found = flags.filter(
    (flag) =>
      words.every((word) => textOf(flag).includes(word)) &&
      (filter.tag === '' || flag.tags.includes(filter.tag)) &&
      (filter.owner === '' || flag.owner === filter.owner) &&
      (since === undefined || Date.parse(lastChange(flag).at) >= since) &&
      hasState(flag, filter.state),
  );
  return filter.sort === 'key' ? found : found.sort(ORDERS[filter.sort]);
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

const ORDERS: Readonly<Record<Exclude<Sort, 'key'>, Order>> = {
  '-key': (one, other) => compare(other.key, one.key),
  changed: newestChange,
  '-changed': (one, other) => newestChange(other, one),
  created: (one, other) => compare(other.createdAt, one.createdAt),
};

function compare(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}
