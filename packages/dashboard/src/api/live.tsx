import { type Query, type QueryClient, type QueryKey, useQueryClient } from '@tanstack/react-query';
import {
  createContext,
  type ReactNode,
  useCallback,
  useContext,
  useEffect,
  useState,
  useSyncExternalStore,
} from 'react';
import { isRefusal } from './api-error.ts';
import { noteDelivery } from './deliveries.ts';
import { dropFlags, mergeChange, patchCached, putFlag, readFlag } from './flag-cache.ts';
import { type LiveChange, LiveConnection, type LiveEvents, type LiveStatus } from './live-connection.ts';
import { useProject } from './projects.ts';
import { queryKeys } from './query-cache.ts';
import { eventsUrl, takeStream } from './read-ahead.ts';
import { isOpenPlan } from './rollouts.ts';
import { useSession } from './session.ts';
import { isWriting, markOwnWrite } from './state-writes.ts';
import type { FlagRecord, RolloutPlanRecord } from './types.ts';

const LiveContext = createContext<LiveConnection | undefined>(undefined);

/** Opens the tab's event stream and keeps the cache up to date with it. Suspended without a session. */
export function LiveProvider(props: { project: string | undefined; children: ReactNode }) {
  const { children } = props;
  const queries = useQueryClient();
  const { error } = useProject(props.project ?? '');
  // A missing project has no stream; the stream of all projects reports when it is created.
  const project = isRefusal(error, 'project_not_found') ? undefined : props.project;
  const isSignedIn = useSession().data?.signedIn !== false;
  const [opened, setOpened] = useState<{ readonly of: typeof project; readonly live: LiveConnection }>();
  // A stream of the previous project has no events of this one.
  const live = opened?.of === project ? opened?.live : undefined;
  useEffect(() => {
    const url = eventsUrl(project);
    const ahead = takeStream(url);
    const connection = ahead ?? new LiveConnection(url);
    // What was read so far was read with the stream that was opened ahead.
    const older = ahead === undefined ? queries.getQueryCache().getAll().filter(hasData) : [];
    const disconnect = connectCache(connection, project, { queries, older: new Set(older) });
    // A refused stream and a lost one look the same here: reading the session shows which it is.
    const stop = connection.onStatus(() => {
      if (connection.status === 'lost') void queries.invalidateQueries({ queryKey: queryKeys.session });
    });
    connection.release();
    setOpened({ of: project, live: connection });
    return () => {
      stop();
      disconnect();
      connection.close();
    };
  }, [project, queries]);
  useEffect(() => {
    if (isSignedIn) live?.resume();
    else live?.suspend();
  }, [live, isSignedIn]);
  return <LiveContext value={live}>{children}</LiveContext>;
}

/** The status of the event stream. */
export function useLiveStatus(): LiveStatus {
  const live = useContext(LiveContext);
  return useSyncExternalStore(
    (listener) => live?.onStatus(listener) ?? (() => {}),
    () => live?.status ?? 'connecting',
  );
}

/** The event stream, for lists that must not be read before it; `undefined` for the first moment. */
export function useLiveConnection(): LiveConnection | undefined {
  return useContext(LiveContext);
}

/** Returns a function to call after a change: without a stream its effects are unknown, so everything is read again. */
export function useCatchUp(): () => void {
  const live = useContext(LiveContext);
  const queries = useQueryClient();
  return useCallback(() => {
    if (live?.status === 'open') return;
    void queries.invalidateQueries({ predicate: ({ queryKey }) => queryKey[0] !== 'session' });
  }, [live, queries]);
}

/** Calls `listener` with each event of this name while the component is on the screen. Keep it stable. */
export function useLiveEvent<Name extends keyof LiveEvents>(
  name: Name,
  listener: (event: LiveEvents[Name]) => void,
): void {
  const live = useContext(LiveContext);
  useEffect(() => live?.on(name, listener), [live, name, listener]);
}

/** How long to collect stale queries: changes come in bursts, and each query is fetched once per burst. */
const GATHER_MS = 250;

/** Up to this many flags are read one by one; beyond that, the whole list is. */
const WORTH_A_LIST = 5;

/** Keeps the cache up to date with the stream: merges states, and marks everything else as stale. */
function connectCache(
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
      // Changes during the outage are unknown, those of the person's own rights too: fetch everything that is on the screen.
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
      if (touchesPlan(queries, change)) markStale([queryKeys.rollouts(change.project ?? '')]);
    }),
  ];
  return () => {
    clearTimeout(timer);
    for (const stop of stops) stop();
  };
}

