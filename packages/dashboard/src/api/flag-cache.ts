import type { QueryClient, QueryKey } from '@tanstack/react-query';
import type { LiveChange, LiveConnection } from './live-connection.ts';
import { queryKeys } from './query-cache.ts';
import { api, request } from './request.ts';
import type { FlagRecord, StateRecord } from './types.ts';

/**
 * Replaces what the cache holds, if it holds anything. It is no answer of the server: what was to be asked for again
 * still is.
 */
export function patchCached<Data>(
  queries: QueryClient,
  queryKey: QueryKey,
  update: (data: Data) => Data,
): void {
  const query = queries.getQueryCache().find<Data>({ queryKey, exact: true });
  if (query?.state.data !== undefined) query.setState({ data: update(query.state.data) });
}

/** Puts a record that the API answered into the cache, in the list as well. */
export function putFlag(queries: QueryClient, project: string, flag: FlagRecord): void {
  queries.setQueryData(queryKeys.flag(project, flag.key), flag);
  patchCached<readonly FlagRecord[]>(queries, queryKeys.flags(project), (list) => {
    const others = list.filter(({ key }) => key !== flag.key);
    return flag.archivedAt === undefined ? [...others, flag].sort(byKey) : others;
  });
}

/** Takes flags out of the list that are archived or gone. */
export function dropFlags(queries: QueryClient, project: string, keys: readonly string[]): void {
  const gone = new Set(keys);
  patchCached<readonly FlagRecord[]>(queries, queryKeys.flags(project), (list) =>
    list.filter(({ key }) => !gone.has(key)),
  );
}

/** Replaces one record wherever the cache holds it. */
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

/** The record with its state in one environment replaced; `undefined` takes the state away. */
export function withState(flag: FlagRecord, environment: string, state: StateRecord | undefined): FlagRecord {
  const { [environment]: _, ...others } = flag.environments;
  return { ...flag, environments: state === undefined ? others : { ...others, [environment]: state } };
}

/** What a list of flags becomes by a committed change. */
interface Merged {
  readonly flags: readonly FlagRecord[];
  /** The states that are other than before. */
  readonly touched: readonly StateRecord[];
  /** Flags that the change names and the list does not have. */
  readonly unknown: readonly string[];
}

/**
 * Applies a change to a list of flags, leaving every record alone that it does not name. What the list already knows,
 * or something newer, stays: events and answers may arrive in any order.
 */
export function mergeChange(flags: readonly FlagRecord[], change: LiveChange): Merged {
  const { environment, revision, changes, actor, at: updatedAt } = change;
  if (environment === undefined || revision === undefined || changes === undefined)
    return { flags, touched: [], unknown: [] };
  const byKey = new Map(changes.map(({ key, state }) => [key, state]));
  const who = actor === undefined ? {} : { updatedBy: actor };
  const touched: StateRecord[] = [];
  const merged = flags.map((flag) => {
    const state = byKey.get(flag.key);
    if (state === undefined) return flag;
    byKey.delete(flag.key);
    const known = flag.environments[environment];
    if (known !== undefined && known.revision >= revision) return flag;
    const record = state === null ? undefined : { state, revision, updatedAt, ...who };
    if (record !== undefined) touched.push(record);
    return withState(flag, environment, record);
  });
  return {
    flags: merged,
    touched,
    unknown: [...byKey].flatMap(([key, state]) => (state === null ? [] : [key])),
  };
}

/** How long a list waits for the event stream, which would otherwise miss what happens between the two. */
const STREAM_WAIT_MS = 1_500;

/** As often it is read when each time something happens meanwhile that an event does not tell in full. */
const MOST_READS = 3;

/** What flags are read with. */
interface FlagReader {
  readonly project: string;
  readonly live: LiveConnection | undefined;
  readonly signal?: AbortSignal;
}

/** Reads every flag of a project that is not archived, after the stream has opened. */
export function readFlags(reader: FlagReader): Promise<readonly FlagRecord[]> {
  return readWithStream(reader, {
    read: async () => {
      const path = api`projects/${reader.project}/flags`;
      const { signal } = reader;
      return (await request<{ flags: readonly FlagRecord[] }>('GET', path, { signal })).flags;
    },
    concerns: (change) => change,
  });
}

/** Reads one flag, after the stream has opened. Rejects with `flag_not_found`. */
export async function readFlag(key: string, reader: FlagReader): Promise<FlagRecord> {
  const { project, signal } = reader;
  const [flag] = await readWithStream(reader, {
    read: async () => [await request<FlagRecord>('GET', api`projects/${project}/flags/${key}`, { signal })],
    concerns: ({ changes, ...rest }) => ({
      ...rest,
      ...(changes === undefined ? {} : { changes: changes.filter((each) => each.key === key) }),
    }),
  });
  if (flag === undefined) throw new Error('one flag was read, and one is given');
  return flag;
}

interface Reading {
  readonly read: () => Promise<readonly FlagRecord[]>;
  /** What of a change is about the flags that are read. */
  readonly concerns: (change: LiveChange) => LiveChange;
}

/** Changes that are committed while the answer is on its way are applied to it; where that cannot be, it is read again. */
async function readWithStream(
  { project, live }: FlagReader,
  { read, concerns }: Reading,
): Promise<readonly FlagRecord[]> {
  await live?.opened(STREAM_WAIT_MS);
  for (let reads = 1; ; reads++) {
    const meanwhile: LiveChange[] = [];
    const stop = live?.on('change', (change) => {
      if (change.project === project) meanwhile.push(concerns(change));
    });
    try {
      let flags = await read();
      let isWhole = true;
      for (const change of meanwhile) {
        const merged = mergeChange(flags, change);
        flags = merged.flags;
        isWhole &&= merged.unknown.length === 0 && isToldInFull(change);
      }
      if (isWhole || reads === MOST_READS) return flags;
    } finally {
      stop?.();
    }
  }
}

/** Whether a change says all that it does to flags. A state that goes away may be a flag that was archived. */
function isToldInFull({ kind, changes, actions = [] }: LiveChange): boolean {
  if (kind === 'flags.changed') return changes?.every(({ state }) => state !== null) ?? false;
  return !kind.startsWith('environment.') && !actions.some((action) => action.startsWith('flag.'));
}
