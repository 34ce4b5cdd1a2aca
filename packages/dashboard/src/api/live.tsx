import { useQueryClient } from '@tanstack/react-query';
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
import { connectCache } from './live-cache.ts';
import { LiveConnection, type LiveStatus } from './live-connection.ts';
import type { LiveEvents } from './live-events.ts';
import { useProject } from './projects.ts';
import { queryKeys } from './query-keys.ts';
import { useSession } from './session.ts';

const LiveContext = createContext<LiveConnection | undefined>(undefined);

/** Opens the tab's one event stream for what is inside, and keeps the cache as new as it is. Rests without a session. */
export function LiveProvider(props: { project: string | undefined; children: ReactNode }) {
  const { children } = props;
  const queries = useQueryClient();
  const { error } = useProject(props.project ?? '');
  // A project that is not there has no stream; the one of all projects tells when it is made.
  const project = isRefusal(error, 'project_not_found') ? undefined : props.project;
  const isSignedIn = useSession().data?.signedIn !== false;
  const [opened, setOpened] = useState<{ readonly of: typeof project; readonly live: LiveConnection }>();
  // The stream of the project that was left tells nothing of this one.
  const live = opened?.of === project ? opened?.live : undefined;
  useEffect(() => {
    const query = project === undefined ? '' : `?project=${encodeURIComponent(project)}`;
    const connection = new LiveConnection(`/api/events${query}`);
    const disconnect = connectCache(connection, project, queries);
    // A refused stream and a lost one look alike here: the session says which.
    const stop = connection.onStatus(() => {
      if (connection.status === 'lost') void queries.invalidateQueries({ queryKey: queryKeys.session });
    });
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

/** How the event stream stands. */
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

/** Gives what to call after a change of one's own: without a stream nobody tells what it did, so everything is asked for. */
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
