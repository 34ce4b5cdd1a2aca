import { expect, test } from 'bun:test';
import { startTcpProxy } from '@halyard/testing';
import type { Page } from 'playwright-core';
import { messages as flagPage } from '../src/pages/flag/messages.tsx';
import { messages as flagList } from '../src/pages/flags/messages.ts';
import { BLANK } from './support/opened-page.ts';
import { sharedWorld } from './support/world.ts';

const PATIENCE_MS = 60_000;

const world = sharedWorld(
  async ({ management }) => {
    await management.createProject('shop');
    await management.putState('shop', 'development', 'new-checkout', { enabled: false });
    await management.createProject('blog');
    await management.putState('blog', 'development', 'drafts', { enabled: false });
  },
  { engine: 'PostgreSQL' },
);

test(
  'a screen shows a lost connection, reconnects, and shows the changes it missed',
  async () => {
    const proxy = await startTcpProxy({ port: Number(new URL(world.node.url).port) });
    const address = `http://127.0.0.1:${proxy.port}/projects/shop/flags`;
    const { page, close } = await world.open(address, { expected: /ERR_/ });
    const control = page.getByRole('switch', { name: 'new-checkout in development' });
    await page.getByText('Live', { exact: true }).waitFor();
    await control.waitFor();
    proxy.refuse();
    await page.getByText('Offline', { exact: true }).waitFor();
    await world.management.putState('shop', 'development', 'new-checkout', { enabled: true });
    expect(await control.isChecked()).toBe(false);
    proxy.restore();
    await page.getByText('Live', { exact: true }).waitFor();
    await page.locator('[aria-label="new-checkout in development"]:checked').waitFor();
    await close();
    await proxy.close();
  },
  PATIENCE_MS,
);

test.each([1280, 390])(
  'a change by another person shows its author without fetching the list again, %d px wide',
  async (width) => {
    await world.management.putState('shop', 'development', 'news', { enabled: false });
    const { page, check } = await world.open('/projects/shop/flags', { width });
    await page.getByText('Live', { exact: true }).waitFor({ state: 'attached' });
    const item = page.locator('[data-flag="news"]');
    await item.getByText('by token admin').waitFor();
    const asked: string[] = [];
    page.on('request', (request) => request.url().includes('/flags') && asked.push(request.url()));
    // Ada in another place: the same session.
    const state = '/api/projects/shop/environments/development/flags/news';
    const headers = { origin: world.node.url };
    const answer = await page.request.put(state, { headers, data: { enabled: true } });
    expect(answer.status()).toBe(200);
    await item.getByText('by ada', { exact: true }).waitFor();
    expect(asked).toEqual([]);
    await check();
  },
  PATIENCE_MS,
);

test(
  'a tab that is hidden for half a minute disconnects, and reconnects when it is shown',
  async () => {
    const { page } = await world.open(BLANK);
    await page.clock.install();
    const streams: string[] = [];
    page.on('request', (request) => request.url().includes('/api/events') && streams.push(request.url()));
    await page.goto('/projects/shop/flags');
    await page.getByText('Live', { exact: true }).waitFor();
    const control = page.getByRole('switch', { name: 'new-checkout in development' });
    await control.waitFor();
    expect(streams).toHaveLength(1);

    await show(page, 'hidden');
    // The page's clock goes on by itself: the rest is for a busy machine.
    await page.clock.fastForward(15_000);
    await page.getByText('Live', { exact: true }).waitFor();
    await page.clock.fastForward(15_000);
    await page.getByText('Paused', { exact: true }).waitFor();
    const wasOn = await control.isChecked();
    await world.management.putState('shop', 'development', 'new-checkout', { enabled: !wasOn });
    await show(page, 'visible');
    await page.getByText('Live', { exact: true }).waitFor();
    await page
      .locator(`[aria-label="new-checkout in development"]${wasOn ? ':not(:checked)' : ':checked'}`)
      .waitFor();
    expect(streams).toHaveLength(2);
  },
  PATIENCE_MS,
);

