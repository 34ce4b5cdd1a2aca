import { beforeEach, expect, test } from 'bun:test';
import type { Page } from 'playwright-core';
import { messages as flagList } from '../src/pages/flags/messages.ts';
import { BLANK } from './support/opened-page.ts';
import { sharedWorld } from './support/world.ts';

const PATIENCE_MS = 60_000;
const FLAGS = '/projects/shop/flags';

const world = sharedWorld(async ({ management }) => {
  await management.createProject('shop');
});

beforeEach(async () => {
  await world.management.putState('shop', 'production', 'dark-mode', { enabled: false });
});

async function isOn(): Promise<boolean | undefined> {
  const { flags } = await world.management.states('shop', 'production');
  return flags.find(({ key }) => key === 'dark-mode')?.state.enabled;
}

test(
  'the key that opens the guard, pressed twice, does not confirm it',
  async () => {
    const { page } = await world.open(FLAGS);
    const control = page.getByRole('switch', { name: 'dark-mode in production' });
    const guard = page.getByRole('dialog', { name: 'Change dark-mode in production?' });
    await control.press('Space');
    await guard.waitFor();
    await page.keyboard.press('Space');
    await guard.waitFor({ state: 'detached' });
    expect(await isOn()).toBe(false);

    await control.press('Space');
    await guard.waitFor();
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.getByText('dark-mode is on in production', { exact: true }).waitFor();
    expect(await isOn()).toBe(true);
  },
  PATIENCE_MS,
);

test(
  'archiving previews protected environments and connected clients, waits for consent, and can be undone',
  async () => {
    const keys = Array.from({ length: 12 }, (_, index) => `old-${index + 10}`);
    for (const key of keys)
      await world.management.putState('shop', 'production', key, { enabled: key === 'old-10', value: 3 });
    const { page, check } = await world.open(`${FLAGS}?q=old-`);
    await page.getByLabel(flagList.list.selectAll).check();
    await page.getByRole('button', { name: 'Archive' }).press('Enter');
    const dialog = page.getByRole('dialog', { name: 'Archive 12 flags?' });
    await dialog.getByText('It has 12 of the 12 flags.').waitFor();
    await dialog.getByText('No client is connected.').waitFor();
    const named = dialog.getByRole('listitem');
    expect(await named.first().textContent()).toMatch(/old-10\s*production\s*on, value 3\s*Removed/);
    expect(await named.allTextContents()).toHaveLength(11);
    expect(await named.last().textContent()).toBe('and 2 more');
    await check();
    await page.keyboard.press('Enter'); // on Cancel
    await dialog.waitFor({ state: 'detached' });
    expect((await world.management.states('shop', 'production')).flags).toHaveLength(13);

    await page.getByRole('button', { name: 'Archive' }).click();
    await dialog.getByRole('button', { name: 'Archive' }).click();
    await page.getByRole('region', { name: 'Messages' }).getByText('12 flags archived').waitFor();
    expect((await world.management.states('shop', 'production')).flags).toHaveLength(1);
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.getByText('12 flags restored').waitFor();
    const { flags } = await world.management.states('shop', 'production');
    expect(flags.find(({ key }) => key === 'old-10')?.state).toEqual({ enabled: true, value: 3 });
    expect(flags).toHaveLength(13);
    await page.getByRole('switch', { name: 'old-21 in production' }).waitFor();
  },
  PATIENCE_MS,
);

test('the question shows the lines of a long value that change, and where a long text differs', async () => {
  const limits = Object.fromEntries(Array.from({ length: 60 }, (_, index) => [`limit-${index}`, index]));
  const filler = 'x'.repeat(60_000);
  const cases = [
    {
      key: 'limits',
      before: limits,
      after: { ...limits, 'limit-58': 99 },
      old: '"limit-58": 58',
      young: '"limit-58": 99',
    },
    {
      key: 'text',
      before: `${filler} old end`,
      after: `${filler} new end`,
      old: 'old end',
      young: 'new end',
    },
    {
      key: 'nested',
      before: { text: `${filler} old end` },
      after: { text: `${filler} new end` },
      old: 'old end',
      young: 'new end',
    },
  ];
  for (const { key, before, after, old, young } of cases) {
    await world.management.putState('shop', 'production', key, { enabled: true, value: before });
    const { page, check, close } = await world.open(`${FLAGS}/${key}?env=production`, {
      width: key === 'limits' ? 390 : 1280,
    });
    const place = page.getByRole('region', { name: 'production', exact: true });
    await place.locator('.cm-content').press('Control+A');
    await page.keyboard.insertText(JSON.stringify(after));
    await page.getByRole('button', { name: 'Save in production' }).click();
    const guard = page.getByRole('dialog', { name: `Change ${key} in production?` });
    await guard.locator('del', { hasText: old }).waitFor();
    await guard.locator('ins', { hasText: young }).waitFor();
    expect((await guard.textContent())?.length).toBeLessThan(2_000);
    // Not by color alone.
    const mark = await page.evaluate(
      "getComputedStyle(document.querySelector('dialog ins'), '::before').content",
    );
    expect(mark).toBe('"+ "');
    await check();
    await close();
  }
}, 120_000);

