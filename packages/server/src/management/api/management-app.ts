import type { OpenAPIHono } from '@hono/zod-openapi';
import type { Server } from 'bun';
import type { Actor } from '../../domain/audit.ts';
import type { Caller } from '../people/people.ts';
import type { ActiveSession } from '../people/sessions.ts';

/** The context of a management request. */
export interface ManagementEnv {
  Variables: {
    requestId: string;
    /** The address of the caller. */
    caller: Caller;
    /** The author of the request; known after authentication. */
    actor: Actor;
    /** The actor's session; absent for an access token. */
    session: ActiveSession | undefined;
    /** Whether the credentials are still valid; checked repeatedly while a stream is open. */
    stillValid: () => Promise<boolean>;
  };
  Bindings: {
    /** The listener, which knows the caller's address; absent where requests come from no socket. */
    server?: Server<undefined>;
  };
}

/** The application that all management routes are mounted on. */
export type ManagementApp = OpenAPIHono<ManagementEnv>;
