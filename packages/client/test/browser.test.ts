import { afterAll, beforeAll, expect, test } from 'bun:test';
import { join } from 'node:path';
import { type CreatedKey, Management, type NodeProcess, startNode, until } from '@halyard/testing';
import { launchBrowser } from '@halyard/testing/browser';
import type { Browser, Page } from 'playwright-core';
import { createElement, StrictMode } from 'react';
import { renderToString } from 'react-dom/server';
import { createFlagsHandler, type FlagsHandler } from '../src/handler.ts';
import { createClient, type FlagsClient } from '../src/index.ts';
import { FlagsProvider } from '../src/react.ts';
import { type BuiltPackage, builtPackage } from './support/built-package.ts';

const CLI = join(import.meta.dir, '../../server/src/main.ts');

let node: NodeProcess;
let management: Management;
let key: CreatedKey;
let built: BuiltPackage;
let browser: Browser;
let upstream: FlagsClient;
let handler: FlagsHandler;
let application: Bun.Server<undefined>;

beforeAll(async () => {
  [node, built, browser] = await Promise.all([startNode(), builtPackage(), launchBrowser()]);
  management = new Management(node);
  await management.createProject('shop');
  key = await management.createKey('shop', ['production']);
  await management.putState('shop', 'production', 'new-checkout', { enabled: true });
  upstream = createClient({ apiKey: key.key, environment: 'production', baseUrl: node.url });
  handler = createFlagsHandler({ client: upstream });
  await upstream.ready();
  application = await serveApplication();
}, 120_000);
afterAll(async () => {
  await browser.close();
  handler.close();
  await application.stop(true);
  await upstream.close();
  await node.stop();
});

/** An application with server rendering: the page, its script (made of the built package), and the handler. */
async function serveApplication(): Promise<Bun.Server<undefined>> {
  const entry = join(built.application, 'page.jsx');
  await Bun.write(entry, Bun.file(join(import.meta.dir, 'fixtures/page.jsx')));
  const script = await Bun.build({
    entrypoints: [entry],
    target: 'browser',
    define: { 'process.env.NODE_ENV': '"development"' },
  });
  const code = await script.outputs[0]?.text();
  const panel = await panelScript();
  const { App } = await import(join(import.meta.dir, 'fixtures/page.jsx'));
  return Bun.serve({
    port: 0,
    idleTimeout: 0,
    fetch: async (request) => {
      const { pathname } = new URL(request.url);
      if (pathname.startsWith('/flags/')) return await handler(request);
      if (pathname === '/page.js')
        return new Response(code, { headers: { 'Content-Type': 'text/javascript' } });
      if (pathname === '/panel') return await panelPage();
      if (pathname === '/panel.js')
        return new Response(panel, { headers: { 'Content-Type': 'text/javascript' } });
      if (pathname !== '/') return new Response(null, { status: 404 });
      const bootstrap = upstream.toBootstrap();
      const client = createClient({ apiKey: false, environment: 'production', mode: 'manual', bootstrap });
      const tree = createElement(FlagsProvider, { client }, createElement(App));
      const markup = renderToString(createElement(StrictMode, null, tree));
      const data = JSON.stringify(bootstrap).replaceAll('<', '\\u003c');
      return new Response(
        `<!doctype html><link rel=icon href=data:,><div id=root>${markup}</div><script>bootstrap=${data}</script><script type=module src=/page.js></script>`,
        { headers: { 'Content-Type': 'text/html; charset=utf-8' } },
      );
    },
  });
}

/** A script that shows a flag which can be overridden, and opens the panel. */
async function panelScript(): Promise<string | undefined> {
  const entry = join(built.application, 'panel.ts');
  await Bun.write(
    entry,
    `import { createClient } from '@halyard/client';
    import { overrideFlags } from '@halyard/client/override';
    const client = createClient({ apiKey: false, environment: 'production', baseUrl: '/flags' });
    const flags = overrideFlags(client, { enabled: true });
    const show = () => { document.title = String(flags.isEnabled('new-checkout')); };
    flags.onChange(show);
    await flags.ready();
    show();
    await flags.overrides.openPanel();`,
  );
  const script = await Bun.build({ entrypoints: [entry], target: 'browser' });
  return script.outputs[0]?.text();
}

