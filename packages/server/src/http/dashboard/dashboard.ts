import type { Logger } from 'pino';
import { refuseMethod } from '../errors.ts';
import type { Fallback } from '../listener.ts';
import { requestIdOf } from '../request-id.ts';
import { type AssetPack, chooseForm, type PackedAsset } from './asset-pack.ts';
import { ASSET_HEADERS, PAGE_HEADERS } from './headers.ts';
import { isLostPage, isPageAddress } from './page-addresses.ts';

/** What the dashboard needs to know of the server it is served by. */
export interface DashboardOptions {
  /** Gives the built files; asked when the first page is, and no more once it has given them. `undefined` where there are none. */
  readonly load: () => Promise<AssetPack | undefined>;
  readonly docsUrl: string;
  readonly log: Logger;
}

const METHODS = ['GET', 'HEAD'] as const;

/** Built files are named after their content, so a name never means anything else. */
const FOREVER = 'public, max-age=31536000, immutable';

/**
 * Makes the handler of the dashboard: the page at the addresses of its screens, its files under `/assets/`, and the
 * icon. Leaves every other path to the next handler. Needs no credentials: what the page shows, it asks of `/api`.
 */
export function createDashboard(options: DashboardOptions): Fallback {
  let loading: Promise<AssetPack | undefined> | undefined;
  return (request) => {
    const path = new URL(request.url).pathname;
    const isPage = isPageAddress(path);
    const isLost = !isPage && isRead(request) && isLostPage(path, request.headers.get('Accept'));
    if (!isPage && !isLost && path !== '/favicon.svg' && !path.startsWith('/assets/')) return undefined;
    loading ??= options.load().catch((error: unknown) => {
      // Too many open files, perhaps: the next page asks again.
      loading = undefined;
      throw error;
    });
    return loading.then((pack) => {
      if (pack === undefined) return isPage ? answerPage(request, options, undefined) : undefined;
      const page = pack.get('/');
      // The page itself says that there is nothing, with the way back.
      if (isLost && page !== undefined) return answerLost(request, page);
      const asset = isPage ? page : pack.get(path);
      if (isPage) return answerPage(request, options, asset);
      return asset === undefined ? undefined : answerAsset(request, options, asset);
    });
  };
}

function answerPage(request: Request, options: DashboardOptions, page: PackedAsset | undefined): Response {
  if (!isRead(request)) return refuseWrite(request, options);
  if (page === undefined) return notBuilt();
  // The page names the files of its build: it must be asked for again each time.
  const headers = { ...PAGE_HEADERS, 'Cache-Control': 'no-cache', ETag: page.etag };
  if (isKnown(request, page.etag)) return new Response(null, { status: 304, headers });
  return answerForm(request, page, headers);
}

function answerLost(request: Request, page: PackedAsset): Response {
  return answerForm(request, page, { ...PAGE_HEADERS, 'Cache-Control': 'no-store' }, 404);
}

function answerAsset(request: Request, options: DashboardOptions, asset: PackedAsset): Response {
  if (!isRead(request)) return refuseWrite(request, options);
  const isIcon = asset.type === 'image/svg+xml';
  const headers = { ...ASSET_HEADERS, 'Cache-Control': isIcon ? 'public, max-age=86400' : FOREVER };
  return answerForm(request, asset, headers);
}

function answerForm(
  request: Request,
  asset: PackedAsset,
  headers: Record<string, string>,
  status = 200,
): Response {
  const [coding, bytes] = chooseForm(asset, request.headers.get('Accept-Encoding'));
  return new Response(bytes, {
    status,
    headers: {
      ...headers,
      'Content-Type': asset.type,
      ...(coding === 'identity' ? {} : { 'Content-Encoding': coding }),
    },
  });
}

/** Proxies that compress make a tag weak; it names the same page. */
function isKnown(request: Request, etag: string): boolean {
  const tags = (request.headers.get('If-None-Match') ?? '').split(',').map((tag) => tag.trim());
  return tags.some((tag) => tag.replace(/^W\//, '') === etag);
}

function notBuilt(): Response {
  return new Response(
    'The dashboard is not built in this checkout. Build it with: bun run build:dashboard\n',
    {
      status: 503,
      headers: { ...PAGE_HEADERS, 'Content-Type': 'text/plain; charset=utf-8', 'Cache-Control': 'no-store' },
    },
  );
}

function isRead(request: Request): boolean {
  return request.method === 'GET' || request.method === 'HEAD';
}

function refuseWrite(request: Request, options: DashboardOptions): Response {
  return refuseMethod(request.method, METHODS, { ...options, requestId: requestIdOf(request) });
}
