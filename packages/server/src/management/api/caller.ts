import { isIP } from 'node:net';
import type { Context, MiddlewareHandler } from 'hono';
import type { ManagementEnv } from './environment.ts';

/** Notes where each request comes from. A proxy before this node is believed only when `trustProxy` says so. */
export function noteCaller({
  trustProxy,
}: {
  readonly trustProxy: boolean;
}): MiddlewareHandler<ManagementEnv> {
  return async (c, next) => {
    const ip = addressOf(c, trustProxy);
    c.set('caller', ip === undefined ? {} : { ip });
    await next();
  };
}

function addressOf(c: Context<ManagementEnv>, trustProxy: boolean): string | undefined {
  const forwarded = trustProxy ? lastForwarded(c.req.header('X-Forwarded-For')) : undefined;
  return forwarded ?? c.env?.server?.requestIP(c.req.raw)?.address;
}

/** The address that the nearest proxy saw: what stands before it in the header is only what callers say. */
function lastForwarded(header: string | undefined): string | undefined {
  const last = header?.split(',').at(-1)?.trim();
  return last === undefined || isIP(last) === 0 ? undefined : last;
}