/** A page whose policy allows neither inline styles nor HTML made of text. */
async function panelPage(): Promise<Response> {
  return new Response(
    '<!doctype html><link rel=icon href=data:,><body><script type=module src=/panel.js></script>',
    {
      headers: {
        'Content-Type': 'text/html',
        'Content-Security-Policy':
          "default-src 'self'; img-src data:; trusted-types 'none'; require-trusted-types-for 'script'",
      },
    },
  );
}

/** Odd: the last leaves the flag off. */
const FLIPS = 5;

/** Flips the flag as a person does, and waits until the page shows it. */
async function flipByCli(page: Page, expected: 'old' | 'new'): Promise<void> {
  const shown = page.waitForFunction(
    `document.querySelector('#checkout')?.textContent === '${expected} checkout'`,
    undefined,
    { polling: 'raf' },
  );
  const command = ['flag', 'set', 'new-checkout', '--project', 'shop', '--env', 'production'];
  const child = Bun.spawn([process.execPath, CLI, ...command, expected === 'new' ? '--on' : '--off'], {
    env: { ...process.env, HALYARD_URL: node.url, HALYARD_TOKEN: node.adminToken },
    stdout: 'ignore',
    stderr: 'pipe',
  });
  expect({ exitCode: await child.exited, said: await new Response(child.stderr).text() }).toMatchObject({
    exitCode: 0,
  });
  await shown;
}

test('a page is rendered on the server, hydrated without a mismatch, and follows a flag', async () => {
  const page = await browser.newPage();
  const complaints: string[] = [];
  page.on(
    'console',
    (message) => message.type() !== 'info' && message.type() !== 'debug' && complaints.push(message.text()),
  );
  page.on('pageerror', (error) => complaints.push(String(error)));
  const requested: string[] = [];
  page.on('request', (request) => requested.push(`${request.url()} ${JSON.stringify(request.headers())}`));

  const first = await page.goto(application.url.href);
  expect(await first?.text()).toContain('new checkout');
  await page.waitForFunction(
    `document.title === 'hydrated' && document.querySelector('#status')?.textContent === 'ready'`,
  );
  expect(await page.textContent('#checkout')).toBe('new checkout');
  await page.waitForFunction(`gate.includes('true true')`);
  expect(new Set((await page.evaluate('gate')) as string[])).toEqual(new Set(['false false', 'true true']));

  for (let flip = 0; flip < FLIPS; flip++) await flipByCli(page, flip % 2 === 0 ? 'old' : 'new');

  const before = await page.evaluate('renders');
  await management.putState('shop', 'production', 'size', { enabled: true, value: 25 });
  await page.waitForFunction(`document.querySelector('#size')?.textContent === '25'`);
  const after = await page.evaluate('renders');
  expect((after as Record<string, number>).checkout).toBe(
    (before as Record<string, number>).checkout as number,
  ); // not rendered again
  await page.click('button');
  await page.click('button');
  expect(await page.locator('#size').count()).toBe(2);

  expect(await page.evaluate('recoverable')).toEqual([]);
  expect(complaints).toEqual([]);
  expect(requested.join()).not.toContain(key.key);
  expect(await page.content()).not.toContain(key.key);
  const streams = requested.filter((each) => each.includes('/flags/v1/stream'));
  expect(streams).toHaveLength(1); // StrictMode mounts twice, the stream is opened once
  await page.close();
}, 60_000);

test('a page whose application was away finds it again', async () => {
  const page = await browser.newPage();
  await page.goto(application.url.href);
  await page.waitForFunction(`document.querySelector('#status')?.textContent === 'ready'`);
  const lost = page.waitForRequest((request) => request.url().includes('/v1/stream'));
  handler.close();
  await lost;
  await management.putState('shop', 'production', 'size', { enabled: true, value: 99 });
  await page.waitForFunction(`document.querySelector('#size')?.textContent === '99'`);
  await page.close();
}, 60_000);