test(
  'the guard of a schedule shows its time, no connected clients, and whether nothing would change',
  async () => {
    const { page, check } = await world.open(`${FLAGS}/dark-mode?env=production`);
    const card = page.getByRole('region', { name: 'production', exact: true });
    await card.getByRole('button', { name: 'More for production' }).click();
    await page.getByRole('menuitem', { name: 'Schedule a change…' }).click();
    const dialog = page.getByRole('dialog', { name: 'Schedule a change of dark-mode' });
    await dialog.getByLabel(/^When \(/).fill('2099-12-24T18:00');
    await dialog.getByLabel('Switch').selectOption('off');
    await dialog.getByRole('button', { name: 'Schedule', exact: true }).click();
    const guard = page.getByRole('dialog', { name: /^Schedule dark-mode in production for .*2099.*\?$/ });
    await guard.getByText("This wouldn't change anything right now.").waitFor();
    expect(await guard.getByText(/at once|No client/).count()).toBe(0);
    await check();
    await guard.getByRole('button', { name: 'Cancel' }).click();

    await dialog.getByLabel('Switch').selectOption('on');
    await dialog.getByRole('button', { name: 'Schedule', exact: true }).click();
    await guard.waitFor();
    expect(await guard.getByText('nothing would change').count()).toBe(0);
    await guard.getByRole('button', { name: 'Schedule for production' }).click();
    await page.getByText('dark-mode scheduled').waitFor();
  },
  PATIENCE_MS,
);

/** Answers the open guard with consent that lasts. */
async function consentForAWhile(page: Page): Promise<void> {
  const guard = page.getByRole('dialog', { name: 'Change dark-mode in production?' });
  await guard.getByLabel("Don't ask again for 15 minutes").check();
  await guard.getByRole('button', { name: 'Change production' }).click();
}

test(
  'a paused guard stays paused after a reload, until it is resumed or its time is over',
  async () => {
    const { page, check } = await world.open(FLAGS);
    const control = page.getByRole('switch', { name: 'dark-mode in production' });
    await control.click();
    await consentForAWhile(page);
    await page.getByText('dark-mode is on in production', { exact: true }).waitFor();
    await page.reload();
    await control.click();
    await page.getByText('dark-mode is off in production', { exact: true }).waitFor();
    await check();
    // The header shows the pause, and ends it.
    const chip = page
      .getByRole('banner')
      .getByRole('button', { name: /^production not asking, 15 min left/ });
    await chip.click();
    await chip.waitFor({ state: 'detached' });
    await control.click();
    await consentForAWhile(page);
    await page.getByText('dark-mode is on in production', { exact: true }).waitFor();

    await page.evaluate("sessionStorage.setItem('halyard.quiet.shop/production', String(Date.now() - 1))");
    await page.reload();
    await control.click();
    await page.getByRole('dialog', { name: 'Change dark-mode in production?' }).waitFor();
  },
  PATIENCE_MS,
);

test(
  'signing in ends every pause of the guard',
  async () => {
    const { page } = await world.open(FLAGS);
    await page.getByRole('switch', { name: 'dark-mode in production' }).click();
    await consentForAWhile(page);
    await page.getByText('dark-mode is on in production', { exact: true }).waitFor();
    expect(await page.evaluate<string[]>('Object.keys(sessionStorage)')).toHaveLength(1);
    // The session has not ended, so the sign-in page leads straight back.
    await page.goto(new URL('/sign-in', page.url()).href);
    await page.getByRole('heading', { name: 'Flags', exact: true }).waitFor();
    expect(await page.evaluate<string[]>('Object.keys(sessionStorage)')).toEqual([]);
  },
  PATIENCE_MS,
);

test(
  'without browser storage, a pause of the guard lasts as long as the page',
  async () => {
    const { page } = await world.open(BLANK);
    await page.addInitScript(
      "Object.defineProperty(window, 'sessionStorage', { get() { throw new DOMException('no', 'SecurityError'); } })",
    );
    await page.goto(FLAGS);
    const control = page.getByRole('switch', { name: 'dark-mode in production' });
    await control.click();
    await consentForAWhile(page);
    await page.getByText('dark-mode is on in production', { exact: true }).waitFor();
    await control.click();
    await page.getByText('dark-mode is off in production', { exact: true }).waitFor();
  },
  PATIENCE_MS,
);

test(
  'a second question takes the place of the first, which counts as answered with no',
  async () => {
    await world.management.putState('shop', 'development', 'dark-mode', { enabled: false });
    const { page } = await world.open(FLAGS, { expected: /412/ });
    const free = page.getByRole('switch', { name: 'dark-mode in development' });
    await free.waitFor();
    const { promise: mayGoOn, resolve: goOn } = Promise.withResolvers<void>();
    await page.route(
      '**/environments/development/flags/dark-mode',
      async (route) => {
        await mayGoOn;
        await world.management.putState('shop', 'development', 'dark-mode', { enabled: false, value: 8 });
        await route.continue();
      },
      { times: 1 },
    );
    await free.click();
    await page.getByRole('switch', { name: 'dark-mode in production' }).click();
    const guard = page.getByRole('dialog', { name: 'Change dark-mode in production?' });
    await guard.waitFor();
    goOn();
    const conflict = page.getByRole('dialog', { name: 'There is a newer version' });
    await conflict.waitFor();
    expect(await guard.count()).toBe(0);
    await conflict.getByRole('button', { name: 'Cancel' }).click();
    await conflict.waitFor({ state: 'detached' });
    expect(await isOn()).toBe(false);
    // Nothing hangs: the next change asks as usual.
    await page.getByRole('switch', { name: 'dark-mode in production' }).click();
    await guard.getByRole('button', { name: 'Change production' }).click();
    await page.getByText('dark-mode is on in production', { exact: true }).waitFor();
  },
  PATIENCE_MS,
);
