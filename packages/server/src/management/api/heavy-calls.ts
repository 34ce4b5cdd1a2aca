import { OpenAPIHono } from '@hono/zod-openapi';
import type { Actor } from '../../domain/audit.ts';
import { mountAccessTokens } from '../../nouns/access-tokens/access-token-routes.ts';
import { mountImportExport } from '../../nouns/documents/document-routes.ts';
import { mountAudit, mountHistory } from '../../nouns/history/history-routes.ts';
import { mountRolloutPlans } from '../../nouns/rollouts/rollout-routes.ts';
import { mountSchedules } from '../../nouns/schedules/schedule-routes.ts';
import { mountCopy } from '../../nouns/states/copy-routes.ts';
import { mountFlagStates } from '../../nouns/states/state-routes.ts';
import { mountUsage } from '../../nouns/usage/usage-routes.ts';
import type { ManagementContext } from '../context.ts';
import { mountEnvironments } from '../environments/environment-routes.ts';
import { mountFlagArchive, mountFlags } from '../flags/flag-routes.ts';
import { mountSearch } from '../flags/search-routes.ts';
import { mountProjectKeys } from '../keys/key-routes.ts';
import { mountProjects } from '../projects/project-routes.ts';
import { IncomingBodies } from './incoming-bodies.ts';
import type { ManagementApp, ManagementEnv } from './operation.ts';

/** One authorized call of a heavy operation, as it goes to another thread. */
export interface HeavyCall {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Uint8Array<ArrayBuffer>;
  readonly actor: Actor;
  /** Whether the body is a document, of which few are read at once. */
  readonly isDocument?: boolean;
}

/** The thread that answers heavy operations, so that the one that serves reads stays free. */
export interface HeavyThread {
  /** Whether this request goes there; starting the thread is not worth it for little data. */
  takes(request: Request): boolean;
  /**
   * Rejects with the errors that the operation throws, `rate_limited` for too many calls of one author, and `internal_error` for
   * too many of all. `stillValid` is asked between the pieces of a long answer, which breaks off when the rights have ended.
   */
  answer(call: HeavyCall, stillValid?: () => Promise<boolean>): Promise<Response>;
}

/** The heavy operations over `context`, for the thread: without authentication, and errors are thrown. */
export function createHeavyOperations(context: ManagementContext): (call: HeavyCall) => Promise<Response> {
  const app = new OpenAPIHono<ManagementEnv>();
  app.onError((error) => {
    throw error;
  });
  const bodies = new IncomingBodies();
  app.use(async (c, next) => {
    c.set('bodies', bodies);
    if (c.env.actor !== undefined) c.set('actor', c.env.actor);
    await next();
  });
  mountHeavyOperations(app, context);
  return async ({ url, actor, ...init }) => app.fetch(new Request(url, init), { actor });
}

/** Mounts the groups that contain heavy operations, in the whole API and in the thread. */
export function mountHeavyOperations(app: ManagementApp, context: ManagementContext): void {
  mountProjects(app, context);
  mountEnvironments(app, context);
  mountFlags(app, context);
  mountFlagArchive(app, context);
  mountFlagStates(app, context);
  mountProjectKeys(app, context);
  mountImportExport(app, context);
  mountAudit(app, context);
  mountHistory(app, context);
  mountCopy(app, context);
  mountSchedules(app, context);
  mountRolloutPlans(app, context);
  mountSearch(app, context);
  mountUsage(app, context);
  mountAccessTokens(app, context);
}
