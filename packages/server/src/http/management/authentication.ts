import { isIP } from 'node:net';
import type { MiddlewareHandler } from 'hono';
import type { Logger } from 'pino';
import type { Actor } from '../../domain/audit.ts';
import { ServiceError } from '../../domain/service-error.ts';
import { type TokenHolder, verifyAccessToken } from '../../management/access-tokens.ts';
import type { ManagementContext } from '../../management/context.ts';
import { checkNote } from '../../management/rules.ts';
import { TokenUses } from '../../management/token-uses.ts';
import type { ManagementEnv } from './environment.ts';

/** What authentication needs. */
export interface AuthenticationOptions {
  readonly context: ManagementContext;
  /** A token that works without a record, from the settings. */
  readonly adminToken: string | undefined;
  /** Whether a proxy before this node is believed about where a request comes from. */
  readonly trustProxy: boolean;
  readonly log: Logger;
}

/**
 * Lets through who presents a valid access token, and notes who it is. All causes of refusal give one identical
 * answer; the token itself goes nowhere.
 */
export function authenticate(options: AuthenticationOptions): MiddlewareHandler<ManagementEnv> {
  const { context, adminToken, trustProxy, log } = options;
  const uses = new TokenUses(context, (error) =>
    log.warn({ err: error }, 'the last use of an access token was not noted'),
  );
  return async (c, next) => {
    const [, token = ''] = /^Bearer +(\S+) *$/i.exec(c.req.header('Authorization') ?? '') ?? [];
    const holder = await verifyAccessToken(context, adminToken, token);
    if (holder === undefined) {
      throw new ServiceError(
        'invalid_access_token',
        'The access token is missing, unknown, expired or revoked: send "Authorization: Bearer <access token>".',
      );
    }
    if (holder.id !== undefined) uses.note(holder.id);
    const forwarded = trustProxy ? lastForwarded(c.req.header('X-Forwarded-For')) : undefined;
    const ip = forwarded ?? c.env?.server?.requestIP(c.req.raw)?.address;
    c.set('stillValid', async () => (await verifyAccessToken(context, adminToken, token)) !== undefined);
    c.set('actor', actorOf(holder, ip, c.req.header('X-Change-Note')));
    await next();
  };
}

function actorOf(holder: TokenHolder, ip: string | undefined, header: string | undefined): Actor {
  const note = header === undefined ? '' : decodeNote(header).trim();
  checkNote(note);
  return {
    name: `token:${holder.name}`,
    permissions: holder.permissions,
    ...(ip === undefined ? {} : { ip }),
    ...(note === '' ? {} : { note }),
  };
}

/** The address that the nearest proxy saw: what stands before it in the header is only what callers say. */
function lastForwarded(header: string | undefined): string | undefined {
  const last = header?.split(',').at(-1)?.trim();
  return last === undefined || isIP(last) === 0 ? undefined : last;
}

/** Header values arrive as one character per byte. What was sent as UTF-8, as command lines do, is read as such. */
function decodeNote(header: string): string {
  const bytes = Buffer.from(header, 'latin1');
  if (bytes.toString('latin1') !== header) return header;
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    // No UTF-8, so it is Latin-1, which the header says as it is.
    return header;
  }
}