test('the core works in a page on an address of another origin that allows it', async () => {
  const cors = { 'Access-Control-Allow-Origin': '*', 'Access-Control-Expose-Headers': 'X-Flags-Revision' };
  const other = Bun.serve({
    port: 0,
    idleTimeout: 0,
    fetch: async (request) => {
      const response = await handler(request);
      for (const [name, value] of Object.entries(cors)) response.headers.set(name, value);
      return response;
    },
  });
  const core = await Bun.build({
    entrypoints: [join(built.folder, 'index.js')],
    target: 'browser',
    format: 'esm',
  });
  const page = await browser.newPage();
  await page.goto(application.url.href);
  const result = await page.evaluate(
    async ([code, baseUrl]) => {
      const { createClient: create } = await import(
        URL.createObjectURL(new Blob([code ?? ''], { type: 'text/javascript' }))
      );
      const client = create({ apiKey: false, environment: 'production', baseUrl });
      const { status } = await client.ready();
      const value = client.getState('new-checkout');
      await client.close();
      return { status, value, revision: client.revision > 0 };
    },
    [await core.outputs[0]?.text(), other.url.href] as const,
  );
  expect(result).toEqual({ status: 'ready', value: { enabled: false }, revision: true });
  await page.close();
  await other.stop(true);
}, 60_000);

test('a page reads a published environment of another origin, without a request before the request', async () => {
  const flags = { 'new-checkout': { enabled: true } };
  const pointer = { version: 1, environmentId: '1', revision: 7, checkedAt: new Date().toISOString() };
  const seen: string[] = [];
  const storage = Bun.serve({
    port: 0,
    fetch: (request) => {
      const name = new URL(request.url).pathname;
      seen.push(`${request.method} ${name} ${request.headers.get('If-None-Match')}`);
      const isPointer = name === '/shop/production/pointer.json';
      const isKnown = isPointer && request.headers.get('If-None-Match') === '"1"';
      const body = isPointer ? { ...pointer, object: '7-0a.json' } : { environment: 'production', flags };
      return new Response(isKnown ? null : JSON.stringify(body), {
        status: isKnown ? 304 : 200,
        headers: { ETag: '"1"', 'Cache-Control': 'public, max-age=1', 'Access-Control-Allow-Origin': '*' },
      });
    },
  });

  const entry = await Bun.build({
    entrypoints: [join(built.folder, 'published.js')],
    target: 'browser',
    format: 'esm',
  });

  const page = await browser.newPage();
  await page.goto(application.url.href);
  const result = await page.evaluate(
    async ([code, baseUrl]) => {
      const { createPublishedClient: create } = await import(
        URL.createObjectURL(new Blob([code ?? ''], { type: 'text/javascript' }))
      );
      const client = create({ baseUrl, mode: 'manual' });
      const { status } = await client.ready();
      const isCurrent = await client.refresh();
      return { status, isCurrent, isOn: client.isEnabled('new-checkout'), revision: client.revision };
    },
    [await entry.outputs[0]?.text(), `${storage.url}shop/production`] as const,
  );

  expect(result).toEqual({ status: 'ready', isCurrent: true, isOn: true, revision: 7 });
  // The browser asks whether what it has kept is the newest.
  expect(seen).toEqual([
    'GET /shop/production/pointer.json null',
    'GET /shop/production/7-0a.json null',
    'GET /shop/production/pointer.json "1"',
  ]);

  await page.close();
  await storage.stop(true);
}, 60_000);

