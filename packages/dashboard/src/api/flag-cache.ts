import { memberText } from '@halyard/protocol';
import type { QueryClient, QueryKey } from '@tanstack/react-query';
import { isSameState } from './flag-states.ts';
import type { LiveChange, LiveConnection } from './live-connection.ts';
import { declaresValues, keepNamedValues, keptName } from './named-values.ts';
import { queryKeys } from './query-cache.ts';
import { api, readingList, requestText } from './request.ts';
import type { FlagRecord, FlagState, StateRecord } from './types.ts';

/**
 * Updates cached data, if there is any. Unlike `setQueryData` it does not mark the data as fresh: a pending refetch
 * still happens.
 */
export function patchCached<Data>(
  queries: QueryClient,
  queryKey: QueryKey,
  update: (data: Data) => Data,
): void {
  const query = queries.getQueryCache().find<Data>({ queryKey, exact: true });
  if (query?.state.data !== undefined) query.setState({ data: update(query.state.data) });
}

/** Stores a record from the API in the cache, and in the cached list. */
export function putFlag(queries: QueryClient, project: string, flag: FlagRecord): void {
  queries.setQueryData(queryKeys.flag(project, flag.key), flag);
  patchCached<readonly FlagRecord[]>(queries, queryKeys.flags(project), (list) => {
    const others = list.filter(({ key }) => key !== flag.key);
    return flag.archivedAt === undefined ? [...others, flag].sort(byKey) : others;
  });
}

/** Removes archived or deleted flags from the cached list. */
export function dropFlags(queries: QueryClient, project: string, keys: readonly string[]): void {
  const gone = new Set(keys);
  patchCached<readonly FlagRecord[]>(queries, queryKeys.flags(project), (list) =>
    list.filter(({ key }) => !gone.has(key)),
  );
}

/** Updates one record everywhere in the cache. */
export function updateFlagInCache(
  queries: QueryClient,
  project: string,
  key: string,
  update: (flag: FlagRecord) => FlagRecord,
): void {
  patchCached<FlagRecord>(queries, queryKeys.flag(project, key), update);
  patchCached<readonly FlagRecord[]>(queries, queryKeys.flags(project), (list) =>
    list.map((flag) => (flag.key === key ? update(flag) : flag)),
  );
}

function byKey(one: FlagRecord, other: FlagRecord): number {
  return one.key < other.key ? -1 : 1;
}

/** The record with its state in one environment replaced; `undefined` removes the state. */
export function withState(flag: FlagRecord, environment: string, state: StateRecord | undefined): FlagRecord {
  const { [environment]: _, ...others } = flag.environments;
  return { ...flag, environments: state === undefined ? others : { ...others, [environment]: state } };
}

/**
 * Calls `end` once one of the states has another revision than the one that was written (`undefined`: they were removed).
 * Reads the flags again when they may have changed, even if no screen shows them. Returns the function that stops watching.
 */
export function onceReplaced(
  queries: QueryClient,
  { project, environment, keys, revision }: WrittenStates,
  end: () => void,
): () => void {
  const cache = queries.getQueryCache();
  const queryKey = queryKeys.flags(project);

  function isReplaced(flag: FlagRecord | undefined): boolean {
    if (flag === undefined) return false;
    const now = flag.environments[environment]?.revision;
    const isOlder = (now ?? Infinity) < (revision ?? 0);
    return now !== revision && !isOlder;
  }

  /** One pass over the list, however many flags were written. */
  function isOneReplaced(): boolean {
    const list = queries.getQueryData<readonly FlagRecord[]>(queryKey) ?? [];
    const unlisted = new Set(keys);
    const isReplacedInList = list.some((flag) => unlisted.delete(flag.key) && isReplaced(flag));
    const single = (key: string) => queries.getQueryData<FlagRecord>(queryKeys.flag(project, key));
    return isReplacedInList || [...unlisted].some((key) => isReplaced(single(key)));
  }

  return cache.subscribe((event) => {
    if (event.type !== 'updated') return;
    const { query, action } = event;
    if (action.type === 'invalidate' && query === cache.find({ queryKey })) query.fetch().catch(() => {});
    if (isOneReplaced()) end();
  });
}

/** States of one environment that this tab wrote as one change. */
interface WrittenStates {
  readonly project: string;
  readonly environment: string;
  readonly keys: readonly string[];
  readonly revision: number | undefined;
}

/** The result of applying a committed change to a list of flags. */
interface Merged {
  readonly flags: readonly FlagRecord[];
  /** Flags of the change that are not in the list. */
  readonly unknown: readonly string[];
}

/**
 * Applies a change to a list of flags; other records stay the same objects. States of the same or a newer revision are
 * kept, because events and responses may arrive in any order.
 */
export function mergeChange(flags: readonly FlagRecord[], change: LiveChange): Merged {
  const { environment, revision, changes, actor, at: updatedAt } = change;
  if (environment === undefined || revision === undefined || changes === undefined)
    return { flags, unknown: [] };
  const byKey = new Map(changes.map(({ key, state }) => [key, state]));
  const who = actor === undefined ? {} : { updatedBy: actor };
  const merged = flags.map((flag) => {
    const state = byKey.get(flag.key);
    if (state === undefined) return flag;
    byKey.delete(flag.key);
    const known = flag.environments[environment];
    if (known !== undefined && known.revision >= revision) return flag;
    const record =
      state === null ? undefined : { state, revision, updatedAt, ...who, ...nameAfter(known, state) };
    return withState(flag, environment, record);
  });

  return {
    flags: merged,
    unknown: [...byKey].flatMap(([key, state]) => (state === null ? [] : [key])),
  };
}

