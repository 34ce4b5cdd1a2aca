import { useQueryClient } from '@tanstack/react-query';
import {
  createContext,
  type ReactNode,
  useCallback,
  useContext,
  useEffect,
  useEffectEvent,
  useState,
  useSyncExternalStore,
} from 'react';
import { isRefusal } from './api-error.ts';
import { connectCache, hasData } from './live-cache.ts';
import { LiveConnection, type LiveEvents, type LiveStatus } from './live-connection.ts';
import { useProject } from './projects.ts';
import { queryKeys } from './query-cache.ts';
import { eventsUrl, takeStream } from './read-ahead.ts';
import { useSession } from './session.ts';

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

/** Calls `listener` with each event of this name while the component is on the screen. */
export function useLiveEvent<Name extends keyof LiveEvents>(
  name: Name,
  listener: (event: LiveEvents[Name]) => void,
): void {
  const live = useContext(LiveContext);
  const onEvent = useEffectEvent(listener);
  useEffect(() => live?.on(name, onEvent), [live, name]);
}
