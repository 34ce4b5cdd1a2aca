import type { Routes } from '../http/listener.ts';
import { flagdRoutes } from './flagd/routes.ts';
import { ofrepRoutes } from './ofrep/routes.ts';
import type { EvaluationContext } from './serving/context.ts';
import { usageRoutes } from './usage/routes.ts';
import { v1Routes } from './v1/routes.ts';

/** Everything that the read plane answers over HTTP, as routes of `Bun.serve`. */
export function evaluationRoutes(context: EvaluationContext): Routes {
  return { ...v1Routes(context), ...ofrepRoutes(context), ...flagdRoutes(context), ...usageRoutes(context) };
}
