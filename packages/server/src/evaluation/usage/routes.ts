import {
  MAX_USAGE_BYTES,
  parseUsageReport,
  REQUEST_ID_HEADER,
  SERVICE_KEY_HEADER,
  USAGE_PATH,
} from '@halyard/protocol';
import { invalid, ServiceError } from '../../domain/errors.ts';
import { errorResponse, notFound } from '../../http/errors.ts';
import type { Routes } from '../../http/listener.ts';
import { readBody } from '../../http/request.ts';
import { authenticate, findAgain, openEnvironment } from '../serving/access.ts';
import type { Dialect, EvaluationContext } from '../serving/context.ts';
import { endpoint } from '../serving/endpoint.ts';
import { RateLimiter } from '../serving/rate-limiter.ts';

/** Reports of one key within a second that one process takes: each client sends one a minute. (Spec: S17.6) */
const REPORTS_PER_SECOND = 200;

const DIALECT: Dialect = {
  keyOf: (request) => request.headers.get(SERVICE_KEY_HEADER),
  keyPlaces: SERVICE_KEY_HEADER,
  requestHeaders: [SERVICE_KEY_HEADER, 'Content-Type', REQUEST_ID_HEADER],
  refuse: (error, context) => errorResponse(error, context),
};

/**
 * Where clients report how often they read each flag. For a key of a project that does not want it, the path does not
 * exist. (Spec: S17)
 */
export function usageRoutes(
  evaluation: EvaluationContext,
  limiter = new RateLimiter(REPORTS_PER_SECOND),
): Routes {
  const context = { ...evaluation, dialect: DIALECT };
  const routes = {
    [USAGE_PATH]: endpoint<typeof USAGE_PATH>(context, {
      POST: { operation: 'usage', handler: takeReport },
    }),
  };
  // `Routes`: `Bun.serve` sends each route only the requests of its path.
  return routes as Routes;

  async function takeReport(request: Request, requestId: string): Promise<Response> {
    const caller = authenticate(context, request);
    if (!context.catalog.wantsUsage(caller.projectId)) throw notFound(USAGE_PATH);
    const waitSeconds = limiter.take(caller);
    if (waitSeconds > 0)
      throw new ServiceError('rate_limited', 'This key has sent too many reports: report once a minute.', {
        retryAfterSeconds: waitSeconds,
      });
    const body = await readBody(request, MAX_USAGE_BYTES);
    const key = findAgain(context, caller);
    const report = parseUsageReport(body);
    if (!report.ok) throw invalid(report.problem);
    const { env, flags } = report.value;
    const { id } = openEnvironment(context, key, env);
    context.usage.add({ environmentId: id, flags });
    return new Response(null, { status: 204, headers: { [REQUEST_ID_HEADER]: requestId } });
  }
}
