import { expect, test } from 'bun:test';
import type { Page } from 'playwright-core';
import { sharedWorld } from './support/world.ts';

const world = sharedWorld(({ management }) => management.createProject('shop'));

/** What a page may find of an earlier one. */
const TRACES = `({
  cookies: document.cookie,
  local: localStorage.length,
  session: sessionStorage.length,
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

test('a page leaves traces in its window', async () => {
  const page = await open();
  untouched = await page.evaluate(TRACES);
  await page.addInitScript('globalThis.leftBehind = true');
  await page.context().addInitScript('globalThis.leftBehind = true');
  await page.route('**/api/projects/shop/flags*', (route) => route.abort());
  await page.context().route('**/api/session', (route) => route.abort());
  await page.clock.setFixedTime('2001-01-01');
  await page.emulateMedia({ colorScheme: 'dark', forcedColors: 'active' });
  await page.setViewportSize({ width: 500, height: 500 });
  await page.evaluate(`document.cookie = 'a=b'; localStorage.a = sessionStorage.a = 'b'`);
  await page.evaluate(`addEventListener('beforeunload', (event) => event.preventDefault())`);
  await page.mouse.move(250, 250);
  await page.reload();
  expect(await page.evaluate('[leftBehind, new Date().getFullYear()]')).toEqual([true, 2001]);
});

test('the next test finds none of them', async () => {
  const page = await open();
  expect(await page.evaluate(TRACES)).toEqual(untouched);
});

test('a second window beside the first has its own cookies', async () => {
  await open();
  const { page } = await world.open('/', { as: 'visitor', expected: /401/ });
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
});
