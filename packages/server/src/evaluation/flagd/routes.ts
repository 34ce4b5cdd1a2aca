import { REQUEST_ID_HEADER } from '@halyard/protocol';
import { invalid } from '../../domain/errors.ts';
import { FLAGD_ROLLOUTS, type FlagdRollouts } from '../../domain/flagd-document.ts';
import { errorResponse } from '../../http/errors.ts';
import type { Routes } from '../../http/listener.ts';
import { queryOf } from '../../http/request.ts';
import type { LiveEnvironment } from '../catalog/live-environment.ts';
import { authenticate, environmentInQuery, factsOf, findAgain, openEnvironment } from '../serving/access.ts';
import type { Dialect, EvaluationContext } from '../serving/context.ts';
import { endpoint, unknownPath } from '../serving/endpoint.ts';
import { KEY_HEADERS, KEY_PLACES, keyInAnyHeader } from '../serving/key-headers.ts';
import { FlagdEnvironment } from './documents.ts';

/** Where flagd reads an environment. It takes the format of an answer from the end of the path. */
const PATH = '/flagd/v1/flags.json';

const DIALECT: Dialect = {
  keyOf: keyInAnyHeader,
  keyPlaces: KEY_PLACES,
  requestHeaders: [...KEY_HEADERS, 'If-None-Match', REQUEST_ID_HEADER],
  refuse: (error, context) => errorResponse(error, context),
};

/** The route from which flagd reads the flags of an environment. (Spec: S19) */
export function flagdRoutes(evaluation: EvaluationContext): Routes {
  const context = { ...evaluation, dialect: DIALECT };
  const environments = new WeakMap<LiveEnvironment, FlagdEnvironment>();
  const routes = {
    [PATH]: endpoint<typeof PATH>(context, { GET: { operation: 'flagd', handler: readDocument } }),
    '/flagd/*': unknownPath(context),
  };
  // `Routes`: `Bun.serve` sends each route only the requests of its path.
  return routes as Routes;

  async function readDocument(request: Request, requestId: string): Promise<Response> {
    const caller = authenticate(context, request);
    const name = environmentInQuery(request);
    const rollouts = rolloutsInQuery(request);
    const environment = openEnvironment(context, caller, name);

    const document = await flagdEnvironment(environment).document(rollouts);

    // That may have taken long: the key must still be live now, and the environment be there.
    openEnvironment(context, findAgain(context, caller), name);
    return document.respond(request, factsOf(context, requestId));
  }

  function flagdEnvironment(environment: LiveEnvironment): FlagdEnvironment {
    const known = environments.get(environment);
    if (known !== undefined) return known;
    const made = new FlagdEnvironment(environment);
    environments.set(environment, made);
    return made;
  }
}

/** Whether a request wants partial rollouts. (Spec: S19.4) */
function rolloutsInQuery(request: Request): FlagdRollouts {
  const values = queryOf(request).getAll('rollouts');
  const [asked = 'include'] = values;
  const known = FLAGD_ROLLOUTS.find((each) => each === asked);
  if (known !== undefined && values.length <= 1) return known;
  throw invalid(`The query parameter "rollouts" must be one of ${FLAGD_ROLLOUTS.join(', ')}, once at most.`);
}
