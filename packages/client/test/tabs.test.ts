import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test';
import { join } from 'node:path';
import { type CreatedKey, Management, type NodeProcess, startNode, until } from '@halyard/testing';
import { launchBrowser } from '@halyard/testing/browser';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { createFlagsHandler, type FlagsHandler } from '../src/handler.ts';
import { createClient, type FlagsClient } from '../src/index.ts';
import { type BuiltPackage, builtPackage } from './support/built-package.ts';

/** Browsers open at most six connections to an origin over HTTP/1.1. */
const TABS = 8;

let node: NodeProcess;
let management: Management;
let key: CreatedKey;
let built: BuiltPackage;
let browser: Browser;
let upstream: FlagsClient;
let handler: FlagsHandler;
let application: Bun.Server<undefined>;
let context: BrowserContext;
let size = 0;
/** Streams opened so far, and those that are open. */
let opened = 0;
const streams = new Set<Request>();
/** The tab that opened the newest stream. */
let leader: Page | undefined;
/** What the application answers instead of a stream, if anything. */
let refuseStream: (() => Response | Promise<Response>) | undefined;
/** When a tab that hangs is answered. */
let released = Promise.resolve();

beforeAll(async () => {
  [node, built, browser] = await Promise.all([startNode(), builtPackage(), launchBrowser()]);
  management = new Management(node);
  await management.createProject('shop');
  key = await management.createKey('shop', ['production']);
  upstream = createClient({ apiKey: key.key, environment: 'production', baseUrl: node.url });
  await setSize();
  await upstream.ready();
  handler = createFlagsHandler({ client: upstream });
  application = await serveApplication();
}, 120_000);
afterEach(async () => {
  refuseStream = undefined;
  leader = undefined;
  await context.close();
});
afterAll(async () => {
  await browser.close();
  handler.close();
  await application.stop(true);
  await upstream.close();
  await node.stop();
});

/** An application over HTTP/1.1: the page, its scripts as a bundler splits them, and the handler, on one origin. */
async function serveApplication(): Promise<Bun.Server<undefined>> {
  const entry = join(built.application, 'tab.js');
  await Bun.write(
    entry,
    `import { createClient } from '@halyard/client';
     const options = { requestTimeoutMs: 30_000, ...window.options };
     window.client = createClient({ apiKey: false, environment: 'production', baseUrl: '/flags', ...options });
     window.errors = [];
     window.client.onStatus(() => {});`,
  );

  const { outputs } = await Bun.build({
    entrypoints: [entry],
    target: 'browser',
    splitting: true,
    modulePreload: false,
    naming: { entry: 'tab.js', chunk: '[name]-[hash].js' },
  });
  const scripts = new Map(
    await Promise.all(
      outputs.map(async (output) => [output.path.replace(/^\.?\/?/, '/'), await output.text()] as const),
    ),
  );

  return Bun.serve({
    port: 0,
    idleTimeout: 0,
    fetch: async (request) => {
      const { pathname } = new URL(request.url);
      const code = scripts.get(pathname);
      if (code) return new Response(code, { headers: { 'Content-Type': 'text/javascript' } });
      if (pathname === '/flags/v1/stream') {
        if (refuseStream) return await refuseStream();

        const response = await handler(request);
        opened++;
        streams.add(request);
        const end = () => streams.delete(request);
        request.signal.addEventListener('abort', end);
        return new Response(
          response.body?.pipeThrough(new TransformStream({ flush: () => void end() })),
          response,
        );
      }

      if (pathname.startsWith('/flags/')) return await handler(request);
      if (pathname === '/hang') return await released.then(() => new Response());
      return new Response(
        '<!doctype html><link rel=icon href=data:,><script type=module src=/tab.js></script>',
        { headers: { 'Content-Type': 'text/html' } },
      );
    },
  });
}

/** Changes a flag on the node, and gives its new value. */
async function setSize(): Promise<number> {
  await management.putState('shop', 'production', 'size', { enabled: true, value: ++size });
  return size;
}

/** Opens tabs one after the other, each when the one before shows the flags. */
async function openTabs(count: number, script?: string): Promise<Page[]> {
  context = await browser.newContext();
  if (script) await context.addInitScript(script);
  const tabs: Page[] = [];
  for (let i = 0; i < count; i++) {
    const tab = await context.newPage();
    tab.on('request', (request) => {
      if (request.url().endsWith('/flags/v1/stream?changes=1&env=production')) leader = tab;
    });
    await tab.goto(application.url.href);
    tabs.push(tab);
    await allShow([tab], size);
  }
  return tabs;
}

async function allShow(tabs: readonly Page[], value: number): Promise<void> {
  await Promise.all(
    tabs.map((tab) =>
      tab.waitForFunction(`window.client?.status === 'ready' && client.getValue('size', 0) === ${value}`),
    ),
  );
}

/** Waits until one stream is open, and no other. */
async function untilOneStream(): Promise<void> {
  await until('one stream is open', () => streams.size === 1);
}

/** Waits until a stream is opened, when so many had been before. */
async function untilOpened(before: number): Promise<void> {
  await until('a stream is opened', () => opened > before);
}

/** The tab with the stream, and the others. */
function tabsByRole(tabs: readonly Page[]): readonly [leader: Page, others: Page[]] {
  if (leader === undefined) throw new Error('no tab has opened a stream');
  return [leader, tabs.filter((tab) => tab !== leader)];
}

