import type { OpenAPIHono } from '@hono/zod-openapi';
import type { Server } from 'bun';
import type { Actor } from '../../domain/audit.ts';
import type { Caller } from '../people/people.ts';
import type { ActiveSession } from '../people/sessions.ts';

/** What a management request carries through its handlers. */
export interface ManagementEnv {
  Variables: {
    requestId: string;
    /** Where the request comes from. */
    caller: Caller;
    /** Who asks; known once the token is verified. */
    actor: Actor;
    /** How the actor was let in, where that was a session and no access token. */
    session: ActiveSession | undefined;
    /** Whether what the request was let in with is still good; asked again and again while a stream is open. */
    stillValid: () => Promise<boolean>;
  };
  Bindings: {
    /** The listener, which knows the caller's address; absent where requests come from no socket. */
    server?: Server<undefined>;
  };
}

/** The application that all management routes are mounted on. */
export type ManagementApp = OpenAPIHono<ManagementEnv>;
