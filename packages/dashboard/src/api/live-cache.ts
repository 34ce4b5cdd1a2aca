import type { Query, QueryClient, QueryKey } from '@tanstack/react-query';
import { isRefusal } from './api-error.ts';
import { noteDelivery } from './deliveries.ts';
import { dropFlags, mergeChange, namelessAfter, patchCached, putFlag, readFlag } from './flag-cache.ts';
import type { LiveChange, LiveConnection } from './live-connection.ts';
import { queryKeys } from './query-cache.ts';
import { touchedBy, touchedByStates } from './stale-lists.ts';
import type { FlagRecord } from './types.ts';

/** How long to collect stale queries: changes come in bursts, and each query is fetched once per burst. */
const GATHER_MS = 250;

/** Up to this many flags are read one by one; beyond that, the whole list is. */
const WORTH_A_LIST = 5;

/**
 * Keeps the cache up to date with the stream: merges states, and marks everything else as stale. Returns the function that
 * stops it.
 */
export function connectCache(
  live: LiveConnection,
  project: string | undefined,
  {
    queries,
    older,
  }: {
    readonly queries: QueryClient;
    /** What was kept up to date by another stream, if at all: changes since then are unknown. */
    readonly older: Set<Query>;
  },
): () => void {
  const stale = new Set<string>();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let greeted = false;

  function markStale(keys: readonly QueryKey[]): void {
    for (const key of keys) stale.add(JSON.stringify(key));
    timer ??= setTimeout(flush, GATHER_MS);
  }

  function flush(): void {
    timer = undefined;
    for (const key of stale) void queries.invalidateQueries({ queryKey: JSON.parse(key) });
    stale.clear();
  }

  const stops = [
    live.on('hello', () => {
      // Changes during the outage are unknown, also of the person's own rights: fetch everything that is on the screen.
      const isMissed = (query: Query) =>
        query.queryKey[0] !== 'session' && (older.has(query) || isReadBeforeStream(query));
      void queries.invalidateQueries(greeted ? {} : { predicate: isMissed });
      greeted = true;
      older.clear();
    }),
    live.on('delivery', noteDelivery),
    live.on('change', (change) => {
      if (change.project === project && project !== undefined)
        mergeStates({ queries, project, live, markStale }, change);
      markStale(touchedBy(change));
      markStale(touchedByStates(queries, change));
    }),
  ];
  return () => {
    clearTimeout(timer);
    for (const stop of stops) stop();
  };
}

/** Whether something has been read for a query. */
export function hasData({ state }: Query): boolean {
  return state.data !== undefined;
}

/** Whether a query waits for the stream. Data that it has before the stream opens was read without it. */
function isReadBeforeStream(query: Query): boolean {
  const [name] = query.queryKey;
  return hasData(query) && (name === 'flags' || name === 'flag');
}

interface Merging {
  readonly queries: QueryClient;
  readonly project: string;
  readonly live: LiveConnection;
  readonly markStale: (keys: readonly QueryKey[]) => void;
}

function mergeStates({ queries, project, live, markStale }: Merging, change: LiveChange): void {
  if (change.kind !== 'flags.changed') return;
  const listKey = queryKeys.flags(project);
  const list = queries.getQueryData<readonly FlagRecord[]>(listKey);
  const unclear = new Set<string>();

  if (list !== undefined) {
    const { flags, unknown } = mergeChange(list, change);
    if (flags !== list) patchCached(queries, listKey, () => flags);
    // A removed state may be the only sign that a flag was archived.
    const removed = (change.changes ?? []).flatMap(({ key, state }) => (state === null ? [key] : []));
    const inList = [...unknown, ...removed, ...namelessAfter(change, flags)];
    if (change.changes === undefined || inList.length > WORTH_A_LIST) markStale([listKey]);
    else for (const key of inList) unclear.add(key);
  }

  for (const { key, state } of change.changes ?? []) {
    const { data: one, status } = queries.getQueryState<FlagRecord>(queryKeys.flag(project, key)) ?? {};
    // The flag did not exist when it was read.
    if (status === 'error' && state !== null) markStale([queryKeys.flag(project, key)]);
    if (one === undefined) continue;
    const { flags } = mergeChange([one], change);
    patchCached<FlagRecord>(queries, queryKeys.flag(project, key), () => flags[0] ?? one);
    for (const nameless of namelessAfter(change, flags)) unclear.add(nameless);
    // The flag may have been archived or restored.
    if (state === null || one.archivedAt !== undefined) markStale([queryKeys.flag(project, key)]);
  }
  if (change.changes === undefined) markStale([['flag', project]]);
  for (const key of unclear) void refreshFlag(queries, key, { project, live });
}

/** A flag was created, archived or got another value: reads that one record, not the whole list. */
async function refreshFlag(
  queries: QueryClient,
  key: string,
  reader: { readonly project: string; readonly live: LiveConnection },
): Promise<void> {
  const { project } = reader;
  try {
    putFlag(queries, project, await readFlag(key, queries, reader));
  } catch (error) {
    if (isRefusal(error, 'flag_not_found')) dropFlags(queries, project, [key]);
    else void queries.invalidateQueries({ queryKey: queryKeys.flags(project) });
  }
}
