import { expect, test } from 'bun:test';
import type { Page } from 'playwright-core';
import { sharedWorld } from './support/world.ts';

const world = sharedWorld(({ management }) => management.createProject('shop'));

/** What a page may find of an earlier one. */
const TRACES = `({
  cookies: document.cookie,
  local: localStorage.getItem('a'),
  session: sessionStorage.getItem('a'),
  script: typeof leftBehind,
  year: new Date().getFullYear(),
  width: innerWidth,
  isDark: matchMedia('(prefers-color-scheme: dark)').matches,
  isForced: matchMedia('(forced-colors: active)').matches,
  hovered: document.querySelectorAll('main :hover').length,
})`;

async function open(): Promise<Page> {
  const { page } = await world.open('/projects/shop/flags', { expected: /ERR_FAILED/ });
  await page.getByRole('heading', { name: 'No flags yet' }).waitFor();
  return page;
}

let untouched: unknown;
let heard = 0;
let left: Page;

/** Leaves what a test can take away by itself. */
async function leaveTraces(page: Page): Promise<void> {
  await page.route('**/api/projects/shop/flags*', (route) => route.abort());
  await page.context().route('**/api/session', (route) => route.abort());
  await page.emulateMedia({ colorScheme: 'dark', forcedColors: 'active' });
  await page.setViewportSize({ width: 500, height: 500 });
  await page.evaluate(`document.cookie = 'a=b'; localStorage.a = sessionStorage.a = 'b'`);
  await page.evaluate(`addEventListener('beforeunload', (event) => event.preventDefault())`);
  await page.mouse.move(250, 250);
  page.on('request', () => heard++);
  await page.reload();
  expect(heard).toBeGreaterThan(0);
  left = page;
}

test('a page leaves traces in its window', async () => {
  const page = await open();
  untouched = await page.evaluate(TRACES);
  await leaveTraces(page);
});

test('the next test finds none of them, in the same window', async () => {
  heard = 0;
  const page = await open();
  expect(await page.evaluate(TRACES)).toEqual(untouched);
  expect(page === left).toBe(true);
  expect(heard).toBe(0);
});

test('a page leaves traces that only Playwright takes away', async () => {
  const page = await open();
  await page.addInitScript('globalThis.leftBehind = true');
  await page.context().addInitScript('globalThis.leftBehind = true');
  await page.clock.setFixedTime('2001-01-01');
  await page.context().newPage();
  await leaveTraces(page);
  expect(await page.evaluate('[leftBehind, new Date().getFullYear()]')).toEqual([true, 2001]);
});

test('the next test finds none of these either', async () => {
  heard = 0;
  const page = await open();
  expect(await page.evaluate(TRACES)).toEqual(untouched);
  expect(page.context().pages()).toHaveLength(1);
  expect(page === left).toBe(false);
  expect(heard).toBe(0);
});

test.each(['localStorage', 'sessionStorage'])(
  'what a page of another server stores in %s is gone, too',
  async (store) => {
    const other = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: () => new Response('Other') });
    try {
      for (let rounds = 0; rounds < 2; rounds++) {
        const page = await open();
        await page.goto(other.url.href);
        expect(await page.evaluate(`${store}.getItem('a')`)).toBeNull();
        await page.evaluate(`${store}.setItem('a', 'b')`);
        await world.closePages();
      }
    } finally {
      await other.stop(true);
    }
  },
);

test('a second window beside the first has its own cookies, also when it is used again', async () => {
  for (const round of ['new', 'again']) {
    await open();
    const { page } = await world.open('/', { as: 'visitor', expected: /401/ });
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    expect([round, await page.evaluate('localStorage.a')]).toEqual([round, undefined]);
    await page.evaluate(`localStorage.a = 'b'`);
    await world.closePages();
  }
});