test('eight tabs of a site on HTTP/1.1 all load, and all see a change at once', async () => {
  const before = opened;
  const tabs = await openTabs(TABS);
  await allShow(tabs, await setSize());
  expect(opened).toBe(before + 1);
  await untilOneStream();
}, 60_000);

const HIDE = `Object.defineProperty(document, 'hidden', { value: true, configurable: true });
  document.dispatchEvent(new Event('visibilitychange'))`;
const SHOW = `delete document.hidden; document.dispatchEvent(new Event('visibilitychange'))`;

test.each([
  ['is closed', (leader: Page) => leader.close()],
  ['closes its client', (leader: Page) => leader.evaluate('client.close()')],
  ['goes to another page', (leader: Page) => leader.goto('about:blank')],
])(
  'when the tab with the stream %s, another one takes over',
  async (_, leave) => {
    const tabs = await openTabs(3);
    const before = opened;
    const [leader, others] = tabsByRole(tabs);
    await leave(leader);
    await allShow(others, await setSize());
    expect(opened).toBe(before + 1);
    await untilOneStream();
  },
  60_000,
);

test('when the tab with the stream is hidden, another one takes over, and both see a change', async () => {
  const tabs = await openTabs(2);
  const before = opened;
  await tabsByRole(tabs)[0].evaluate(HIDE);
  await untilOpened(before);
  await allShow(tabs, await setSize());
  await untilOneStream();
}, 60_000);

test('when the tab with the stream hangs, another one that is shown takes over', async () => {
  const tabs = await openTabs(2, 'window.options = { requestTimeoutMs: 500 }');
  const before = opened;
  const [leader, others] = tabsByRole(tabs);
  const hang = Promise.withResolvers<void>();
  released = hang.promise;
  await leader.evaluate(`setTimeout(() => {
    const request = new XMLHttpRequest();
    request.open('GET', '/hang', false);
    request.send();
  })`);
  await others[0]?.evaluate(SHOW);
  await untilOpened(before);
  await allShow(others, await setSize());
  hang.resolve();
  await allShow(tabs, await setSize());
  await untilOneStream();
}, 60_000);

test('a page that is left gives up its stream for another tab, and follows again when it comes back', async () => {
  const tabs = await openTabs(2);
  const before = opened;
  const [leaving, others] = tabsByRole(tabs);
  await leaving.evaluate(`dispatchEvent(new PageTransitionEvent('pagehide', { persisted: true }))`);
  await allShow(others, await setSize());
  await untilOpened(before);
  await untilOneStream();
  expect(
    await others[0]?.evaluate(
      `navigator.locks.query().then(({ held, pending }) => [held.length, pending.length])`,
    ),
  ).toEqual([1, 0]);
  await leaving.evaluate(`dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }))`);
  await allShow(tabs, await setSize());
  expect(opened).toBe(before + 1);
  await untilOneStream();
}, 60_000);

test.each([
  ['whose network is back', `dispatchEvent(new Event('online'))`],
  ['that was frozen', `document.dispatchEvent(new Event('resume'))`],
])(
  'the tab with the stream, %s, opens a new one at once',
  async (_, event) => {
    const tabs = await openTabs(2);
    const before = opened;
    const [leader, others] = tabsByRole(tabs);
    // Last, because a tab that has already taken over would open another one.
    for (const tab of [...others, leader]) await tab.evaluate(event);
    await untilOpened(before);
    await allShow(tabs, await setSize());
    // Each tab hears of it; on a busy machine the stream may change hands first.
    expect(opened).toBeGreaterThan(before);
    await untilOneStream();
  },
  60_000,
);

test('when the stream breaks, one tab opens the next one for all', async () => {
  const tabs = await openTabs(3);
  const before = opened;
  handler.close();
  await untilOpened(before);
  await allShow(tabs, await setSize());
  expect(opened).toBe(before + 1);
  await untilOneStream();
}, 60_000);

test('when the stream breaks, a tab that waits knows, also while the next one does not open', async () => {
  const tabs = await openTabs(
    3,
    'window.codes = []; window.options = { onError: ({ code }) => codes.push(code) }',
  );
  // Every tab follows the one with the stream.
  await allShow(tabs, await setSize());
  const { promise, resolve } = Promise.withResolvers<Response>();
  refuseStream = () => promise;
  handler.close();
  // The one that takes over may begin before it hears of it.
  await until('two of three know', async () => {
    const known = await Promise.all(tabs.map((tab) => tab.evaluate(`codes.includes('stream_error')`)));
    return known.filter(Boolean).length >= 2;
  });
  resolve(new Response(null, { status: 503 }));
}, 60_000);

test('when the stream is refused, tabs ask by REST, and share a stream once there is one', async () => {
  const tabs = await openTabs(2);
  refuseStream = () => new Response(null, { status: 503 });
  handler.close();
  await Promise.all(tabs.map((tab) => tab.waitForFunction(`client.refresh().then(() => true)`)));
  refuseStream = undefined;
  await allShow(tabs, await setSize());
  await untilOneStream();
}, 60_000);

test.each([
  ['without Web Locks', `Object.defineProperty(navigator, 'locks', { value: undefined })`],
  ['with headers of its own', `window.options = { headers: { 'X-Requested-With': 'page' } }`],
])(
  '%s a tab gives its stream up while it is hidden',
  async (_, script) => {
    const [tab] = (await openTabs(1, script)) as [Page];
    await untilOneStream();
    await tab.evaluate(HIDE);
    await until('the stream is given up', () => streams.size === 0);
    await setSize();
    await tab.evaluate(SHOW);
    await allShow([tab], size);
    await untilOneStream();
  },
  60_000,
);
