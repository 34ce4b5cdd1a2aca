import { expect, test } from 'bun:test';
import type { Page } from 'playwright-core';
import { messages as flagList } from '../src/pages/flags/messages.ts';
import { sharedWorld } from './support/world.ts';

const PATIENCE_MS = 60_000;
const FLAGS = '/projects/shop/flags';

const world = sharedWorld(async ({ management }) => {
  await management.createProject('shop');
  for (const key of ['apple', 'banana', 'cherry'])
    await management.putState('shop', 'development', key, { enabled: true });
});

test(
  'a selection shows how many of its flags are hidden, and can drop them',
  async () => {
    const { page, check } = await world.open(FLAGS);
    await page.getByLabel(flagList.list.selectAll).check();
    const bar = page.getByRole('region', { name: 'Selected flags' });
    await bar.getByText('3 selected').waitFor();
    await page.getByLabel('Search flags').fill('apple');
    await bar.getByText('3 selected, 2 not shown').waitFor();
    await check();
    await bar.getByRole('button', { name: 'Deselect hidden' }).click();
    await bar.getByText('1 selected', { exact: true }).waitFor();
    await page.close();
  },
  PATIENCE_MS,
);

test(
  'switching one cell again and again leaves one message about it',
  async () => {
    const { page } = await world.open(FLAGS);
    const control = page.getByRole('switch', { name: 'apple in development' });
    const messages = page.getByRole('region', { name: 'Messages' });
    for (const word of ['off', 'on', 'off']) {
      await control.click();
      await messages.getByText(`apple is ${word} in development`).waitFor();
    }
    expect(await messages.getByRole('button', { name: 'Undo' }).count()).toBe(1);
    await page.close();
  },
  PATIENCE_MS,
);

test(
  'single-key shortcuts can be switched off, also after a reload',
  async () => {
    const { page, check } = await world.open(FLAGS);
    await page.getByRole('switch', { name: 'apple in development' }).waitFor();
    await page.keyboard.press('?');
    await page.getByRole('switch', { name: 'Single-key shortcuts' }).uncheck();
    await check();
    await page.keyboard.press('Escape');
    await page.reload();
    await page.getByRole('switch', { name: 'apple in development' }).waitFor();
    for (const key of ['?', 'n', 'j', '/']) await page.keyboard.press(key);
    expect(await page.evaluate('document.activeElement === document.body')).toBe(true);
    expect(await page.getByRole('dialog').count()).toBe(0);
    await page.keyboard.press('Control+k');
    await page.getByRole('dialog', { name: 'Commands' }).waitFor();
    await page.close();
  },
  PATIENCE_MS,
);

test(
  'forced colors leave switches, environments and the connection visible',
  async () => {
    const { page } = await world.open(FLAGS);
    const control = page.getByRole('switch', { name: 'apple in development' });
    await control.waitFor();
    await page.emulateMedia({ forcedColors: 'active' });
    const [canvas, thumbs, dots] = (await page.evaluate(`(() => {
      const color = (element) => getComputedStyle(element).backgroundColor;
      const inputs = ['apple', 'banana'].map((key) => document.querySelector('[aria-label="' + key + ' in development"]'));
      const dots = [...document.querySelectorAll('thead .rounded-full, [role="status"] .rounded-full')];
      return [color(document.documentElement), inputs.map((input) => color(input.parentElement.lastElementChild)), dots.map(color)];
    })()`)) as [string, string[], string[]];
    // One is off, the other on.
    expect(thumbs).not.toContain(canvas);
    expect(dots).toHaveLength(4);
    expect(dots).not.toContain(canvas);
    expect(new Set(dots.slice(1)).size).toBe(3);
    await page.close();
  },
  PATIENCE_MS,
);

test(
  'a new flag can be opened from its message, which does not mention filters that show it',
  async () => {
    const { page } = await world.open(`${FLAGS}?q=zucchini`);
    await createFlag(page, 'zucchini');
    await page.getByText('zucchini created').waitFor();
    await page.getByRole('switch', { name: 'zucchini in development' }).waitFor();
    expect(await page.getByText('The current filters hide it.').count()).toBe(0);
    await page.getByRole('button', { name: 'Open flag' }).click();
    await page.getByRole('heading', { name: 'zucchini' }).waitFor();
    await page.close();
  },
  PATIENCE_MS,
);

test.each(['?q=apple', '?archived=1'])(
  'a new flag that the filters hide (%s) is one click away',
  async (search) => {
    const { page } = await world.open(`${FLAGS}${search}`);
    const key = `hidden-${search.length}`;
    await createFlag(page, key);
    await page.getByText('The current filters hide it.').waitFor();
    await page.getByRole('button', { name: 'Show it' }).click();
    await page.locator(`[data-flag="${key}"][data-marked]`).waitFor();
    expect(new URL(page.url()).search).toBe('');
    await page.close();
  },
  PATIENCE_MS,
);

async function createFlag(page: Page, key: string): Promise<void> {
  await page.getByRole('button', { name: 'New flag' }).click();
  await page.getByRole('textbox', { name: 'Key' }).fill(key);
  await page.getByRole('button', { name: 'Create flag' }).click();
}
