import {
  MAX_BATCH_BYTES,
  parseBatchRequest,
  parseChangesQuery,
  REQUEST_ID_HEADER,
  SERVICE_KEY_HEADER,
  STALE_HEADER,
} from '@halyard/protocol';
import type { Server } from 'bun';
import { ServiceError } from '../../domain/errors.ts';
import { errorResponse } from '../../http/errors.ts';
import type { Routes } from '../../http/listener.ts';
import { queryTextOf, readBody } from '../../http/request.ts';
import {
  accept,
  admitStream,
  authenticate,
  checkEscapes,
  environmentInQuery,
  factsOf,
  findAgain,
  openEnvironment,
} from '../serving/access.ts';
import { jsonAnswer, representationAnswer, streamAnswer, wholeMapAnswer } from '../serving/answers.ts';
import type { Dialect, EvaluationContext } from '../serving/context.ts';
import { endpoint, unknownPath } from '../serving/endpoint.ts';

const DIALECT: Dialect = {
  keyOf: (request) => request.headers.get(SERVICE_KEY_HEADER),
  keyPlaces: SERVICE_KEY_HEADER,
  requestHeaders: [SERVICE_KEY_HEADER, 'Content-Type', 'If-None-Match', REQUEST_ID_HEADER],
  refuse: (error, context) => errorResponse(error, context),
};

/** The four endpoints of `/v1`, as routes of `Bun.serve`. (Spec: S4) */
export function v1Routes(evaluation: EvaluationContext): Routes {
  const context = { ...evaluation, dialect: DIALECT };
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
    const environment = openEnvironment(context, key, environmentInQuery(request));
    return wholeMapAnswer(request, environment, factsOf(context, requestId));
  }

  function readOne(request: Request, flagKey: string, requestId: string): Response {
    const key = authenticate(context, request);
    const name = environmentInQuery(request);
    checkEscapes(request, flagKey);
    const flag = openEnvironment(context, key, name).flag(flagKey);
    if (flag === undefined) return flagMissing(requestId);
    return representationAnswer(request, flag, factsOf(context, requestId));
  }

  /** Says how old the map is in which the flag is missing. (Spec: S14.1) */
  function flagMissing(requestId: string): Response {
    const { docsUrl, log } = context;
    const refusal = errorResponse(flagNotFound(), { docsUrl, log, requestId });
    const { staleSeconds } = factsOf(context, requestId);
    if (staleSeconds !== undefined) refusal.headers.set(STALE_HEADER, String(staleSeconds));
    return refusal;
  }

  async function readBatch(request: Request, requestId: string): Promise<Response> {
    const caller = authenticate(context, request);
    const body = await readBody(request, MAX_BATCH_BYTES);
    const key = findAgain(context, caller);
    const { env, keys } = accept(parseBatchRequest(body));
    const environment = openEnvironment(context, key, env);
    return jsonAnswer(environment.select(keys), environment, factsOf(context, requestId));
  }

  function openStream(request: Request, requestId: string, server: Server<undefined>): Response {
    const key = authenticate(context, request);
    const name = environmentInQuery(request);
    const wantsChanges = accept(parseChangesQuery(queryTextOf(request)));
    const environment = openEnvironment(context, key, name);
    admitStream(context, key);

    server.timeout(request, 0);
    const { hub } = context;
    const { revision } = environment;
    const stream = wantsChanges ? hub.openChanges(environment, key.id) : hub.open(environment, key.id);
    const answer = streamAnswer(stream, revision, factsOf(context, requestId));
    environment.announce(answer.headers);
    return answer;
  }
}

function flagNotFound(): ServiceError {
  return new ServiceError(
    'flag_not_found',
    'This flag does not exist in this environment: check the key, or create the flag.',
  );
}
