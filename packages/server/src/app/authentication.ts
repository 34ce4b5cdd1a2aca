import { isIP } from 'node:net';
import { defined, REFERENCE_HEADER } from '@halyard/protocol';
import type { Server } from 'bun';
import type { Logger } from 'pino';
import type { Actor } from '../domain/audit.ts';
import { invalid, invalidAccessToken, ServiceError, StoreOutage } from '../domain/errors.ts';
import { digestOf } from '../domain/secret.ts';
import { bearerTokenIn } from '../http/request.ts';
import type { Author, ManagementRequest } from '../management/api/management-app.ts';
import { WORK_SECONDS } from '../management/api/operation.ts';
import type { Caller } from '../management/context.ts';
import { checkNote } from '../management/rules.ts';
import { type TokenHolder, TokenUses, verifyAccessToken } from '../nouns/access-tokens/access-tokens.ts';
import { readReference, requireOpenReference } from '../nouns/history/references.ts';
import type { ActiveSession } from '../nouns/people/operator.ts';
import { operatorActor, type PeopleContext } from '../nouns/people/people.ts';
import { noteSessionUse, sessionIdIn, verifySession } from '../nouns/people/sessions.ts';

/** Options of authentication. */
export interface AuthenticationOptions {
  readonly context: PeopleContext;
  readonly log: Logger;
  /** Whether to trust `X-Forwarded-For`. */
  readonly trustProxy: boolean;
}

/** The authenticated actor. */
interface Admission {
  readonly actor: Actor;
  readonly session?: ActiveSession;
}

/** Finds the author of a request. */
export type Authenticate = (request: ManagementRequest) => Promise<Author>;

/**
 * Requires a valid access token or, without an `Authorization` header, a valid session, and records whose it
 * is. Every cause of refusal has the same answer, and the secret is never passed on.
 */
export function authentication({ context, log, trustProxy }: AuthenticationOptions): Authenticate {
  // The follower reports outages, and a standby can never record a use.
  const noteFailure = (err: unknown, message: string) =>
    log[err instanceof StoreOutage ? 'debug' : 'warn']({ err }, message);
  const uses = new TokenUses(context, (error) =>
    noteFailure(error, 'the last use of an access token was not recorded'),
  );

  const findToken = async (header: string | null, caller: Caller): Promise<Admission | undefined> => {
    const holder = await verifyAccessToken(context, bearerTokenIn(header) ?? '');
    return holder && { actor: tokenActor(holder, caller) };
  };

  const findSession = async (
    id: string,
    caller: Caller,
    confirmed: string,
  ): Promise<Admission | undefined> => {
    const found = await verifySession(context, id);
    if (found === undefined) return undefined;
    const { credential, ...session } = found;
    const { permissions, ...actor } = operatorActor(session.operator, caller);
    return {
      actor: { ...actor, permissions: { ...permissions, confirmed: namesIn(confirmed) }, credential },
      session,
    };
  };

  const noteUse = ({ actor: { credential }, session }: Admission) => {
    if (session === undefined) return credential && uses.note(credential.id);
    noteSessionUse(context, session.session, (error) =>
      noteFailure(error, 'the last use of a session was not recorded'),
    );
  };

  return async ({ raw, server }) => {
    const { headers } = raw;
    const header = headers.get('Authorization');
    const id = header === null ? sessionIdIn(raw, context.publicUrl) : undefined;
    const ip = addressOf(raw, server, trustProxy);
    const caller: Caller = ip === undefined ? {} : { ip };
    const find = () =>
      id === undefined
        ? findToken(header, caller)
        : findSession(id, caller, headers.get('X-Confirm-Environment') ?? '');
    const refusal = () => (id === undefined ? invalidAccessToken() : notSignedIn());

    const admission = await find();
    if (admission === undefined) throw refusal();
    const actor = withSaid(admission.actor, headers);
    noteUse(admission);
    // The listener allows 10 seconds without credentials. An authenticated request may wait for a lock or a large import.
    server?.timeout(raw, WORK_SECONDS);
    return {
      actor,
      session: admission.session,
      currentActor: async () => {
        const now = await find();
        if (now === undefined) throw refusal();
        const current = withSaid(now.actor, headers);
        await requireOpenReference(context, current);
        return current;
      },
      stillValid: async () => Bun.deepEquals((await find())?.actor.permissions, actor.permissions),
    };
  };
}

function notSignedIn(): ServiceError {
  return new ServiceError(
    'not_signed_in',
    'You are not signed in, or your session has ended: sign in, or send an access token.',
  );
}

