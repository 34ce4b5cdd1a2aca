import { type Parsed, parseEnvQuery, SERVICE_KEY_HEADER } from '@halyard/protocol';
import { ServiceError, temporaryError } from '../../domain/errors.ts';
import type { KeyEntry } from '../catalog/key-index.ts';
import type { LiveEnvironment } from '../catalog/live-environment.ts';
import type { EvaluationContext } from './context.ts';

/** Finds the key of a request that begins, and counts it towards the key's limit. Refuses as {@link findKey}. */
export function authenticate(context: EvaluationContext, request: Request): KeyEntry {
  const key = findKey(context, request);
  const waitSeconds = context.rateLimiter?.take(key) ?? 0;
  if (waitSeconds > 0) {
    throw new ServiceError('rate_limited', 'This key has sent too many requests: wait, then send fewer.', {
      retryAfterSeconds: waitSeconds,
    });
  }
  return key;
}

/**
 * Finds the key of a request as it is now. Every cause of refusal has the same error: missing,
 * unknown, expired, revoked, doubled, oversized, damaged. (Spec: Authentication 1, 4)
 */
export function findKey(context: EvaluationContext, request: Request): KeyEntry {
  // A temporary cause must never look like a wrong key: with no catalog there is nothing to judge a key by.
  if (!context.freshness.canRead())
    throw temporaryError('This node has no current flags yet: try again shortly.');
  const key = context.catalog.keys.authenticate(request.headers.get(SERVICE_KEY_HEADER));
  if (key === undefined) {
    throw new ServiceError(
      'invalid_api_key',
      `The project key is missing or not valid: send a live one in ${SERVICE_KEY_HEADER}.`,
    );
  }
  return key;
}

/** Reads the environment's name from the query of a request. (Spec: Endpoints) */
export function environmentName(request: Request): string {
  const start = request.url.indexOf('?');
  return accept(parseEnvQuery(start < 0 ? '' : request.url.slice(start + 1)));
}

/**
 * Opens an environment with a key. A missing environment and one outside the key's scope look the same to
 * the caller. (Spec: Authentication 5)
 */
export function openEnvironment(context: EvaluationContext, key: KeyEntry, name: string): LiveEnvironment {
  const environment = key.environments.has(name)
    ? context.catalog.environment(key.projectId, name)
    : undefined;
  if (environment === undefined) {
    throw new ServiceError(
      'environment_not_found',
      'This environment does not exist, or this key cannot read it: check the name, or the environments the key was issued for.',
    );
  }
  return environment;
}

/** The value that a parser of the protocol read; refuses with its message. */
export function accept<T>(parsed: Parsed<T>): T {
  if (!parsed.ok) throw new ServiceError('invalid_argument', parsed.problem);
  return parsed.value;
}