test(
  'a stream that is silent for 45 seconds counts as lost, one with keep-alives does not',
  async () => {
    const { page } = await world.open(BLANK);
    await page.addInitScript(`
      const Source = EventSource;
      window.streams = [];
      window.EventSource = class extends Source {
        constructor(url) { super(url); window.streams.push(this); }
      };
    `);
    await page.clock.install();
    await page.goto('/projects/shop/flags');
    await page.getByText('Live', { exact: true }).waitFor();
    for (let beats = 0; beats < 4; beats++) {
      await page.clock.fastForward(30_000);
      await page.evaluate(`streams[0].dispatchEvent(new MessageEvent('beat', { data: '{}' }))`);
    }
    expect(await page.evaluate('streams.length')).toBe(1);
    expect(await page.getByText('Live', { exact: true }).count()).toBe(1);
    const second = page.waitForRequest('**/api/events*');
    await page.clock.fastForward(61_000);
    await second;
    await page.getByText('Live', { exact: true }).waitFor();
    // A machine that slept: the clock went on, its timers did not.
    await page.evaluate(`
      const now = Date.now;
      Date.now = () => now() + 3_600_000;
    `);
    const third = page.waitForRequest('**/api/events*');
    await show(page, 'hidden');
    await show(page, 'visible');
    await third;
    await page.getByText('Live', { exact: true }).waitFor();
  },
  PATIENCE_MS,
);

test(
  'without a stream, a bulk switch and its undo are shown anyway',
  async () => {
    for (const key of ['alone-a', 'alone-b'])
      await world.management.putState('shop', 'development', key, { enabled: false });
    const { page, context } = await world.open(BLANK, { expected: /ERR_/ });
    await context.route('**/api/events*', (route) => route.abort());
    await page.goto('/projects/shop/flags?q=alone');
    await page.getByText('Offline', { exact: true }).waitFor();
    await page.getByLabel(flagList.list.selectAll).check();
    await page.getByRole('button', { name: 'Turn on in' }).click();
    await page.getByRole('menuitem', { name: 'development' }).click();
    await page.getByText('2 flags are on in development', { exact: true }).waitFor();
    await page.locator('[aria-label="alone-b in development"]:checked').waitFor();
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.locator('[aria-label="alone-b in development"]:not(:checked)').waitFor();
  },
  PATIENCE_MS,
);

test.each([
  [
    'a screen of no project',
    async (page: Page) => {
      await page.getByRole('button', { name: 'Ada' }).click();
      await page.getByRole('menuitem', { name: 'Account' }).click();
      await page.getByRole('heading', { name: 'Account', exact: true }).waitFor();
    },
  ],
  [
    'another project',
    async (page: Page) => {
      await page.getByRole('button', { name: 'Project: shop' }).click();
      await page.getByRole('menuitemcheckbox', { name: 'blog' }).click();
      await page.getByRole('switch', { name: 'drafts in development' }).waitFor();
    },
  ],
])(
  'what changed in a project while %s was shown is there when one comes back',
  async (_, leave) => {
    await world.management.putState('shop', 'development', 'new-checkout', { enabled: false });
    const { page } = await world.open('/projects/shop/flags');
    await page.getByRole('switch', { name: 'new-checkout in development' }).waitFor();
    await leave(page);
    await page.getByText('Live', { exact: true }).waitFor();
    await world.management.putState('shop', 'development', 'new-checkout', { enabled: true });
    await page.goBack();
    await page.locator('[aria-label="new-checkout in development"]:checked').waitFor();
  },
  PATIENCE_MS,
);

test(
  'the late answer of a switch does not hide what another person has changed since',
  async () => {
    await world.management.putState('shop', 'development', 'late', { enabled: false });
    const { page } = await world.open('/projects/shop/flags?q=late');
    await page.getByText('Live', { exact: true }).waitFor();
    const [made, release] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    await page.route('**/api/**', async (route) => {
      if (route.request().method() === 'GET') return route.fallback();
      const response = await route.fetch();
      made.resolve();
      await release.promise;
      await route.fulfill({ response });
    });
    const control = page.getByRole('switch', { name: 'late in development' });
    await control.click();
    await made.promise;
    await world.management.putState('shop', 'development', 'late', { enabled: false });
    await page.locator('[aria-label="late in development"]:not(:checked)').waitFor();
    const answered = page.waitForResponse((response) => response.request().method() !== 'GET');
    release.resolve();
    await (await answered).finished();
    // Its message may stand for a moment, and leaves because the state has been replaced.
    await page.getByText('late is on in development', { exact: true }).waitFor({ state: 'detached' });
    expect(await control.isChecked()).toBe(false);
  },
  PATIENCE_MS,
);

