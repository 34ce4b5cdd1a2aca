import type { QueryClient } from '@tanstack/react-query';
import { readStored } from '../browser/stored.ts';
import { LiveConnection } from './live-connection.ts';
import { projectQuery } from './projects.ts';
import { SIGNED_IN, sessionQuery } from './session.ts';

/** The stream that was opened ahead, until it is taken. */
let opened: { readonly url: string; readonly live: LiveConnection } | undefined;

/**
 * Requests what every screen of the address needs, all at once: the session, the project and the event stream. Otherwise
 * each would wait for the one before it.
 */
export function readAhead(queries: QueryClient): void {
  const session = queries.fetchQuery(sessionQuery(queries));
  // Without a session they would be refused.
  if (readStored(SIGNED_IN) === 'yes') {
    const project = projectOf(location.pathname);
    const url = eventsUrl(project);
    opened = { url, live: new LiveConnection(url, { isHeld: true }) };
    if (project !== undefined) void queries.prefetchQuery(projectQuery(project));
  }
  session.then(
    ({ signedIn }) => {
      if (!signedIn) takeStream('');
    },
    // The screen shows why.
    () => takeStream(''),
  );
}

/** The stream at an address, if it was opened ahead; one at another address is closed. */
export function takeStream(url: string): LiveConnection | undefined {
  const { live, url: place } = opened ?? {};
  opened = undefined;
  if (place === url) return live;
  live?.close();
  return undefined;
}

/** The address of the event stream, of one project or of all. */
export function eventsUrl(project: string | undefined): string {
  return project === undefined ? '/api/events' : `/api/events?project=${encodeURIComponent(project)}`;
}

function projectOf(path: string): string | undefined {
  const [, name] = /^\/projects\/([^/]+)\/./.exec(path) ?? [];
  try {
    return name && decodeURIComponent(name);
  } catch {
    // Not an address of ours.
    return undefined;
  }
}
