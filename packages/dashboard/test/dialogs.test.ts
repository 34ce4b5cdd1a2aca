import { expect, test } from 'bun:test';
import { until } from '@halyard/testing';
import { BLANK } from './support/opened-page.ts';
import { sharedWorld } from './support/world.ts';

const PATIENCE_MS = 60_000;
const FLAGS = '/projects/shop/flags';

const world = sharedWorld(async ({ management }) => {
  await management.createProject('shop');
  await management.putState('shop', 'development', 'new-checkout', { enabled: true, value: 7 });
});

test.each([1280, 390])(
  'a dialog in which something was typed asks before Escape, × or a click outside discards it, %d px wide',
  async (width) => {
    const { page, check } = await world.open(FLAGS, { width });
    await page.getByRole('switch').first().waitFor();
    await page.keyboard.press('n');
    const dialog = page.getByRole('dialog', { name: 'New flag' });
    const description = dialog.getByLabel('Description');
    await description.fill('A long description that takes a while to write again.');
    const question = page.getByRole('alertdialog', { name: 'Discard what you entered?' });
    const waysOut = [
      () => page.keyboard.press('Escape'),
      () => dialog.getByRole('button', { name: 'Close' }).click(),
      () => page.mouse.click(4, 4),
    ];
    for (const leave of waysOut) {
      await leave();
      await question.waitFor();
      await question.getByRole('button', { name: 'Keep editing' }).click();
      await question.waitFor({ state: 'detached' });
      expect(await description.inputValue()).toContain('A long description');
    }
    // Escape answers the question with no as well, however often it is pressed.
    for (let times = 0; times < 4; times++) await page.keyboard.press('Escape');
    expect(await description.inputValue()).toContain('A long description');
    await page.keyboard.press('Escape');
    await question.waitFor();
    await check();
    await question.getByRole('button', { name: 'Discard' }).click();
    await dialog.waitFor({ state: 'detached' });
  },
  PATIENCE_MS,
);

test(
  'an untouched dialog closes immediately on Escape and on a click outside, but not when text is selected out of it',
  async () => {
    const { page } = await world.open(FLAGS);
    await page.getByRole('switch').first().waitFor();
    const dialog = page.getByRole('dialog', { name: 'New flag' });
    const waysOut = [() => page.keyboard.press('Escape'), () => page.mouse.click(4, 4)];
    for (const leave of waysOut) {
      await page.keyboard.press('n');
      await dialog.waitFor();
      await leave();
      await dialog.waitFor({ state: 'detached' });
    }
    await page.keyboard.press('n');
    const box = await dialog.getByLabel('Description').boundingBox();
    if (box === null) throw new Error('the field has no box');
    await page.mouse.move(box.x + 20, box.y + 10);
    await page.mouse.down();
    await page.mouse.move(4, 4);
    await page.mouse.up();
    await dialog.waitFor();
  },
  PATIENCE_MS,
);

test(
  'a menu opens and moves with the keys of menus, and Escape returns the focus to its button',
  async () => {
    const { page, check } = await world.open('/projects/shop/environments');
    const button = page.getByRole('button', { name: 'More for staging' });
    await button.focus();
    await page.keyboard.press('ArrowDown');
    await page.getByRole('menuitem', { name: 'Move up' }).and(page.locator(':focus')).waitFor();
    await check();
    await page.keyboard.press('ArrowUp');
    await page.getByRole('menuitem', { name: 'Delete' }).and(page.locator(':focus')).waitFor();
    await page.keyboard.press('m');
    await page.getByRole('menuitem', { name: 'Move up' }).and(page.locator(':focus')).waitFor();
    await page.keyboard.press('End');
    await page.keyboard.press('ArrowDown');
    await page.getByRole('menuitem', { name: 'Move up' }).and(page.locator(':focus')).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('menu').waitFor({ state: 'detached' });
    await button.and(page.locator(':focus')).waitFor();
    await button.click();
    const menu = await page.getByRole('menu').boundingBox();
    expect((menu?.x ?? -1) >= 0 && (menu?.x ?? 0) + (menu?.width ?? 0) <= 1280).toBe(true);
    await page.mouse.click(300, 300);
    await page.getByRole('menu').waitFor({ state: 'detached' });
  },
  PATIENCE_MS,
);

