import type { Logger } from 'pino';
import { refuseMethod } from '../errors.ts';
import type { Fallback } from '../listeners.ts';
import { chooseCoding, matchesTag, requestIdOf } from '../request.ts';
import { type AssetPack, type PackedAsset, readAssetPack } from './assets.ts';

/** What the dashboard needs of the server that serves it. */
export interface DashboardOptions {
  /** Loads the built files; called until it succeeds. `undefined` without a built dashboard. */
  readonly load: () => Promise<AssetPack | undefined>;
  readonly docsUrl: string;
  readonly log: Logger;
}

/** The addresses of the dashboard's screens. Each answers the same page, which reads its own address. */
const SCREENS: readonly RegExp[] = [
  /^\/$/,
  /^\/(sign-in|setup|invitation|operators|tokens|relay-tokens|audit|webhooks|account)$/,
  /^\/projects(\/[^/]+)?$/,
  /^\/projects\/[^/]+\/(flags|clean-up|compare|settings|members|keys|environments|webhooks|schedules|proposals|history|clients)$/,
  /^\/projects\/[^/]+\/(flags|proposals)\/[^/]+$/,
];

/** Paths for programs, which get JSON or text whatever they accept. */
const PROGRAM_PATHS = /^\/(api|v1|ofrep|flagd|docs|assets|metrics|healthz|readyz|favicon\.svg)(\/|$)/;

const METHODS = ['GET', 'HEAD'] as const;

const ASSET_HEADERS = {
  'X-Content-Type-Options': 'nosniff',
  'Cross-Origin-Resource-Policy': 'same-origin',
  Vary: 'Accept-Encoding',
} as const;

/** The policy lets the page load and call its own server only, runs nothing inline, and forbids frames. */
const PAGE_HEADERS = {
  ...ASSET_HEADERS,
  'Content-Security-Policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  'Referrer-Policy': 'no-referrer',
  'Permissions-Policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'X-Frame-Options': 'DENY',
} as const;

/** Built files are named after their content, so a name always means the same bytes. */
const FOREVER = 'public, max-age=31536000, immutable';

/**
 * Creates the handler of the dashboard: the page at the addresses of its screens, its files under `/assets/`, and the
 * icon. Leaves every other path to the next handler. Needs no credentials: the page gets its data from `/api`.
 */
export function createDashboard(options: DashboardOptions): Fallback {
  let loading: Promise<AssetPack | undefined> | undefined;

  return (request) => {
    const path = new URL(request.url).pathname;
    const isScreen = SCREENS.some((pattern) => pattern.test(path));
    const isLost = !isScreen && isLostPage(request, path);
    if (!isScreen && !isLost && path !== '/favicon.svg' && !path.startsWith('/assets/')) return undefined;

    loading ??= options.load().catch((error: unknown) => {
      // Too many open files, perhaps: the next request tries again.
      loading = undefined;
      throw error;
    });

    return loading.then((pack) => {
      const asset = pack?.get(isScreen || isLost ? '/' : path);
      if (asset === undefined && !(isScreen && pack === undefined)) return undefined;
      if (!isRead(request)) {
        return refuseMethod(request.method, METHODS, { ...options, requestId: requestIdOf(request) });
      }

      if (asset === undefined) return notBuilt();
      if (isScreen) return answerPage(request, asset);
      // The page itself says that the address does not exist, with the way back.
      if (isLost) return answer(request, asset, { ...PAGE_HEADERS, 'Cache-Control': 'no-store' }, 404);

      const isIcon = asset.type === 'image/svg+xml';
      return answer(request, asset, {
        ...ASSET_HEADERS,
        'Cache-Control': isIcon ? 'public, max-age=86400' : FOREVER,
      });
    });
  };
}

function isRead({ method }: Request): boolean {
  return method === 'GET' || method === 'HEAD';
}

/** Whether a browser requests an address that does not exist. */
function isLostPage(request: Request, path: string): boolean {
  return (
    isRead(request) && !PROGRAM_PATHS.test(path) && /\btext\/html\b/.test(request.headers.get('Accept') ?? '')
  );
}

function answerPage(request: Request, page: PackedAsset): Response {
  // The page names the files of its build, so browsers must revalidate it each time.
  const headers = { ...PAGE_HEADERS, 'Cache-Control': 'no-cache', ETag: page.etag };
  const known = request.headers.get('If-None-Match');
  if (known !== null && matchesTag(known, page.etag)) return new Response(null, { status: 304, headers });
  return answer(request, page, headers);
}

function answer(
  request: Request,
  { type, forms }: PackedAsset,
  headers: Readonly<Record<string, string>>,
  status = 200,
): Response {
  const coding = chooseCoding(
    request,
    [...forms.keys()].filter((one) => one !== 'identity'),
  );
  const encoded: Record<string, string> = coding === undefined ? {} : { 'Content-Encoding': coding };
  return new Response(forms.get(coding ?? 'identity') ?? null, {
    status,
    headers: { ...headers, 'Content-Type': type, ...encoded },
  });
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

/**
 * The built dashboard: from inside the executable, or from `packages/dashboard/dist` in a checkout. `undefined` in a
 * checkout where it has not been built.
 */
export async function loadBuiltAssets(): Promise<AssetPack | undefined> {
  const path = await builtPack();
  return path === undefined ? undefined : readAssetPack(await Bun.file(path).bytes());
}

/** Imported on demand, so that a server without a built dashboard starts all the same. */
async function builtPack(): Promise<string | undefined> {
  try {
    const { default: path } = await import('../../../../dashboard/dist/dashboard.pack', {
      with: { type: 'file' },
    });
    return path;
  } catch {
    // Not built: the page says how to build it.
    return undefined;
  }
}
