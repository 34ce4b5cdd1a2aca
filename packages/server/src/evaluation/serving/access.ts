import { type Parsed, parseEnvQuery } from '@halyard/protocol';
import { invalid, logIsLost, ServiceError, temporaryError } from '../../domain/errors.ts';
import { queryTextOf } from '../../http/request.ts';
import type { KeyEntry } from '../catalog/key-index.ts';
import type { LiveEnvironment } from '../catalog/live-environment.ts';
import type { AnswerFacts } from './answers.ts';
import type { EvaluationContext, InterfaceContext } from './context.ts';

/** Finds the key of a request that begins, and counts it towards the key's limit. Refuses as {@link findKey}. */
export function authenticate(context: InterfaceContext, request: Request): KeyEntry {
  const key = findKey(context, request);
  countRequest(context, key);
  return key;
}

/** Counts a request towards the limit of its key. */
export function countRequest(context: EvaluationContext, key: KeyEntry): void {
  const waitSeconds = context.rateLimiter?.take(key) ?? 0;
  if (waitSeconds > 0) {
    throw new ServiceError('rate_limited', 'This key has sent too many requests: wait, then send fewer.', {
      retryAfterSeconds: waitSeconds,
    });
  }
}

/**
 * Finds the key of a request as it is now. Every cause of refusal has the same error: missing,
 * unknown, expired, revoked, doubled, oversized, damaged. While the log is lost, an unknown one may be new, and is not called
 * wrong. (Spec: S5.1, S5.4, S10.3, S14.3)
 */
function findKey(context: InterfaceContext, request: Request): KeyEntry {
  requireCatalog(context);
  const { keys } = context.catalog;
  const sent = context.dialect.keyOf(request);
  const key = keys.authenticate(sent);
  if (key !== undefined) return key;
  if (sent && context.freshness.mayLackRecords() && !keys.knows(sent)) throw logIsLost();
  return refuseKey(context);
}

/** The key of a request as it is now that the body has been read, which may take long. Refuses as {@link findKey}. */
export function findAgain(context: InterfaceContext, key: KeyEntry): KeyEntry {
  requireCatalog(context);
  return context.catalog.keys.withId(key.id) ?? refuseKey(context);
}

function refuseKey({ dialect }: InterfaceContext): never {
  const message = `The project key is missing, unknown, revoked or expired: send an active one in ${dialect.keyPlaces}.`;
  throw new ServiceError('invalid_api_key', message);
}

/** A temporary cause must never look like a wrong key: with no catalog there is nothing to judge a key by. */
export function requireCatalog({ freshness }: EvaluationContext): void {
  if (!freshness.canRead()) throw temporaryError('This node has no current flags yet: try again shortly.');
}

/** Refuses a stream where its key holds too many, and while this node could not keep what a stream promises or carry it. */
export function admitStream(context: EvaluationContext, key: KeyEntry): void {
  const { hub, freshness, files, maxStreamsPerKey, streamsElsewhere } = context;
  if (hub.streamsOfKey(key.id) + streamsElsewhere(key.id) >= maxStreamsPerKey) {
    const message = `This key already holds ${maxStreamsPerKey} streams open: share one per process.`;
    throw new ServiceError('rate_limited', message, { retryAfterSeconds: 5 });
  }
  if (!freshness.canStream()) throw logIsLost();
  files.admitStream();
}

/**
 * Opens an environment with a key. A missing environment and one outside the key's scope look the same to
 * the caller, unless the log is lost and the environment may be new. (Spec: S5.5, S10.4, S14.3)
 */
export function openEnvironment(context: InterfaceContext, key: KeyEntry, name: string): LiveEnvironment {
  const environment = key.environments.has(name)
    ? context.catalog.environment(key.projectId, name)
    : undefined;
  if (environment === undefined) {
    if (context.freshness.mayLackRecords() && key.environments.has(name)) throw logIsLost();
    throw new ServiceError(
      'environment_not_found',
      'This environment does not exist, or this key cannot read it: check the name, or the environments the key was issued for.',
    );
  }
  return environment;
}

/** Reads the environment's name from the query of a request. (Spec: S10.1) */
export function environmentInQuery(request: Request): string {
  return accept(parseEnvQuery(queryTextOf(request)));
}

/** The value that a parser of the protocol read; refuses with its message. */
export function accept<T>(parsed: Parsed<T>): T {
  if (!parsed.ok) throw invalid(parsed.problem);
  return parsed.value;
}

/**
 * Refuses a path whose percent-escapes were broken. The router decodes once and puts U+FFFD where it could not, so only
 * parts of a path that hold that character are looked at again.
 */
export function checkEscapes(request: Request, part: string): void {
  if (!part.includes('\uFFFD')) return;
  const [path = ''] = request.url.split('?', 1);
  try {
    decodeURIComponent(path);
  } catch (cause) {
    throw invalid('The path has a broken percent-escape: encode it as UTF-8.', { cause });
  }
}

/** The facts in the header of an answer that is made now. */
export function factsOf(context: EvaluationContext, requestId: string): AnswerFacts {
  return { requestId, staleSeconds: context.freshness.staleSeconds() };
}