/** Whether a change is about the flag of a rollout plan that is on the screen: it is a step of the plan, or interrupts it. */
function touchesPlan(queries: QueryClient, { kind, project, changes }: LiveChange): boolean {
  if (project === undefined || kind !== 'flags.changed') return kind === 'environment.deleted';
  const lists = queries.getQueriesData<readonly RolloutPlanRecord[]>({
    queryKey: queryKeys.rollouts(project),
  });
  const open = lists.flatMap(([, plans]) => plans ?? []).filter(isOpenPlan);
  const keys = changes && new Set(changes.map(({ key }) => key));
  return open.some(({ flag }) => keys === undefined || keys.has(flag));
}

function hasData({ state }: Query): boolean {
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
  const { environment } = change;
  const listKey = queryKeys.flags(project);
  const list = queries.getQueryData<readonly FlagRecord[]>(listKey);
  if (list !== undefined) {
    const { flags, unknown } = mergeOne(list);
    if (flags !== list) patchCached(queries, listKey, () => flags);
    // A removed state may be the only sign that a flag was archived.
    const removed = (change.changes ?? []).flatMap(({ key, state }) => (state === null ? [key] : []));
    const unclear = [...unknown, ...removed];
    if (change.changes === undefined || unclear.length > WORTH_A_LIST) markStale([listKey]);
    else for (const key of unclear) void refreshFlag(queries, key, { project, live });
  }
  for (const { key, state } of change.changes ?? []) {
    const { data: one, status } = queries.getQueryState<FlagRecord>(queryKeys.flag(project, key)) ?? {};
    // The flag did not exist when it was read.
    if (status === 'error' && state !== null) markStale([queryKeys.flag(project, key)]);
    if (one === undefined) continue;
    patchCached<FlagRecord>(queries, queryKeys.flag(project, key), () => mergeOne([one]).flags[0] ?? one);
    // The flag may have been archived or restored.
    if (state === null || one.archivedAt !== undefined) markStale([queryKeys.flag(project, key)]);
  }
  if (change.changes === undefined) markStale([['flag', project]]);

  function mergeOne(flags: readonly FlagRecord[]) {
    const merged = mergeChange(flags, change);
    const isOwn = (change.changes ?? []).every(
      ({ key }) => environment !== undefined && isWriting(queries, { project, environment, key }),
    );
    if (isOwn) merged.touched.forEach(markOwnWrite);
    return merged;
  }
}

/** A flag was created or archived: reads that one record, not the whole list. */
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

/** The lists that a change may affect, besides the states. */
function touchedBy({ kind, project, actions = [] }: LiveChange): QueryKey[] {
  const keys: QueryKey[] = [queryKeys.audit];
  if (kind.startsWith('project.')) keys.push(queryKeys.projects);
  if (kind.startsWith('relay.')) keys.push(queryKeys.relayTokens);
  for (const action of actions) keys.push(...listsOf(action.replace(/\..*/, ''), project));
  if (project === undefined) return keys;
  keys.push(queryKeys.history(project));
  // Its page may be open and say that it does not exist.
  if (kind === 'project.created') keys.push(queryKeys.project(project), queryKeys.flags(project));
  if (kind === 'project.updated') keys.push(queryKeys.project(project), queryKeys.usage(project));
  if (kind === 'flags.changed') keys.push(queryKeys.compare(project));
  if (kind.startsWith('environment.')) keys.push(queryKeys.project(project), queryKeys.flags(project));
  if (kind.startsWith('key.')) keys.push(queryKeys.keys(project), queryKeys.clients(project));
  return keys;
}

/** The lists that hold records of a noun of the audit log. */
function listsOf(noun: string, project: string | undefined): QueryKey[] {
  switch (noun) {
    case 'flag':
      return project === undefined
        ? []
        : [queryKeys.flags(project), queryKeys.archivedFlags(project), ['flag', project]];
    case 'environment':
      return project === undefined ? [] : [queryKeys.project(project)];
    case 'project':
      return [queryKeys.projects];
    case 'key':
      return project === undefined ? [] : [queryKeys.keys(project)];
    case 'webhook':
      return project === undefined ? [] : [queryKeys.webhooks(project)];
    case 'rollout':
      return project === undefined ? [] : [queryKeys.rollouts(project)];
    case 'schedule':
      return project === undefined ? [] : [queryKeys.schedules(project)];
    case 'token':
      return [queryKeys.tokens];
    case 'operator':
    case 'invitation':
    case 'session':
      return [queryKeys.operators, queryKeys.invitations];
    default:
      return [];
  }
}