function tokenActor({ name, permissions, credential }: TokenHolder, caller: Caller): Actor {
  const actor = { name: `token:${name}`, permissions, ...caller };
  return credential === undefined ? actor : { ...actor, credential };
}

function namesIn(header: string): readonly string[] {
  return header.split(',').map((name) => name.trim());
}

/** The actor with what the request says about itself: why, and its own name. */
function withSaid(actor: Actor, headers: Headers): Actor {
  const note = noteIn(headers.get('X-Change-Note'));
  const reference = readReference(headers.get(REFERENCE_HEADER) ?? undefined);
  if (note === undefined && reference === undefined) return actor;
  return { ...actor, ...defined({ note, reference }) };
}

function noteIn(header: string | null): string | undefined {
  if (header === null) return undefined;
  const note = decodeNote(header).trim();
  checkNote(note);
  return note || undefined;
}

/** Decodes a header value, which arrives as one character per byte: as UTF-8, which command lines send, if valid. */
function decodeNote(header: string): string {
  const bytes = Buffer.from(header, 'latin1');
  if (bytes.toString('latin1') !== header) return header;
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    // Not UTF-8, so the header is Latin-1 already.
    return header;
  }
}

/** How browsers reach this server. */
export interface OwnPageOptions {
  /** Where people reach this server with a browser. */
  readonly publicUrl: string;
  /** Whether to trust `X-Forwarded-For` and `X-Forwarded-Host`. */
  readonly trustProxy: boolean;
}

/** Media types that a page of another site cannot send without a CORS preflight. */
const SAFE_TYPES = ['application/json', 'application/yaml'];

/**
 * Refuses cross-site requests of browsers: every request that changes something without an access token
 * must come from a page of this server and contain JSON. A browser adds cookies by itself, but never `Authorization`,
 * and sends the page's origin; a program without cookie and origin has no credentials to abuse.
 */
export function requireOwnPage(request: Request, options: OwnPageOptions): void {
  const changes = !['GET', 'HEAD', 'OPTIONS'].includes(request.method);
  if (!changes || request.headers.has('Authorization')) return;
  if (!isOwnPage(request, options)) {
    throw new ServiceError(
      'forbidden',
      "This request does not come from a page of this server: use the dashboard's own address, or an access token.",
    );
  }
  requireSafeType(request);
}

function isOwnPage(request: Request, { publicUrl, trustProxy }: OwnPageOptions): boolean {
  const { headers } = request;
  const site = headers.get('Sec-Fetch-Site');
  if (site !== null) return site === 'same-origin';
  // Browsers omit that header on plain HTTP, but still send the origin.
  const origin = headers.get('Origin');
  if (origin === null) return sessionIdIn(request, publicUrl) === undefined;
  if (!URL.canParse(origin)) return false;
  const hosts = [headers.get('Host') ?? new URL(request.url).host];
  if (trustProxy) hosts.push(headers.get('X-Forwarded-Host') ?? '');
  const { host } = new URL(origin);
  // Origins such as file:// and data: have no host, like a missing header.
  return (host !== '' && hosts.includes(host)) || origin === new URL(publicUrl).origin;
}

function requireSafeType({ headers, body }: Request): void {
  if (body === null || headers.get('Content-Length') === '0') return;
  const [type = ''] = (headers.get('Content-Type') ?? '').split(';');
  if (SAFE_TYPES.includes(type.trim().toLowerCase())) return;
  throw invalid('The request must declare its body as JSON: send "Content-Type: application/json".');
}

/** The address of a caller, and the session in its browser. `X-Forwarded-For` counts only with `trustProxy`. */
export function callerOf(
  { raw, server }: ManagementRequest,
  { trustProxy, publicUrl }: OwnPageOptions,
): Caller {
  const id = sessionIdIn(raw, publicUrl);
  const sessionDigest = id === undefined ? undefined : digestOf(id);
  return defined({ ip: addressOf(raw, server, trustProxy), sessionDigest });
}

function addressOf(
  request: Request,
  server: Server<undefined> | undefined,
  trustProxy: boolean,
): string | undefined {
  const forwarded = trustProxy ? lastForwarded(request.headers.get('X-Forwarded-For')) : undefined;
  return forwarded ?? server?.requestIP(request)?.address;
}

/** The address that the nearest proxy saw. Callers can write anything before it in the header. */
function lastForwarded(header: string | null): string | undefined {
  const last = header?.split(',').at(-1)?.trim();
  return last === undefined || isIP(last) === 0 ? undefined : last;
}
