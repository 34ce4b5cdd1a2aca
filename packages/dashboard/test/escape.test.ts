import { expect, test } from 'bun:test';
import { until } from '@halyard/testing';
import type { Locator, Page, Request } from 'playwright-core';
import { BLANK } from './support/opened-page.ts';
import { visit } from './support/visit.ts';
import { sharedWorld } from './support/world.ts';

const FLAGS = '/projects/shop/flags';

/** Every screen; a new one belongs here. The first of each group is loaded, the others are visited from it. */
const SCREENS: readonly (readonly [group: string, ...screens: string[]])[] = [
  [
    'flags',
    FLAGS,
    '/projects/shop/flags/new-checkout?env=staging',
    '/projects/shop/compare',
    '/projects/shop/schedules',
    '/projects/shop/history',
    '/projects/shop/clean-up',
    '/projects/shop/proposals',
    '/projects/shop/clients',
  ],
  [
    'the settings of a project',
    '/projects/shop/keys',
    '/projects/shop/webhooks',
    '/projects/shop/environments',
    '/projects/shop/settings',
    '/projects/shop/members',
  ],
  [
    'the installation',
    '/?projects',
    '/operators',
    '/tokens',
    '/relay-tokens',
    '/audit',
    '/webhooks',
    '/account',
  ],
];

/** Where the header is tried, too: it is the same on all screens of a project, and on all others. */
const HEADED = new Set([FLAGS, '/?projects']);

/** What opens a popover: each says so, as people with screen readers need it. */
const POPUP = '[aria-haspopup]:visible:enabled, [aria-expanded="false"]:visible:enabled';

/** What may open a dialog: every button that does not open a popover. */
const BUTTON = 'button:visible:enabled:not([aria-haspopup]):not([aria-expanded])';

const world = sharedWorld(async ({ management }) => {
  await management.createProject('shop');
  for (const key of ['new-checkout', 'dark-mode'])
    await management.putState('shop', 'staging', key, { enabled: true, value: 7 });
  await management.createKey('shop', ['staging'], { name: 'website' });
});

const NEXT_FRAMES = 'new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))';

/** Returns a function that waits until the page has what it asks for, and has drawn it. The stream of events never ends. */
function watchLoading(page: Page): () => Promise<void> {
  const loading = new Set<Request>();
  page.on('request', (request) => {
    if (!request.url().includes('/api/events')) loading.add(request);
  });
  page.on('requestfinished', (request) => loading.delete(request));
  page.on('requestfailed', (request) => loading.delete(request));
  return async () => {
    await page.evaluate(NEXT_FRAMES);
    if (loading.size === 0) return;
    await until('all requests have ended', async () => loading.size === 0);
    await page.evaluate(NEXT_FRAMES);
  };
}

/** How many popovers and dialogs are open. */
async function layers(page: Page): Promise<number> {
  return Number(await page.evaluate("document.querySelectorAll(':popover-open, dialog[open]').length"));
}

/** Presses Escape right away, and fails unless that closed the topmost layer only. */
async function closes(page: Page, what: string): Promise<void> {
  const before = await layers(page);
  await page.keyboard.press('Escape');
  expect([what, await layers(page)]).toEqual([what, before - 1]);
}

/** Tries every opener of a place, by mouse and by keyboard. Returns how many opened something. */
async function tryAll(
  page: Page,
  isDrawn: () => Promise<void>,
  openers: Locator,
  isDialog = false,
): Promise<number> {
  const outside = await layers(page);
  const address = page.url();
  let count = 0;
  for (let index = 0; index < (await openers.count()); index++) {
    const opener = openers.nth(index);
    const name = (await opener.getAttribute('aria-label')) ?? (await opener.textContent().catch(() => ''));
    for (const way of ['mouse', 'keyboard'] as const) {
      if (way === 'mouse') await opener.click();
      else await opener.press('Enter');
      await isDrawn();
      if ((await layers(page)) === outside) break;
      count++;
      const what = `${page.url()} ${name} by ${way}`;
      if (isDialog && way === 'mouse') {
        const inside = page.locator('dialog[open]').last().locator(POPUP);
        if ((await page.locator('dialog[open]').count()) > 0) count += await tryAll(page, isDrawn, inside);
      }
      await closes(page, what);
    }
    if (page.url() !== address) await page.goto(address);
    // Something that expands in the page.
    else if ((await opener.getAttribute('aria-expanded', { timeout: 1_000 }).catch(() => null)) === 'true')
      await opener.click();
  }
  return count;
}

test.each(SCREENS)(
  'Escape closes whatever opens on the screens of %s, right after it opened',
  async (_, ...screens) => {
    const { page } = await world.open(BLANK, { expected: /./ });
    const isDrawn = watchLoading(page);
    for (const screen of screens) {
      if (screen === screens[0]) await page.goto(screen);
      else await visit(page, screen);
      await page.getByRole('heading', { level: 1 }).first().waitFor();
      await page.locator('main').getByRole('status', { name: 'Loading' }).waitFor({ state: 'detached' });
      // It comes when the browser has nothing else to do.
      if (screen === FLAGS) await page.getByRole('region', { name: 'Get started' }).waitFor();
      await isDrawn();

      const isHeaded = HEADED.has(screen);
      const popups = await tryAll(page, isDrawn, page.locator(isHeaded ? 'body' : 'main').locator(POPUP));
      if (isHeaded) expect(popups).toBeGreaterThan(0);
      const buttons = page.locator(isHeaded ? 'main, header' : 'main').locator(BUTTON);
      await tryAll(page, isDrawn, buttons.filter({ hasNotText: 'Sign out' }), true);
    }
  },
  120_000,
);

test('Escape in a list inside a form closes the list, and the question about what was typed comes only after it', async () => {
  const { page } = await world.open('/projects/shop/webhooks');
  await page.getByRole('button', { name: 'New webhook' }).first().click();
  const dialog = page.getByRole('dialog', { name: 'New webhook' });
  await dialog.getByLabel('Name').fill('chat');
  await dialog.getByRole('button', { name: /^Environments/ }).click();
  await page.keyboard.press('Escape');
  expect([await layers(page), await dialog.getByRole('alertdialog').count()]).toEqual([1, 0]);
  await page.keyboard.press('Escape');
  await dialog.getByRole('alertdialog').waitFor();
  // A list that is open while the form grows stays beside its button.
  await page.keyboard.press('Escape');
  const button = dialog.getByRole('button', { name: /^Environments/ });
  await dialog.getByLabel('Name').fill('');
  await button.click();
  const gap = async () => {
    const [list, anchor] = [await page.locator(':popover-open').boundingBox(), await button.boundingBox()];
    if (list === null || anchor === null) return Number.NaN;
    return Math.min(Math.abs(list.y - anchor.y - anchor.height), Math.abs(list.y + list.height - anchor.y));
  };
  await page.evaluate("document.querySelector('dialog form').requestSubmit()");
  await dialog.locator('[aria-invalid="true"]').first().waitFor();
  await page.evaluate(NEXT_FRAMES);
  if ((await page.locator(':popover-open').count()) > 0) expect(await gap()).toBeLessThan(8);
}, 60_000);
