import { type NodeProcess, PATIENCE_MS } from '@halyard/testing';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { findBarriers } from './axe.ts';
import { openWindow } from './window.ts';

/** The administrator of a test's node. */
export const ADMIN = {
  email: 'ada@example.com',
  name: 'Ada Lovelace',
  password: 'correct horse battery',
} as const;

/** A page of the server that does nothing: for tests that prepare the window before they go on to a screen. */
export const BLANK = '/healthz';

/** The browser that opens a page. */
export interface OpenOptions {
  readonly theme?: 'light' | 'dark';
  /** Width of the window; 390 is a phone. Default 1280. */
  readonly width?: number;
  readonly height?: number;
  /** The signed-in person, or a `visitor` without a session. Default: the administrator, with one session for all pages. */
  readonly as?: { readonly email: string; readonly password: string } | 'visitor';
  /** Console errors that the test expects, such as the 412 of a refused request. */
  readonly expected?: RegExp;
  /** Default: `reduce`. */
  readonly reducedMotion?: 'reduce' | 'no-preference';
  /** Whether the page fetches the parts of other screens when it is idle, which costs as much as a tenth of its opening. Default: not. */
  readonly fetchesAhead?: boolean;
  /** A screen that is touched, where nothing hovers. */
  readonly isTouched?: boolean;
  /** The browser's language. Default `en-US`. */
  readonly locale?: string;
}

/** A page with its own window and cookies. */
export interface OpenedPage {
  readonly page: Page;
  readonly context: BrowserContext;
  /** Console errors, page errors and refusals of the policy so far. */
  readonly complaints: readonly string[];
  /** Rejects if the console has errors, axe finds an accessibility problem, or the page scrolls sideways. */
  check(): Promise<void>;
  /** Ends it, whatever it is doing. Safe to call twice; the end of the test does it. */
  close(): Promise<void>;
}

/** Resolves when all fade-ins have ended: half-visible elements have half their contrast. */
const ENTERED = `Promise.allSettled(
  document.getAnimations().filter(({ effect }) => effect.getComputedTiming().endTime < 500).map((each) => each.finished),
).then(() => undefined)`;

/**
 * A part that was still loading when a test left its page. A part that the server does not have, or that the network
 * loses, is a console error of the request, too.
 */
const LEFT_WHILE_LOADING = /Failed to fetch dynamically imported module/;

/** Ends what waits for a quiet moment. */
const NEVER_IDLE = 'window.requestIdleCallback = () => 0';

/** Opens an address as {@link OpenOptions} say. */
export async function openPage(
  options: OpenOptions & { readonly browser: Browser; readonly node: NodeProcess; readonly path: string },
): Promise<OpenedPage> {
  const { browser, node, path, theme = 'light', width = 1280, height = 800, as = ADMIN } = options;
  const { context, page, close } = await openWindow(browser, {
    viewport: { width, height },
    colorScheme: theme,
    baseURL: node.url,
    reducedMotion: options.reducedMotion ?? 'reduce',
    locale: options.locale ?? 'en-US',
    isTouched: options.isTouched ?? false,
    script: options.fetchesAhead === true ? undefined : NEVER_IDLE,
  });
  // Enough for a busy machine; a wait that fails names the element it waited for.
  context.setDefaultTimeout(PATIENCE_MS);
  const complaints: string[] = [];
  page.on('console', (message) => {
    const text = `${message.text()} (${message.location().url})`;
    if (message.type() !== 'error' || LEFT_WHILE_LOADING.test(text)) return;
    if (options.expected?.test(text) !== true) complaints.push(text);
  });
  page.on('pageerror', (error) => complaints.push(String(error)));

  try {
    if (as === ADMIN) await signInAdministrator(context, node);
    else if (as !== 'visitor') await signIn(context, as);
    await page.goto(path);
  } catch (error) {
    await close();
    throw error;
  }

  return {
    page,
    context,
    complaints,
    close,
    check: async () => {
      // A part that comes in the meantime fades in, too: only problems that stay count.
      for (let attempts = 1; ; attempts++) {
        await page.evaluate(ENTERED);
        const found = [...complaints, ...(await findBarriers(page)), ...(await findOverflow(page))];
        if (found.length === 0) return;
        if (attempts === 3) throw new Error(found.join('\n'));
      }
    },
  };
}

/** The administrator's cookie, per node: a password takes as long as opening a page. */
const signedIn = new WeakMap<NodeProcess, Cookies>();

type Cookies = Awaited<ReturnType<BrowserContext['cookies']>>;

/** Signs the administrator in, with an earlier session that still holds or with a new one. */
async function signInAdministrator(context: BrowserContext, node: NodeProcess): Promise<void> {
  const known = signedIn.get(node);
  if (known !== undefined) {
    const cookie = known.map(({ name, value }) => `${name}=${value}`).join('; ');
    const isValid = (await fetch(`${node.url}/api/projects`, { headers: { cookie } })).ok;
    if (isValid) return context.addCookies(known);
  }
  await signIn(context, ADMIN);
  signedIn.set(node, await context.cookies());
}

/** A server may close a connection at the moment that its next request is sent. A browser tries again by itself. */
export const KEPT_ALIVE = { maxRetries: 1 } as const;

/** Signs in through the API, with the cookie that a browser would get. */
async function signIn(
  context: BrowserContext,
  { email, password }: { readonly email: string; readonly password: string },
): Promise<void> {
  const response = await context.request.post('/api/session', { data: { email, password }, ...KEPT_ALIVE });
  if (!response.ok()) throw new Error(`signing in answered ${response.status()}: ${await response.text()}`);
}

async function findOverflow(page: Page): Promise<string[]> {
  const excess = await page.evaluate(
    'document.documentElement.scrollWidth - document.documentElement.clientWidth',
  );
  return Number(excess) > 0 ? [`the page is ${excess} px too wide`] : [];
}
