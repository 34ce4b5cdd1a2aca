import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { AXE_AHEAD } from './axe.ts';

/** A window with its own cookies. */
export interface Window {
  readonly context: BrowserContext;
  readonly page: Page;
  /** Ends what the page does. Safe to call twice. */
  close(): Promise<void>;
}

/** What a window looks like, and what it is for. */
export interface WindowOptions {
  /** The server, such as `http://127.0.0.1:4000`. */
  readonly baseURL: string;
  readonly viewport: { readonly width: number; readonly height: number };
  readonly colorScheme: 'light' | 'dark';
  readonly reducedMotion: 'reduce' | 'no-preference';
  readonly locale: string;
  readonly isTouched: boolean;
  /** Runs in every page, before its own scripts. */
  readonly script?: string | undefined;
}

/** A window that can be emptied for the next test. */
interface Kept {
  /** What cannot change in a window that exists. */
  readonly kind: string;
  readonly baseURL: string;
  readonly context: BrowserContext;
  readonly page: Page;
  /** Whether it is the one that Playwright can empty completely. */
  readonly isReusable: boolean;
  hasRoutes: boolean;
  /** Whether a test did something that `empty` cannot undo. */
  isMarked: boolean;
}

/**
 * How Playwright runs test after test in one window: it forgets scripts, the clock and all that `empty` forgets.
 * Its types leave these two out; `window.test.ts` proves what we need of them.
 */
interface Reusable {
  _newContextForReuse(options: BrowserContextOptions): Promise<BrowserContext>;
  _disconnectFromReusedContext(reason: string): Promise<void>;
}

/** A page of the server that does nothing, where a window forgets its storage by itself. */
const EMPTY = '/healthz?empty';
const FORGETS = `if (location.pathname + location.search === '${EMPTY}') {
  localStorage.clear();
  sessionStorage.clear();
}`;

interface Windows {
  /** Empty ones that no test uses. */
  readonly idle: Kept[];
  /** Whether the one that Playwright empties is open. */
  hasReusable: boolean;
}

const windows = new WeakMap<Browser, Windows>();

/**
 * Opens an empty window: one that an earlier test has used, or a new one, which costs several times the processor
 * time of a page. Windows with another language or a touch screen are always new.
 */
export async function openWindow(browser: Browser, options: WindowOptions): Promise<Window> {
  const open = windows.get(browser) ?? { idle: [], hasReusable: false };
  windows.set(browser, open);

  const kind = JSON.stringify([options.baseURL, options.locale, options.isTouched, options.script]);
  const found = open.idle.findLastIndex((each) => each.kind === kind);
  const [idle] = found === -1 ? [] : open.idle.splice(found, 1);
  if (idle !== undefined) await dress(idle, options);
  const window = idle ?? (await newWindow(browser, open, options, kind));

  let isOpen = true;
  const close = async () => {
    if (!isOpen) return;
    isOpen = false;
    if (await empty(window)) open.idle.push(window);
    else await discard(browser, open, window);
  };
  return { context: window.context, page: window.page, close };
}

async function newWindow(
  browser: Browser,
  open: Windows,
  options: WindowOptions,
  kind: string,
): Promise<Kept> {
  const { baseURL, viewport, colorScheme, reducedMotion, locale, isTouched } = options;
  for (const each of open.idle.splice(0)) await discard(browser, open, each);

  const isReusable = !open.hasReusable && !isTouched && locale === 'en-US';
  if (isReusable) open.hasReusable = true;
  // Playwright 1.65.1 has them: see above.
  const reusable = browser as Browser & Reusable;
  const settings = {
    baseURL,
    viewport,
    colorScheme,
    reducedMotion,
    locale,
    hasTouch: isTouched,
    isMobile: isTouched,
  };
  const context = await (isReusable ? reusable._newContextForReuse(settings) : browser.newContext(settings));
  for (const script of [FORGETS, AXE_AHEAD, options.script ?? '']) await context.addInitScript(script);
  const page = context.pages()[0] ?? (await context.newPage());

  const window: Kept = { kind, baseURL, context, page, isReusable, hasRoutes: false, isMarked: isTouched };
  watch(window);
  return window;
}

/** What a test does to a page or a window that outlives the page, and that has to be replaced after it. */
const MARKS = {
  context: ['addInitScript', 'exposeBinding', 'exposeFunction', 'grantPermissions', 'newCDPSession'],
  page: ['addInitScript', 'exposeBinding', 'exposeFunction', 'setExtraHTTPHeaders', 'close'],
  clock: ['install', 'pauseAt', 'setFixedTime', 'setSystemTime'],
} as const;

/** Notes what a test does that outlives its page. */
function watch(window: Kept): void {
  const { context, page, baseURL } = window;
  const mark = () => {
    window.isMarked = true;
  };
  for (const name of MARKS.context) noteCalls(context, name, mark);
  for (const name of MARKS.page) noteCalls(page, name, mark);
  for (const name of MARKS.clock) noteCalls(context.clock, name, mark);
  for (const each of [context, page])
    noteCalls(each, 'route', () => {
      window.hasRoutes = true;
    });
  // Another tab may be anywhere, and closing it in the middle of a navigation can hang.
  context.on('page', mark);
  // What another server stores in the browser is out of reach.
  page.on('framenavigated', (frame) => {
    const { origin } = new URL(frame.url());
    if (origin !== 'null' && origin !== baseURL) mark();
  });
}

function noteCalls(target: object, name: string, note: () => void): void {
  const original: unknown = Reflect.get(target, name);
  if (typeof original !== 'function') throw new Error(`Playwright has no ${name}`);
  Reflect.set(target, name, (...given: unknown[]) => {
    note();
    return Reflect.apply(original, target, given);
  });
}

/** What tests listen to. */
const EVENTS = {
  page: [
    'console',
    'pageerror',
    'request',
    'requestfinished',
    'requestfailed',
    'response',
    'dialog',
    'popup',
    'download',
  ],
  context: ['request', 'requestfinished', 'requestfailed', 'response'],
} as const;

/** Ends what the page does and forgets what it stored, for the next test. Resolves with whether that can be done here. */
async function empty(window: Kept): Promise<boolean> {
  const { context, page, baseURL } = window;
  for (const event of EVENTS.page) page.removeAllListeners(event);
  for (const event of EVENTS.context) context.removeAllListeners(event);
  if (window.isMarked) return false;

  if (window.hasRoutes) {
    await page.unrouteAll({ behavior: 'ignoreErrors' });
    await context.unrouteAll({ behavior: 'ignoreErrors' });
    window.hasRoutes = false;
  }
  await page.goto(`${baseURL}${EMPTY}`);
  await page.mouse.move(-1, -1);
  await context.clearCookies();
  return !window.isMarked;
}

/** Gives an empty window another look. */
async function dress({ page }: Kept, { viewport, colorScheme, reducedMotion }: WindowOptions): Promise<void> {
  await page.emulateMedia({ media: null, colorScheme, reducedMotion, forcedColors: null, contrast: null });
  const { width, height } = page.viewportSize() ?? {};
  if (width !== viewport.width || height !== viewport.height) await page.setViewportSize(viewport);
}

async function discard(browser: Browser, open: Windows, { context, page, isReusable }: Kept): Promise<void> {
  if (!isReusable) return context.close();
  open.hasReusable = false;
  if (!page.isClosed()) await page.goto('about:blank');
  // Playwright 1.65.1 has it: see above.
  await (browser as Browser & Reusable)._disconnectFromReusedContext('the test has ended');
}