test(
  'tags and owners are suggested, taken with the keys, and removed with Backspace, without closing the dialog',
  async () => {
    await world.management.request('POST', '/api/projects/shop/flags', {
      body: { key: 'tagged', tags: ['release', 'mobile'], owner: 'Team Search', states: {} },
    });
    const { page, check } = await world.open(FLAGS);
    await page.getByRole('link', { name: 'tagged' }).waitFor();
    await page.keyboard.press('n');
    const dialog = page.getByRole('dialog', { name: 'New flag' });
    // Without a key, the button says what is missing and moves there.
    await dialog.getByRole('button', { name: 'Create flag' }).click();
    await dialog.getByText('Enter a key.').waitFor();
    await dialog.getByLabel('Key').and(page.locator(':focus')).waitFor();
    const tags = dialog.getByRole('combobox', { name: 'Tags' });
    await tags.pressSequentially('re');
    const suggestion = page.getByRole('listbox').getByRole('option', { name: 'release' });
    await suggestion.waitFor();
    await check();
    await page.keyboard.press('Escape');
    await suggestion.waitFor({ state: 'detached' });
    await page.keyboard.press('ArrowDown');
    await page.locator('[role="option"][aria-selected="true"]', { hasText: 'release' }).waitFor();
    await page.keyboard.press('Enter');
    await dialog.getByRole('button', { name: 'Remove tag release' }).waitFor();
    await tags.pressSequentially('brand-new,');
    await dialog.getByRole('button', { name: 'Remove tag brand-new' }).waitFor();
    await page.keyboard.press('Backspace');
    await dialog.getByRole('button', { name: 'Remove tag brand-new' }).waitFor({ state: 'detached' });
    const owner = dialog.getByRole('combobox', { name: 'Owner' });
    await owner.pressSequentially('ada');
    await page.getByRole('listbox').getByRole('option', { name: 'ada@example.com' }).click();
    expect(await owner.inputValue()).toBe('ada@example.com');
    await owner.fill('team');
    await page.getByRole('listbox').getByRole('option', { name: 'Team Search' }).click();
    expect(await owner.inputValue()).toBe('Team Search');
    await check();
  },
  PATIENCE_MS,
);

test.each(['light', 'dark'] as const)(
  'native controls have one look, and the browser’s own with forced colors, %s',
  async (theme) => {
    const { page } = await world.open('/projects/shop/keys', { theme });
    await page.getByRole('button', { name: 'New key' }).first().click();
    const dialog = page.getByRole('dialog', { name: 'New key' });
    const box = dialog.getByRole('checkbox', { name: 'staging' });
    await box.waitFor();
    const look = (selector: string) =>
      page.evaluate(`(() => {
        const { appearance, backgroundColor } = getComputedStyle(document.querySelector('${selector}'));
        return appearance + ' ' + backgroundColor;
      })()`);
    const unchecked = await look('dialog input[type="checkbox"]');
    await box.check();
    await dialog.getByRole('checkbox', { name: 'development' }).check();
    expect(unchecked).toStartWith('none');
    await until(
      'the ticked box looks different',
      async () => (await look('dialog input[type="checkbox"]')) !== unchecked,
    );
    expect(await look('dialog select')).toStartWith('none');
    await page.emulateMedia({ forcedColors: 'active' });
    expect(await look('dialog input[type="checkbox"]')).toStartWith('auto');
    expect(await look('dialog select')).toStartWith('auto');
  },
  PATIENCE_MS,
);

test(
  'the heads of a list sort it, in both directions and back, and say so',
  async () => {
    for (const name of ['website', 'worker', 'api'])
      await world.management.createKey('shop', ['staging'], { name });
    const { page, check } = await world.open('/projects/shop/keys');
    const names = async () =>
      (await page.getByRole('rowheader').allInnerTexts()).map((text) => text.split('\n')[0]).join(' ');
    await page.getByRole('rowheader').first().waitFor();
    const own = await names();
    const head = page.getByRole('columnheader', { name: 'Key', exact: true });
    await head.getByRole('button').click();
    expect(await names()).toBe('api website worker');
    expect(await head.getAttribute('aria-sort')).toBe('ascending');
    await check();
    await head.getByRole('button').click();
    expect(await names()).toBe('worker website api');
    expect(new URL(page.url()).search).toBe('?sort=-name');
    await head.getByRole('button').click();
    expect([await names(), await head.getAttribute('aria-sort')]).toEqual([own, 'none']);
  },
  PATIENCE_MS,
);

test(
  'what is typed while a dialog is loaded for the first time goes into its first field',
  async () => {
    const { page } = await world.open(BLANK);
    const release = Promise.withResolvers<void>();
    // Before the list asks for the same file.
    await page.route('**/assets/shared-*', async (route) => {
      await release.promise;
      await route.continue();
    });
    await page.goto(FLAGS);
    await page.getByRole('switch').first().waitFor();
    await page.keyboard.press('n');
    await page.getByRole('dialog', { name: 'New flag' }).getByRole('status', { name: 'Loading' }).waitFor();
    await page.keyboard.type('typed-');
    release.resolve();
    const key = page.getByRole('dialog', { name: 'New flag' }).getByLabel('Key');
    await key.waitFor();
    await page.keyboard.type('ahead');
    expect(await key.inputValue()).toBe('typed-ahead');
    await page.getByRole('button', { name: 'Create flag' }).click();
    await page.getByRole('switch', { name: 'typed-ahead in development' }).waitFor();
  },
  PATIENCE_MS,
);