test('the provider that OpenFeature publishes follows flags through the handler, without a key in the page', async () => {
  for (const [name, state] of Object.entries({
    banner: { enabled: true, value: 'hello' },
    rollout: { enabled: true, rolloutPct: 50 },
    'internal-x': { enabled: true, value: 'not for pages' },
    'new-checkout': { enabled: true },
  }))
    await management.putState('shop', 'production', name, state);

  const entry = join(built.application, 'openfeature-page.js');
  await Bun.write(entry, Bun.file(join(import.meta.dir, 'fixtures/openfeature-page.js')));
  const script = await Bun.build({ entrypoints: [entry], target: 'browser', format: 'esm' });
  const code = await script.outputs[0]?.text();

  const ofrep = createFlagsHandler({
    client: upstream,
    expose: (name) => !name.startsWith('internal-'),
    authorize: (request) => request.headers.get('Cookie') === 'session=1',
  });
  const shop = Bun.serve({
    port: 0,
    idleTimeout: 0,
    routes: {
      '/flags/*': ofrep,
      '/page.js': () => new Response(code, { headers: { 'Content-Type': 'text/javascript' } }),
      '/': () =>
        new Response(
          '<!doctype html><link rel=icon href=data:,><body></body><script type=module src=/page.js></script>',
          {
            headers: { 'Content-Type': 'text/html', 'Set-Cookie': 'session=1; HttpOnly; SameSite=Strict' },
          },
        ),
    },
  });

  const page = await browser.newPage();
  try {
    const complaints: string[] = [];
    page.on('pageerror', (error) => complaints.push(String(error)));
    const requested: string[] = [];
    page.on('request', async (request) =>
      requested.push(
        `${request.method()} ${request.url()} ${JSON.stringify(request.headers())} ${request.postData()}`,
      ),
    );

    /** Waits until the page shows these flags. */
    const shows = (expected: object) =>
      page.waitForFunction(
        `Object.entries(${JSON.stringify(expected)}).every(
          ([name, value]) => JSON.parse(document.body.textContent || '{}')[name] === value)`,
        undefined,
        { polling: 'raf' },
      );

    const opened = page.waitForRequest((request) => request.url().endsWith('/ofrep/v1/stream'));
    await page.goto(shop.url.href);
    await shows({ checkout: true, banner: 'hello', rollout: 'SPLIT', internal: 'FLAG_NOT_FOUND' });
    await opened;

    await management.putState('shop', 'production', 'banner', { enabled: true, value: 'changed' });
    await shows({ banner: 'changed' });
    await management.putState('shop', 'production', 'new-checkout', { enabled: false });
    await shows({ checkout: false });
    const again = page.waitForRequest((request) => request.url().endsWith('/ofrep/v1/stream'));
    ofrep.close();
    await management.putState('shop', 'production', 'banner', { enabled: true, value: 'changed in between' });
    await again;
    await shows({ banner: 'changed in between' });
    await page.evaluate('OpenFeature.setContext({})');
    await shows({ rollout: 'ERROR' });

    expect(complaints).toEqual([]);
    const stored = await page.evaluate('JSON.stringify(localStorage)');
    const seen = [...requested, await page.content(), String(stored), code].join();
    expect(seen).not.toContain(key.key);
    expect(seen).not.toContain('not for pages');
    expect(requested.filter((each) => each.includes('/ofrep/v1/evaluate/flags')).length).toBeGreaterThan(3);
    expect(requested.join()).not.toMatch(/x-service-key|authorization|x-api-key/i);
  } finally {
    await page.close();
    ofrep.close();
    await shop.stop(true);
  }
}, 60_000);

test('the panel of overrides forces a flag in this browser alone, under a strict policy', async () => {
  await management.putState('shop', 'production', 'new-checkout', { enabled: true });
  const context = await browser.newContext();
  const page = await context.newPage();
  const problems: string[] = [];
  page.on('console', (message) => problems.push(message.text()));
  page.on('pageerror', (error) => problems.push(String(error)));
  // Nothing that polls inside the page may: the policy forbids to evaluate text.
  const shows = (value: string) =>
    until(`the page shows ${value}`, async () => (await page.title()) === value);
  await page.goto(`${application.url}panel`);
  await shows('true');

  await page.getByLabel('new-checkout').selectOption('off');
  await shows('false');
  expect(problems).toEqual([]);
  expect(upstream.isEnabled('new-checkout')).toBe(true);

  // The next page of this browser keeps it, and says so.
  await page.reload();
  await shows('false');
  expect(problems.join()).toContain('overridden here only: new-checkout');
  await page.getByRole('button', { name: 'Clear all' }).click();
  await shows('true');
  await page.getByRole('button', { name: 'Close' }).click();
  expect(await page.getByRole('dialog').count()).toBe(0);
  await context.close();
}, 60_000);
