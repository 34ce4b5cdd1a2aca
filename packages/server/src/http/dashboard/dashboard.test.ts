import { afterAll, expect, test } from 'bun:test';
import { gunzipSync } from 'node:zlib';
import pino from 'pino';
import { packAssets } from '../../../../../scripts/dashboard/pack.ts';
import { readAssetPack } from './assets.ts';
import { createDashboard } from './dashboard.ts';

const PAGE = `<!doctype html><title>Halyard</title>${' '.repeat(1000)}`;
const SCRIPT = `export const answer = 42;${'\n'.repeat(1000)}`;
const log = pino({ enabled: false });

async function serve(load: Parameters<typeof createDashboard>[0]['load']) {
  const dashboard = createDashboard({ load, docsUrl: 'https://docs.example.com', log });
  return Bun.serve({
    port: 0,
    fetch: async (request, server) =>
      (await dashboard(request, server)) ?? new Response('next', { status: 404 }),
  });
}

const pack = readAssetPack(
  new Uint8Array(
    await packAssets([
      { path: '/', type: 'text/html; charset=utf-8', bytes: new TextEncoder().encode(PAGE) },
      { path: '/favicon.svg', type: 'image/svg+xml', bytes: new TextEncoder().encode('<svg/>') },
      {
        path: '/assets/main-x.js',
        type: 'text/javascript; charset=utf-8',
        bytes: new TextEncoder().encode(SCRIPT),
      },
    ]),
  ),
);
const built = await serve(async () => pack);
const unbuilt = await serve(async () => undefined);
afterAll(() => Promise.all([built.stop(true), unbuilt.stop(true)]));

function get(path: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Response> {
  return fetch(new URL(path, built.url), { method, headers, decompress: false });
}

test('serves the page for every screen, and for nothing else', async () => {
  const screens = [
    ...['/projects', '/projects/shop'],
    ...[
      '/',
      '/sign-in',
      '/setup',
      '/invitation',
      '/operators',
      '/tokens',
      '/relay-tokens',
      '/webhooks',
      '/audit',
      '/account',
    ],
    ...['flags', 'flags/new-checkout', 'flags/a%2Fb', 'compare', 'keys', 'environments'].map(below),
    ...['schedules', 'proposals', 'proposals/7', 'history', 'clients', 'webhooks'].map(below),
  ];
  for (const screen of screens) {
    const response = await get(screen, { 'Accept-Encoding': 'identity' });
    expect([screen, response.status, await response.text()]).toEqual([screen, 200, PAGE]);
  }
  const others = ['/nothing', '/projects/shop/else', '/sign-in/'];
  for (const path of [...others, '/assets/none.js', '/projects/shop/flags/a/b', '/v1/flags']) {
    const response = await get(path);
    expect([path, response.status, await response.text()]).toEqual([path, 404, 'next']);
  }
});

test('shows the page at unknown addresses to browsers, but not to programs', async () => {
  const browser = { Accept: 'text/html,application/xhtml+xml,*/*;q=0.8', 'Accept-Encoding': 'identity' };
  for (const path of ['/nothing', '/projects/shop/else', '/projects/shop/flags/a/b', '/sign-in/']) {
    const response = await get(path, browser);
    expect([path, response.status, await response.text()]).toEqual([path, 404, PAGE]);
    expect(response.headers.get('Content-Security-Policy')).toContain("default-src 'none'");
    expect(response.headers.get('Cache-Control')).toBe('no-store');
  }
  for (const path of [
    '/v1/nothing',
    '/api/nothing',
    '/docs/nothing',
    '/assets/none.js',
    '/v1',
    '/ofrep/v1',
  ]) {
    const response = await get(path, browser);
    expect([path, response.status, await response.text()]).toEqual([path, 404, 'next']);
  }
  for (const accept of ['*/*', 'application/json', 'image/avif,image/webp,*/*']) {
    const response = await get('/nothing', { Accept: accept });
    expect([accept, await response.text()]).toEqual([accept, 'next']);
  }
  expect(await (await get('/nothing', browser, 'POST')).text()).toBe('next');
});

function below(screen: string): string {
  return `/projects/shop/${screen}`;
}

test('serves the page under a policy that allows no inline and no foreign content', async () => {
  const { headers } = await get('/projects/shop/flags');
  const policy = headers.get('Content-Security-Policy') ?? '';
  expect(policy).toContain("default-src 'none'");
  expect(policy).toContain("script-src 'self';");
  expect(policy).toContain("style-src 'self';");
  expect(policy).toContain("frame-ancestors 'none'");
  expect(policy).not.toContain('unsafe');
  expect(policy).not.toContain('*');
  expect(headers.get('X-Content-Type-Options')).toBe('nosniff');
  expect(headers.get('Referrer-Policy')).toBe('no-referrer');
  expect(headers.get('Cross-Origin-Opener-Policy')).toBe('same-origin');
  expect(headers.get('Permissions-Policy')).toContain('camera=()');
});

test('revalidates the page each time, and its files never', async () => {
  const page = await get('/');
  expect(page.headers.get('Cache-Control')).toBe('no-cache');
  const etag = page.headers.get('ETag') ?? '';
  expect(etag).toMatch(/^"\w+"$/);
  const again = await get('/audit', { 'If-None-Match': `"other", ${etag}` });
  expect([again.status, await again.text()]).toEqual([304, '']);
  expect((await get('/', { 'If-None-Match': '"other"' })).status).toBe(200);
  const script = await get('/assets/main-x.js');
  expect(script.headers.get('Cache-Control')).toBe('public, max-age=31536000, immutable');
});

test('serves files in the best encoding that the caller accepts', async () => {
  const codingOf = async (accept: string) =>
    (await get('/assets/main-x.js', { 'Accept-Encoding': accept })).headers.get('Content-Encoding');
  expect(await codingOf('gzip, deflate, br, zstd')).toBe('br');
  expect(await codingOf('gzip, br;q=0')).toBe('gzip');
  expect(await codingOf('identity')).toBe(null);
  expect(await codingOf('')).toBe(null);
  const zipped = await get('/assets/main-x.js', { 'Accept-Encoding': 'gzip' });
  expect(gunzipSync(await zipped.bytes()).toString()).toBe(SCRIPT);
  expect(zipped.headers.get('Vary')).toBe('Accept-Encoding');
});

test('answers HEAD like GET, and rejects other methods', async () => {
  const head = await get('/', {}, 'HEAD');
  expect([head.status, await head.text()]).toEqual([200, '']);
  const post = await get('/sign-in', {}, 'POST');
  expect([post.status, post.headers.get('Allow')]).toEqual([405, 'GET, HEAD']);
  expect(await post.json()).toMatchObject({ error: 'method_not_allowed' });
});

test('reads files again after a failed read', async () => {
  let tries = 0;
  const dashboard = createDashboard({
    load: async () => {
      if (++tries === 1) throw new Error('EMFILE');
      return pack;
    },
    docsUrl: 'https://docs.example.com',
    log,
  });
  const ask = async () => dashboard(new Request(new URL('/', built.url).href), built);
  await expect(ask()).rejects.toThrow('EMFILE');
  expect([(await ask())?.status, (await ask())?.status, tries]).toEqual([200, 200, 2]);
});

test('explains how to build the dashboard in a checkout without one', async () => {
  const page = await fetch(new URL('/', unbuilt.url));
  expect([page.status, await page.text()]).toEqual([503, expect.stringContaining('bun run build:dashboard')]);
  expect((await fetch(new URL('/assets/main-x.js', unbuilt.url))).status).toBe(404);
});