/** The name of a value after a change by anyone. */
function nameAfter(before: StateRecord | undefined, state: FlagState): Pick<StateRecord, 'valueName'> {
  // A change of nothing else is one of the value's notation.
  const isSameText = before === undefined || !isSameState(before.state, state);
  return keptName(before, state, isSameText);
}

/** The flags whose value may have a name that only the server knows: neither events nor lists have the named values of flags. */
export function namelessAfter(
  { environment = '', changes = [] }: LiveChange,
  flags: readonly FlagRecord[],
): readonly string[] {
  const changed = new Set(changes.map(({ key }) => key));
  const isNameless = (flag: FlagRecord): boolean => {
    const { state, valueName } = flag.environments[environment] ?? {};
    const hasValue = state?.value !== undefined || state?.valuePreview !== undefined;
    return hasValue && valueName === undefined && declaresValues(flag);
  };
  return flags.filter((flag) => changed.has(flag.key) && isNameless(flag)).map(({ key }) => key);
}

/** How long a list waits for the event stream: changes between the list and the stream would be missed. */
const STREAM_WAIT_MS = 1_500;

/** How often flags are read if each time something arrives that the answer may lack. */
const MOST_READS = 3;

/** Where flags are read from. */
interface FlagReader {
  readonly project: string;
  readonly live: LiveConnection | undefined;
  readonly signal?: AbortSignal;
}

/** Whether no value of the flag is cut, as in lists. */
export function isWhole(flag: FlagRecord): boolean {
  return Object.values(flag.environments).every(({ state }) => state.valuePreview === undefined);
}

/** Reads every unarchived flag of a project, once the stream is open. Long values are cut. */
export function readFlags(reader: FlagReader): Promise<readonly FlagRecord[]> {
  return readWithStream(reader, {
    read: () =>
      readingList<FlagRecord>(`${api`projects/${reader.project}/flags`}?values=preview`, 'flags')(reader),
    concerns: (change) => change,
  });
}

/**
 * Reads one flag, once the stream is open, and keeps the exact text of its values. Rejects with `flag_not_found`.
 */
export async function readFlag(key: string, queries: QueryClient, reader: FlagReader): Promise<FlagRecord> {
  const { project, signal } = reader;
  const [flag] = await readWithStream(reader, {
    read: async () => {
      const answer = await requestText('GET', api`projects/${project}/flags/${key}`, { signal });
      // The shape is the API's contract.
      const flag = JSON.parse(answer) as FlagRecord;
      keepValueTexts(queries, project, flag, answer);
      keepNamedValues(queries, project, key, answer);
      return [flag];
    },
    concerns: ({ changes, ...rest }) => ({
      ...rest,
      ...(changes === undefined ? {} : { changes: changes.filter((each) => each.key === key) }),
    }),
  });
  if (flag === undefined) throw new Error('one flag was read, and one is given');
  return flag;
}

/** Keeps the text of each value of an answered flag: `JSON.stringify` may write it differently. */
function keepValueTexts(queries: QueryClient, project: string, flag: FlagRecord, answer: string): void {
  const states = memberText(answer, ['environments']) ?? '{}';
  for (const [environment, { state, revision }] of Object.entries(flag.environments)) {
    if (state.value === undefined) continue;
    const text = memberText(states, [environment, 'state', 'value']);
    if (text !== undefined)
      queries.setQueryData(queryKeys.valueText(project, environment, flag.key, revision), text);
  }
}

interface Reading {
  readonly read: () => Promise<readonly FlagRecord[]>;
  /** Reduces a change to the flags that are read. */
  readonly concerns: (change: LiveChange) => LiveChange;
}

/**
 * Reads flags and applies the changes that arrive during the request. Reads again if an event lacks some data, or if the stream opens
 * during the request: it has no changes from before.
 */
async function readWithStream(
  { project, live }: FlagReader,
  { read, concerns }: Reading,
): Promise<readonly FlagRecord[]> {
  await live?.opened(STREAM_WAIT_MS);
  for (let reads = 1; ; reads++) {
    const arrived: LiveChange[] = [];
    let isCurrent = true;
    const stops = [
      live?.on('hello', () => {
        isCurrent = false;
      }),
      live?.on('change', (change) => {
        if (change.project === project) arrived.push(concerns(change));
      }),
    ];

    try {
      let flags = await read();
      for (const change of arrived) {
        const merged = mergeChange(flags, change);
        const changed = merged.flags.filter((flag, index) => flag !== flags[index]);
        flags = merged.flags;
        const isKnown = merged.unknown.length === 0 && namelessAfter(change, changed).length === 0;
        isCurrent &&= isKnown && isComplete(change);
      }
      if (isCurrent || reads === MOST_READS) return flags;
    } finally {
      for (const stop of stops) stop?.();
    }
  }
}

/** Whether the event has everything that the change does to flags. A removed state may mean that the flag was archived. */
function isComplete({ kind, changes, actions = [] }: LiveChange): boolean {
  if (kind === 'flags.changed') return changes?.every(({ state }) => state !== null) ?? false;
  return !kind.startsWith('environment.') && !actions.some((action) => action.startsWith('flag.'));
}
