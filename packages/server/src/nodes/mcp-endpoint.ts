import { isIP } from 'node:net';
import { REQUEST_ID_HEADER } from '@halyard/protocol';
import type { Server } from 'bun';
import type { Logger } from 'pino';
import type { Send } from '../cli/api-client.ts';
import { invalidAccessToken, ServiceError, temporaryError } from '../domain/errors.ts';
import { errorResponse, refuseMethod } from '../http/errors.ts';
import type { Fallback } from '../http/listeners.ts';
import { bearerTokenIn, requestIdOf } from '../http/request.ts';

/** Parts of {@link mcpEndpoint}. */
export interface McpEndpointOptions {
  /** Whether it offers only tools that read, or also those that change something. */
  readonly mode: 'read' | 'write';
  /** The management API of this node. */
  readonly api: Fallback;
  /** Where people reach this server with a browser. */
  readonly publicUrl: string;
  /** Whether to trust `X-Forwarded-Host`. */
  readonly trustProxy: boolean;
  /** Base of the documentation links, without a trailing slash. */
  readonly docsUrl: string;
  readonly log: Logger;
}

/** Largest request, in bytes: a value has at most 64 KiB. */
const MAX_BYTES = 256 * 1024;

/**
 * Answers `/mcp`: the tools of `halyard mcp` over HTTP. Each request is answered on its own with the access token that it brings, so
 * any node will do. It never changes a protected environment directly. The library is loaded by the first request.
 */
export function mcpEndpoint(options: McpEndpointOptions): Fallback {
  return async (request, server) => {
    if (new URL(request.url).pathname !== '/mcp') return undefined;
    const { docsUrl, log } = options;
    const context = { docsUrl, log, requestId: requestIdOf(request) };

    try {
      requireOwnAddress(request, options);
      if (request.method !== 'POST') return refuseMethod(request.method, ['POST'], context);
      const answer = await answerCall(request, server, options);
      answer.headers.set('Cache-Control', 'no-store');
      answer.headers.set('X-Content-Type-Options', 'nosniff');
      return answer;
    } catch (error) {
      const answer = errorResponse(error, context);
      if (answer.status === 401) answer.headers.set('WWW-Authenticate', 'Bearer');
      return answer;
    }
  };
}

async function answerCall(
  request: Request,
  server: Server<undefined>,
  { mode, api, publicUrl, log }: McpEndpointOptions,
): Promise<Response> {
  const token = bearerTokenIn(request.headers.get('Authorization'));
  if (token === undefined) throw invalidAccessToken();
  const [{ createMcpHandler }, { createMcpServer }, { openSession }, { ApiClient }, { CliError }] =
    await Promise.all([
      import('@modelcontextprotocol/server'),
      import('../cli/mcp/server.ts'),
      import('../cli/mcp/session.ts'),
      import('../cli/api-client.ts'),
      import('../cli/cli-error.ts'),
    ]);

  const connection = { url: publicUrl, readUrl: publicUrl, token };
  const sender = ownApi(request, server, api);
  const session = await openSession({
    mayWrite: mode === 'write',
    allowProtected: false,
    connect: (wish) => new ApiClient(connection, (sentence) => log.debug(sentence), wish, sender),
    now: Date.now,
    report: (err) => log.error({ err }, 'a tool for agents failed'),
  }).catch((error: unknown) => {
    if (!(error instanceof CliError)) throw error;
    throw error.code === 'invalid_access_token' ? invalidAccessToken() : temporaryError(error.message);
  });

  const handler = createMcpHandler(() => createMcpServer(session), {
    responseMode: 'json',
    maxRequestBodySize: MAX_BYTES,
    // Nothing here ever changes by itself.
    maxSubscriptions: 0,
    onerror: (err) => log.debug({ err }, 'a request of an agent was refused'),
  });
  return await handler.fetch(request);
}

/** Calls the API in this process with the address of the caller, and with no credential but the one that the client sets. */
function ownApi(request: Request, server: Server<undefined>, api: Fallback): Send {
  const seen = {
    timeout: (_: Request, seconds: number) => server.timeout(request, seconds),
    requestIP: () => server.requestIP(request),
  };
  // `Server`: the API uses no other member.
  const callers = seen as unknown as Server<undefined>;

  return async (url, init) => {
    const headers = new Headers(init.headers);
    const forwarded = request.headers.get('X-Forwarded-For');
    if (forwarded !== null) headers.set('X-Forwarded-For', forwarded);
    headers.set(REQUEST_ID_HEADER, requestIdOf(request));
    const answer = await api(new Request(url, { ...init, headers }), callers);
    return answer ?? new Response(null, { status: 404 });
  };
}

/**
 * Refuses what a page of another site can send: a browser names the page's origin, and a page that had a name resolve to this
 * machine sends that name as the host. Programs send no origin.
 */
function requireOwnAddress(request: Request, options: McpEndpointOptions): void {
  const { publicUrl, trustProxy } = options;
  const forwarded = trustProxy ? request.headers.get('X-Forwarded-Host') : null;
  const host = forwarded ?? request.headers.get('Host') ?? '';
  const own = new URL(publicUrl);

  if (!isLocalName(host) && host !== own.host) {
    throw new ServiceError(
      'forbidden',
      'This server is not known by that name: use an IP address, localhost, or the address in HALYARD_PUBLIC_URL.',
    );
  }
  const origin = request.headers.get('Origin');
  if (origin === null || origin === own.origin) return;
  if (URL.canParse(origin) && new URL(origin).host === host) return;
  throw new ServiceError('forbidden', 'Pages of other sites cannot use this address.');
}

/** Whether a host is an IP address or localhost, which no site can have as its name. */
function isLocalName(host: string): boolean {
  if (!URL.canParse(`http://${host}`)) return false;
  const { hostname } = new URL(`http://${host}`);
  return hostname === 'localhost' || isIP(hostname.replace(/^\[(.*)\]$/, '$1')) !== 0;
}
