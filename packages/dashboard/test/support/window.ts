import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';

/** A window with its own cookies. */
export interface Window {
  readonly context: BrowserContext;
  readonly page: Page;
  /** Ends what the page does. Safe to call twice. */
  close(): Promise<void>;
}

/**
 * How Playwright runs test after test in one window: it forgets cookies, storage, routes, scripts, listeners and the
 * clock, and keeps the process with its compiled scripts. Its types leave these two out; `window.test.ts` proves what
 * we need of them.
 */
interface Reusable {
  _newContextForReuse(options: BrowserContextOptions): Promise<BrowserContext>;
  _disconnectFromReusedContext(reason: string): Promise<void>;
}

/** Browsers whose reusable window is in use. */
const taken = new WeakSet<Browser>();

/**
 * Opens an empty window: the one that tests use one after the other, or a new one beside it. A new one costs twice the
 * processor time of a page. Windows with another language or a touch screen are always new.
 */
export async function openWindow(browser: Browser, options: BrowserContextOptions): Promise<Window> {
  const isSpecial = options.locale !== 'en-US' || options.hasTouch === true;
  return isSpecial || taken.has(browser) ? newWindow(browser, options) : reusedWindow(browser, options);
}

async function newWindow(browser: Browser, options: BrowserContextOptions): Promise<Window> {
  const context = await browser.newContext(options);
  return { context, page: await context.newPage(), close: () => context.close() };
}

async function reusedWindow(browser: Browser, options: BrowserContextOptions): Promise<Window> {
  // Playwright 1.65.1 has them: see above.
  const reusable = browser as Browser & Reusable;
  taken.add(browser);
  const context = await reusable._newContextForReuse(options);
  const page = context.pages()[0] ?? (await context.newPage());

  let isOpen = true;
  const close = async () => {
    if (!isOpen) return;
    isOpen = false;
    if (!page.isClosed()) await page.goto('about:blank');
    await reusable._disconnectFromReusedContext('the test has ended');
    taken.delete(browser);
  };
  return { context, page, close };
}
