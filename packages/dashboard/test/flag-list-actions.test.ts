import { expect, test } from 'bun:test';
import { until } from '@halyard/testing';
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
  },
  PATIENCE_MS,
);

/** The name of the control that has the focus. */
const focused = (page: Page) =>
  page.evaluate('document.activeElement.ariaLabel ?? document.activeElement.textContent');

test(
  'by keyboard alone: a switch and its undo, flags selected and archived; the focus is never lost',
  async () => {
    for (const key of ['kiwi-1', 'kiwi-2'])
      await world.management.putState('shop', 'development', key, { enabled: true });
    const { page } = await world.open(`${FLAGS}?q=kiwi`, { width: 900 });
    const { keyboard } = page;
    const control = page.getByRole('switch', { name: 'kiwi-1 in development' });
    await control.waitFor();
    await keyboard.press('j');
    await page.waitForFunction(
      `document.activeElement.role === 'switch' || document.activeElement.matches('input')`,
    );
    await keyboard.press('Space');
    await page.getByText('kiwi-1 is off in development', { exact: true }).waitFor();
    await keyboard.press('t');
    expect(await focused(page)).toBe('Undo');
    await keyboard.press('Enter');
    await page.getByText('kiwi-1 is on in development', { exact: true }).waitFor();
    await until(
      'the focus is back at the switch',
      async () => (await focused(page)) === 'kiwi-1 in development',
    );

    await keyboard.press('x');
    await keyboard.press('j');
    await until('the next row has the focus', async () => (await focused(page)) === 'kiwi-2 in development');
    await keyboard.press('x');
    const bar = page.getByRole('region', { name: 'Selected flags' });
    await bar.getByText('2 selected').waitFor();
    await keyboard.press('a');
    expect(await focused(page)).toBe('Turn on in ');
    await bar.getByRole('button', { name: 'Archive' }).press('Enter');
    const dialog = page.getByRole('dialog', { name: 'Archive 2 flags?' });
    await dialog.getByRole('button', { name: 'Archive', exact: true }).press('Enter');
    // Everything that had the focus is gone.
    await until('the focus is at the heading', async () => String(await focused(page)).startsWith('Flags'));
  },
  PATIENCE_MS,
);

test(
  'a control that takes the focus is not under the cells that stay',
  async () => {
    const { page } = await world.open(FLAGS, { width: 800 });
    const first = page.getByRole('switch', { name: 'apple in development' });
    await first.waitFor();
    const list = page.locator('[data-scroller]');
    await list.evaluate('(element) => element.scrollTo(element.scrollWidth, 0)');
    await page.getByRole('link', { name: 'apple', exact: true }).focus();
    for (let presses = 0; presses < 6 && (await focused(page)) !== 'apple in development'; presses++)
      await page.keyboard.press('Tab');
    const covered = `(() => {
      const { left, top, width, height } = document.activeElement.getBoundingClientRect();
      return document.elementFromPoint(left + width / 2, top + height / 2) !== document.activeElement;
    })()`;
    expect([await focused(page), await page.evaluate(covered)]).toEqual(['apple in development', false]);
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
  },
  PATIENCE_MS,
);

test(
  'Shift selects a range, whose tags and owner are changed together',
  async () => {
    for (const key of ['range-a', 'range-b', 'range-c', 'range-d'])
      await world.management.request('POST', '/api/projects/shop/flags', {
        body: { key, tags: ['old'], states: { development: { enabled: true } } },
      });
    const { page, check } = await world.open(`${FLAGS}?q=range-`);
    await page.getByLabel('Select range-b').click();
    await page.getByLabel('Select range-d').click({ modifiers: ['Shift'] });
    const bar = page.getByRole('region', { name: 'Selected flags' });
    await bar.getByText('3 selected').waitFor();
    expect(await page.getByLabel('Select range-a').isChecked()).toBe(false);
    await bar.getByRole('button', { name: 'Tags and owner' }).click();
    const dialog = page.getByRole('dialog', { name: 'Tags and owner of 3 flags' });
    await dialog.getByRole('button', { name: 'Change flags' }).click();
    await dialog.getByText('Add or remove a tag, or enter an owner.').waitFor();
    await dialog.getByRole('combobox', { name: 'Add tags' }).fill('fresh,');
    await dialog.getByRole('combobox', { name: 'Remove tags' }).fill('old,');
    await dialog.getByRole('combobox', { name: 'New owner' }).fill('Team Web');
    await check();
    await dialog.getByRole('button', { name: 'Change flags' }).click();
    await page.getByText('3 flags updated').first().waitFor();
    await bar.waitFor({ state: 'detached' });
    for (const [key, tags, owner] of [
      ['range-a', ['old'], ''],
      ['range-c', ['fresh'], 'Team Web'],
    ] as const)
      expect(await world.management.request('GET', `/api/projects/shop/flags/${key}`)).toMatchObject({
        tags,
        owner,
      });
  },
  PATIENCE_MS,
);

