import { expect, test } from 'bun:test';
import type { Page } from 'playwright-core';
import { visit } from './support/visit.ts';
import { sharedWorld } from './support/world.ts';

const FLAGS = 60;

const world = sharedWorld(async ({ management }) => {
  await management.createProject('shop');
  const steps = Array.from({ length: FLAGS }, (_, index) => ({
    key: `checkout-flag-number-${index}`,
    state: { enabled: true, value: { limit: index } },
  }));
  await management.change('shop', 'staging', steps);
});

/** How many pixels of the window a list fills once the page is scrolled to it; all of them if it ends in the window. */
async function filledBy(page: Page, selector: string): Promise<number> {
  return Number(
    await page.evaluate(`(() => {
      const list = document.querySelector(${JSON.stringify(selector)});
      list.scrollIntoView({ block: 'start' });
      const { top, bottom } = list.getBoundingClientRect();
      return bottom <= innerHeight ? innerHeight : innerHeight - Math.max(0, top);
    })()`),
  );
}

/** 200 % of 1280 x 800, and the smallest window that has to work: 400 % of 1280 x 1024. (WCAG 1.4.10) */
const WINDOWS = [
  [640, 400],
  [320, 256],
] as const;

test.each(WINDOWS)(
  'at %d x %d the list of flags scrolls with its header, down to the last row, and never sideways',
  async (width, height) => {
    const { page, check } = await world.open('/projects/shop/flags', { width, height });
    const rows = page.locator('[data-row]');
    await rows.first().waitFor();
    expect(await filledBy(page, '[data-scroller]')).toBeGreaterThan(height * 0.8);
    await check();

    // The keys that move through the rows scroll the page, and the last row is drawn.
    await rows.first().getByRole('link').first().focus();
    for (const key of ['j', 'j', 'j', 'k']) await page.keyboard.press(key);
    await page.waitForFunction(`document.activeElement?.closest('[data-row]') !== null`);
    await page.evaluate(`document.querySelector('[data-scroller]').scrollIntoView({ block: 'end' })`);
    const last = page.locator(`[data-row="${FLAGS - 1}"]`);
    await last.waitFor();
    expect((await last.boundingBox())?.y).toBeLessThan(height);

    // A phone held sideways: no part of the page catches the finger, and two environments share a line.
    await page.setViewportSize({ width: 844, height: 390 });
    await page.evaluate(`document.querySelector('[data-scroller]').scrollIntoView({ block: 'start' })`);
    const [first, second] = ['development', 'staging'].map((name) =>
      page.getByRole('switch', { name: `checkout-flag-number-0 in ${name}` }),
    );
    await first?.waitFor();
    expect(await page.evaluate(`getComputedStyle(document.querySelector('[data-scroller]')).overflowY`)).toBe(
      'visible',
    );
    expect((await first?.boundingBox())?.y).toBe((await second?.boundingBox())?.y ?? Number.NaN);
  },
  120_000,
);

test('in small windows, every kind of screen scrolls with its header, and never sideways', async () => {
  const { page, check } = await world.open('/account', { width: 640, height: 400 });
  const screens = ['history', 'compare', 'schedules', 'clients', 'environments', 'settings', 'clean-up'];
  for (const path of ['flags/checkout-flag-number-1', ...screens]) {
    await visit(page, `/projects/shop/${path}`);
    await page.getByRole('heading', { level: 1 }).waitFor();
    await page.locator('main').getByRole('status', { name: 'Loading' }).waitFor({ state: 'detached' });
    for (const [width, height] of WINDOWS) {
      await page.setViewportSize({ width, height });
      expect([path, width, (await filledBy(page, 'main')) > height * 0.8]).toEqual([path, width, true]);
      await check();
    }
  }
}, 120_000);

test('a question that is taller than the window opens at its title, with the focus at its foot', async () => {
  const { page, check } = await world.open('/projects/shop/flags', { width: 320, height: 256 });
  await page.getByRole('switch', { name: 'checkout-flag-number-0 in production' }).click();
  const question = page.getByRole('dialog');
  await question.locator('button:focus').getByText('Cancel').waitFor();
  expect(await question.evaluate((it) => it.scrollHeight > it.clientHeight)).toBe(true);
  expect(await question.evaluate((it) => it.scrollTop)).toBe(0);
  await check();
}, 60_000);
