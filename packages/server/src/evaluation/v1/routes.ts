import { MAX_BATCH_BYTES, parseBatchRequest } from '@halyard/protocol';
import type { Server } from 'bun';
import { ServiceError, temporaryError } from '../../domain/errors.ts';
import type { Routes } from '../../http/listeners.ts';
import { readBody } from '../../http/request.ts';
import { accept, authenticate, environmentName, findKey, openEnvironment } from './access.ts';
import {
  type AnswerFacts,
  jsonAnswer,
  representationAnswer,
  streamAnswer,
  wholeMapAnswer,
} from './answers.ts';
import type { EvaluationContext } from './context.ts';
import { endpoint, unknownPath } from './endpoint.ts';

/** The four endpoints of the evaluation interface, as routes of `Bun.serve`. (Spec: Endpoints) */
export function evaluationRoutes(context: EvaluationContext): Routes {
  const routes = {
    '/v1/flags': endpoint<'/v1/flags'>(context, { GET: { operation: 'all', handler: readAll } }),
    // A POST to this path is the batch read; a GET reads the flag with the key `batch`.
    '/v1/flags/batch': endpoint<'/v1/flags/batch'>(context, {
      GET: { operation: 'single', handler: (request, requestId) => readOne(request, 'batch', requestId) },
      POST: { operation: 'batch', handler: readBatch },
    }),
    '/v1/flags/:key': endpoint<'/v1/flags/:key'>(context, {
      GET: { operation: 'single', handler: (request, id) => readOne(request, request.params.key, id) },
    }),
    '/v1/stream': endpoint<'/v1/stream'>(context, { GET: { operation: 'stream', handler: openStream } }),
    '/v1/*': unknownPath(context),
  };
  // `Routes`: `Bun.serve` sends each route only the requests of its path.
  return routes as Routes;

  function readAll(request: Request, requestId: string): Response {
    const key = authenticate(context, request);
    const environment = openEnvironment(context, key, environmentName(request));
    return wholeMapAnswer(request, environment, factsOf(context, requestId));
  }

  function readOne(request: Request, flagKey: string, requestId: string): Response {
    const key = authenticate(context, request);
    const name = environmentName(request);
    checkEscapes(request, flagKey);
    const flag = openEnvironment(context, key, name).flag(flagKey);
    if (flag === undefined) throw flagNotFound();
    return representationAnswer(request, flag, factsOf(context, requestId));
  }

  async function readBatch(request: Request, requestId: string): Promise<Response> {
    authenticate(context, request);
    const body = await readBody(request, MAX_BATCH_BYTES);
    // Reading the body may take long: the key must still be live now.
    const key = findKey(context, request);
    const { env, keys } = accept(parseBatchRequest(body));
    const environment = openEnvironment(context, key, env);
    return jsonAnswer(environment.select(keys), environment, factsOf(context, requestId));
  }

  function openStream(request: Request, requestId: string, server: Server<undefined>): Response {
    const key = authenticate(context, request);
    const environment = openEnvironment(context, key, environmentName(request));
    refuseTooManyStreams(context, key.id);
    if (!context.freshness.canStream()) {
      throw temporaryError(
        'This node cannot follow the change log at the moment: try again shortly, or on another node.',
      );
    }
    server.timeout(request, 0);
    const { revision } = environment;
    return streamAnswer(context.hub.open(environment, key.id), revision, factsOf(context, requestId));
  }
}

function flagNotFound(): ServiceError {
  return new ServiceError(
    'flag_not_found',
    'This flag does not exist in this environment: check the key, or create the flag.',
  );
}

/**
 * Refuses a key whose percent-escapes were broken. The router decodes once and puts U+FFFD where it could not, so
 * only keys that hold that character are looked at again.
 */
function checkEscapes(request: Request, flagKey: string): void {
  if (!flagKey.includes('\uFFFD')) return;
  const [path = ''] = request.url.split('?', 1);
  try {
    decodeURIComponent(path.slice(path.lastIndexOf('/') + 1));
  } catch (cause) {
    throw new ServiceError(
      'invalid_argument',
      'The flag key in the path has a broken percent-escape: encode it as UTF-8.',
      { cause },
    );
  }
}

function refuseTooManyStreams(context: EvaluationContext, keyId: string): void {
  const limit = context.maxStreamsPerKey;
  if (context.hub.streamsOfKey(keyId) >= limit) {
    throw new ServiceError(
      'rate_limited',
      `This key already holds ${limit} streams open: share one per process.`,
      {
        retryAfterSeconds: 5,
      },
    );
  }
}

function factsOf(context: EvaluationContext, requestId: string): AnswerFacts {
  return { requestId, staleSeconds: context.freshness.staleSeconds() };
}
