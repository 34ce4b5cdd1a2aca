import { flagConfigRevision, type OfrepEventStream, ofrepOpening } from '@halyard/protocol';
import type { BunRequest, Server } from 'bun';
import { logIsLost, ServiceError } from '../../domain/errors.ts';
import { queryOf } from '../../http/request.ts';
import type { KeyEntry } from '../catalog/key-index.ts';
import type { LiveEnvironment } from '../catalog/live-environment.ts';
import { admitStream, countRequest, factsOf, requireCatalog } from '../serving/access.ts';
import { streamAnswer } from '../serving/answers.ts';
import type { EvaluationContext } from '../serving/context.ts';
import { checkTicket, issueTicket } from './tickets.ts';

/** A path prefix as proxies name it: segments, each begun by one slash, so that it can never name another host. */
const PREFIX = /^(?:\/[A-Za-z0-9._~-]+)+$/;

/** Shortest and longest reconnection time, so that pages do not all come back at once, in milliseconds. */
const RETRY_MS = { shortest: 1000, longest: 3000 };

/** Longest a bulk read waits for the revision of the event that caused it. */
export const WAIT_SECONDS = 2;

/**
 * The event streams that the answer to a bulk read offers: the one of the environment, beside the address that was
 * read, with a ticket that is the same for an hour. Without an origin, because only the caller knows under which one it
 * reaches this node.
 *
 * The tag of the answer must change with them: a provider whose ticket has ended reads with the tag that it has, and a
 * 304 would leave it with that ticket for good.
 */
export function eventStreams(
  context: EvaluationContext,
  request: BunRequest,
  { key, environment }: { readonly key: KeyEntry; readonly environment: LiveEnvironment },
): readonly OfrepEventStream[] {
  const { environment: named } = request.params as { readonly environment?: string };
  const base = named === undefined ? '' : `/environments/${encodeURIComponent(named)}`;
  const ticket = issueTicket(key, environment.id, Date.now());
  const requestUri = `${prefixOf(context, request)}${base}/ofrep/v1/stream?ticket=${ticket}`;
  return [{ type: 'sse', endpoint: { requestUri } }];
}

/** The revision of the event that caused a bulk read; 0 where it has no other cause than its caller. */
export function eventRevision(request: Request): number {
  return flagConfigRevision(queryOf(request).get('flagConfigEtag')) ?? 0;
}

/**
 * Waits until the environment has a revision: the event that named it may have come from another node, and there is no
 * second one. For two seconds at most, and not while the log is lost.
 */
export async function waitForRevision(
  { freshness }: EvaluationContext,
  environment: LiveEnvironment,
  revision: number,
): Promise<void> {
  if (freshness.staleSeconds() === undefined)
    await environment.waitForRevision(revision, WAIT_SECONDS * 1000);
}

/** The handler of the event stream. In an address below an environment, the ticket must be for that one. */
export function openEventStream(context: EvaluationContext) {
  return (request: BunRequest, requestId: string, server: Server<undefined>): Response => {
    requireCatalog(context);
    const query = queryOf(request);
    const { key, environment } = redeem(context, query.getAll('ticket'));
    const { environment: named = environment.name } = request.params as { readonly environment?: string };
    if (named !== environment.name) throw invalidTicket();
    countRequest(context, key);
    admitStream(context, key);
    server.timeout(request, 0);
    const { revision } = environment;
    const lastEventId = request.headers.get('Last-Event-ID') ?? query.get('lastEventId');
    const retryMs = RETRY_MS.shortest + Math.floor(Math.random() * (RETRY_MS.longest - RETRY_MS.shortest));
    const stream = context.hub.openEvents(environment, key.id, ofrepOpening(revision, lastEventId, retryMs));
    return streamAnswer(stream, revision, factsOf(context, requestId));
  };
}

/** The key and the environment of a ticket. Every cause of refusal has the same error. */
function redeem(
  { catalog, freshness }: EvaluationContext,
  [ticket = '', ...more]: readonly string[],
): { readonly key: KeyEntry; readonly environment: LiveEnvironment } {
  const checked = checkTicket(ticket, (id) => catalog.keys.withId(id), Date.now());
  const environment = checked && catalog.environmentWithId(checked.environmentId);
  if (checked === undefined || environment === undefined || more.length > 0)
    throw ticket !== '' && freshness.mayLackRecords() ? logIsLost() : invalidTicket();
  if (!mayRead(checked.key, environment)) throw invalidTicket();
  catalog.keys.noteUse(checked.key);
  return { key: checked.key, environment };
}

function mayRead(key: KeyEntry, environment: LiveEnvironment): boolean {
  return key.projectId === environment.projectId && key.environments.has(environment.name);
}

function invalidTicket(): ServiceError {
  return new ServiceError(
    'invalid_api_key',
    'The ticket in this address is missing or not valid: read all flags again for a new address.',
  );
}

/** The path under which a trusted proxy serves this node, where it removes that path. */
function prefixOf({ trustProxy }: EvaluationContext, request: Request): string {
  const prefix = trustProxy ? request.headers.get('X-Forwarded-Prefix')?.replace(/\/$/, '') : undefined;
  return prefix !== undefined && PREFIX.test(prefix) ? prefix : '';
}