test(
  'missed changes are fetched when their screen opens, even after other changes arrived',
  async () => {
    for (const key of ['missed', 'seen'])
      await world.management.putState('shop', 'development', key, { enabled: false });
    const { page } = await world.open('/projects/shop/flags');
    await page.getByRole('switch', { name: 'missed in development' }).waitFor();
    await page.getByRole('link', { name: 'History', exact: true }).click();
    await page.getByRole('heading', { name: 'History' }).waitFor();
    await pause(page);
    await world.management.putState('shop', 'development', 'missed', { enabled: true });
    await show(page, 'visible');
    await page.getByText('Live', { exact: true }).waitFor();
    const headers = { 'x-change-note': 'After the pause' };
    await world.management.putState('shop', 'development', 'seen', { enabled: true }, { headers });
    await page.getByText('After the pause').waitFor();
    await page.getByRole('link', { name: 'Flags', exact: true }).click();
    await page.locator('[aria-label="seen in development"]:checked').waitFor();
    await page.locator('[aria-label="missed in development"]:checked').waitFor();
  },
  PATIENCE_MS,
);

test(
  'a change by another person while the tab was hidden does not become the base of a draft',
  async () => {
    await world.management.putState('shop', 'development', 'new-checkout', { enabled: true, value: 7 });
    const { page } = await world.open('/projects/shop/flags/new-checkout');
    const card = page.getByRole('region', { name: 'development', exact: true });
    await card.locator('.cm-content').press('Control+A');
    await page.keyboard.type('8');
    await pause(page);
    await world.management.putState('shop', 'development', 'new-checkout', { enabled: true, value: 9 });
    // The value's own text is asked for as well, and may be there first.
    const text = page.waitForResponse('**/environments/development/flags/new-checkout');
    await page.route('**/api/projects/shop/flags/new-checkout', async (route) => {
      await (await text).finished();
      await route.continue();
    });
    await show(page, 'visible');
    await card.getByRole('alert').getByText('changed this while you were editing').waitFor();
    expect(await card.locator('.cm-content').textContent()).toBe('8');
  },
  PATIENCE_MS,
);

test(
  'the screen of a missing project is not offline, and shows the project once it is created',
  async () => {
    const { page } = await world.open('/projects/to-come/flags', { expected: /404/ });
    await page.getByText('Project “to-come” does not exist').waitFor();
    await page.getByText('Live', { exact: true }).waitFor();
    await world.management.createProject('to-come');
    await page.getByRole('heading', { name: 'No flags yet' }).waitFor();
    await page.getByText('Live', { exact: true }).waitFor();
    await world.management.putState('to-come', 'development', 'first', { enabled: true });
    await page.locator('[aria-label="first in development"]:checked').waitFor();
  },
  PATIENCE_MS,
);

test(
  'the page of a missing flag shows it once it is created',
  async () => {
    const { page } = await world.open('/projects/shop/flags/to-come', { expected: /404/ });
    await page.getByRole('heading', { name: flagPage.page.missingTitle }).waitFor();
    await page.getByText('Live', { exact: true }).waitFor();
    await world.management.putState('shop', 'development', 'to-come', { enabled: true });
    await page.locator('[aria-label="to-come in development"]:checked').waitFor();
  },
  PATIENCE_MS,
);

/** Hides the tab for so long that the page gives its connection up. */
async function pause(page: Page): Promise<void> {
  await page.clock.install();
  await show(page, 'hidden');
  await page.clock.fastForward(31_000);
  await page.getByText('Paused', { exact: true }).waitFor();
}

/** Tells the page that its tab is hidden or shown, as a browser would. */
async function show(page: Page, state: 'hidden' | 'visible'): Promise<void> {
  await page.evaluate(`
    Object.defineProperty(document, 'hidden', { value: ${state === 'hidden'}, configurable: true });
    document.dispatchEvent(new Event('visibilitychange'));
  `);
}