test(
  'a search lists the best matches first and marks them; filters are combined, saved, and shown again',
  async () => {
    for (const [key, tags, owner] of [
      ['a-long-story', ['web', 'mobile'], 'pear'],
      ['new-pear', ['web'], ''],
      ['pear', ['web', 'mobile'], 'ada@example.com'],
    ] as const)
      await world.management.request('POST', '/api/projects/shop/flags', {
        body: { key, tags, owner, states: { development: { enabled: true } } },
      });
    const { page, check } = await world.open(FLAGS);
    const keys = async () =>
      (await page.locator('[data-flag]').all()).map((row) => row.getAttribute('data-flag'));
    const shown = async () => (await Promise.all(await keys())).join(' ');
    await page.getByLabel('Search flags').fill('pear');
    await page.getByText('3 of ').waitFor();
    expect(await shown()).toBe('pear new-pear a-long-story');
    expect(await page.locator('[data-flag="new-pear"] mark').textContent()).toBe('pear');
    await page.getByRole('button', { name: 'Tags:' }).click();
    await page.getByRole('checkbox', { name: 'web' }).check();
    await page.getByRole('checkbox', { name: 'mobile' }).check();
    await check();
    await page.keyboard.press('Escape');
    await page.getByText('2 of ').waitFor();
    await page.getByLabel('Owner').selectOption('Me');
    await page.getByText('1 of ').waitFor();
    expect(await shown()).toBe('pear');
    // The star is shown on the row under the pointer.
    await page.getByRole('link', { name: 'pear', exact: true }).hover();
    await page.getByRole('button', { name: 'Favorite: pear' }).click();

    await page.getByRole('button', { name: 'Saved filters' }).click();
    await page.getByRole('menuitem', { name: 'Save current filters…' }).click();
    await page.getByRole('dialog', { name: 'Save filters' }).getByLabel('Name').fill('My pears');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Clear' }).click();
    await page.getByRole('button', { name: 'Favorites' }).click();
    await page.locator('[data-row="0"][data-flag="pear"]').waitFor();
    expect(await shown()).toBe('pear');
    await page.getByRole('button', { name: 'Favorites' }).click();
    await page.reload();
    await page.getByRole('button', { name: 'Saved filters' }).click();
    await page.getByRole('menuitemcheckbox', { name: 'My pears' }).click();
    await page.getByText('1 of ').waitFor();
    expect(new URL(page.url()).search).toBe('?q=pear&tag=web%2Cmobile&owner=%40me');
    await check();

    await page.getByRole('button', { name: 'Clear' }).click();
    const head = page.getByRole('columnheader', { name: 'Changed' });
    await head.getByRole('button').click();
    await page.locator('[data-row="0"][data-flag="pear"]').waitFor();
    expect(await head.getAttribute('aria-sort')).toBe('descending');
  },
  PATIENCE_MS,
);

async function createFlag(page: Page, key: string): Promise<void> {
  await page.getByRole('button', { name: 'New flag' }).click();
  await page.getByRole('textbox', { name: 'Key' }).fill(key);
  await page.getByRole('button', { name: 'Create flag' }).click();
}

test(
  'a long value is cut in the list, and survives a switch, its undo and a conflict there',
  async () => {
    const value = { text: 'x'.repeat(2000), end: 'here' };
    const staging = '/api/projects/shop/environments/staging/flags/apple';
    const stored = async () => ((await world.management.request('GET', staging)) as { state: object }).state;
    await world.management.putState('shop', 'staging', 'apple', { enabled: true, value });
    const { page } = await world.open(FLAGS, { expected: /412/ });
    await page.getByTitle('… (2 KB)').waitFor();

    const control = page.getByRole('switch', { name: 'apple in staging' });
    const messages = page.getByRole('region', { name: 'Messages' });
    await control.click();
    await messages.getByText('apple is off in staging', { exact: true }).waitFor();
    expect(await stored()).toEqual({ enabled: false, value });
    await messages.getByRole('button', { name: 'Undo' }).click();
    await messages.getByText(/^apple is on in staging|^apple is on, value/).waitFor();
    expect(await stored()).toEqual({ enabled: true, value });

    // Another person changes it before the page hears of it.
    const change = { enabled: true, value: { text: 'y'.repeat(3000) } };
    await page.reload();
    await page.getByTitle('… (2 KB)').waitFor();
    await page.route(
      '**/staging/flags/apple',
      async (route) => {
        await world.management.putState('shop', 'staging', 'apple', change);
        await route.continue();
      },
      { times: 1 },
    );
    await control.click();
    const conflict = page.getByRole('dialog', { name: 'There is a newer version' });
    await conflict.getByRole('button', { name: 'Overwrite with mine' }).click();
    await messages.getByText(/^apple is off in staging/).waitFor();
    expect(await stored()).toEqual({ ...change, enabled: false });
  },
  PATIENCE_MS,
);
