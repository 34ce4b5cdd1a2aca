import { expect, test } from 'bun:test';
import type { Page } from 'playwright-core';
import { openSqlite } from '../../server/src/storage/engines/sqlite.ts';
import { databaseFile } from '../../server/src/storage/schema.ts';
import { signUp } from './support/people.ts';
import { visit } from './support/visit.ts';
import { sharedWorld } from './support/world.ts';

const PATIENCE_MS = 60_000;

const world = sharedWorld(
  async (started) => {
    const { management, node } = started;
    await signUp(started, { email: 'grace@example.com', role: 'admin' });
    await management.createProject('shop');
    await management.putState('shop', 'production', 'new-checkout', { enabled: false });
    await management.request('PATCH', '/api/projects/shop', { body: { usage: true } });
    await management.request('PATCH', '/api/projects/shop/environments/production', {
      body: { approvals: 1 },
    });
    const path = '/api/projects/shop/environments/production/flags/new-checkout?emergency=true';
    const headers = { 'X-Change-Note': 'INC-812' };
    await management.request('PATCH', path, { body: { enabled: true }, headers });

    const database = await openSqlite({ path: databaseFile(node.dataFolder) });
    await database.query(
      "INSERT INTO flag_last_reads (environment_id, flag_key, hour) SELECT id, 'new-checkout', $1 FROM environments WHERE name = 'production'",
      [Math.floor(Date.now() / 3_600_000) * 3_600_000],
    );
    await database.close();
  },
  { engine: 'SQLite' },
);

/** How far what is in view was moved by what came later: the browser's own figure, 0 for nothing. */
const SHIFT = `new Promise((resolve) => {
  let sum = 0;
  const add = (shifts) => shifts.forEach(({ value }) => (sum += value));
  const observer = new PerformanceObserver((list) => add(list.getEntries()));
  observer.observe({ type: 'layout-shift', buffered: true });
  requestAnimationFrame(() => setTimeout(() => {
    add(observer.takeRecords());
    resolve(sum);
  }));
})`;

/** Holds the answers at an address until `release` is called. */
async function hold(page: Page, address: string): Promise<() => void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  await page.route(address, async (route) => {
    await promise;
    await route.continue();
  });
  return resolve;
}

test(
  'a flag’s environments appear below its proposals, and nothing moves them afterwards, whatever comes late',
  async () => {
    const { page } = await world.open('/account');
    const [proposals, reads] = [await hold(page, '**/proposals?*'), await hold(page, '**/usage')];
    const isRead = page.waitForResponse('**/api/projects/shop/flags/new-checkout');
    await page.goto('/projects/shop/flags/new-checkout');
    await isRead;
    const control = page.getByRole('switch', { name: 'new-checkout in production' });
    expect(await control.count()).toBe(0);

    proposals();
    await control.waitFor();
    expect(await page.getByRole('region', { name: 'Changed in an emergency' }).count()).toBe(1);
    reads();
    await page.locator('[data-usage="production"]').getByText('last hour').waitFor();
    expect(Number(await page.evaluate(SHIFT))).toBeLessThan(0.02);
  },
  PATIENCE_MS,
);

test(
  'what an empty list shows is not moved by “Get started” above it, whatever comes late',
  async () => {
    await world.management.createProject('fresh');
    const { page } = await world.open('/account');
    const keys = await hold(page, '**/api/projects/fresh/keys');
    await page.goto('/projects/fresh/flags');
    await page.getByRole('heading', { name: 'No flags yet' }).waitFor();
    keys();
    await page.getByRole('region', { name: 'Get started' }).waitFor();
    expect(Number(await page.evaluate(SHIFT))).toBeLessThan(0.02);
  },
  PATIENCE_MS,
);

test(
  'flags are not pushed by “Get started” above them: they appear with it',
  async () => {
    await world.management.createProject('small');
    await world.management.putState('small', 'staging', 'first-flag', { enabled: true });
    const { page } = await world.open('/account');
    const keys = await hold(page, '**/api/projects/small/keys');
    await page.goto('/projects/small/flags');
    const control = page.getByRole('switch', { name: 'first-flag in staging', includeHidden: true });
    await control.waitFor({ state: 'attached' });
    expect(await control.isVisible()).toBe(false);
    keys();
    await page.getByRole('region', { name: 'Get started' }).waitFor();
    await control.click();
    expect(Number(await page.evaluate(SHIFT))).toBeLessThan(0.02);
  },
  PATIENCE_MS,
);

test(
  'what stands below a list appears with the list, not before it',
  async () => {
    const { page } = await world.open('/account');
    const release = await hold(page, '**/api/operators');
    await visit(page, '/operators');
    await page.getByRole('heading', { name: 'People' }).waitFor();
    expect(await page.getByRole('heading', { name: 'Open links' }).count()).toBe(0);
    release();
    await page.getByRole('heading', { name: 'Open links' }).waitFor();
  },
  PATIENCE_MS,
);

test.each(['history', 'schedules', 'flags', 'flags/new-checkout'])(
  'while the server does not answer, the screen %s says that it is tried again',
  async (path) => {
    const { page, check } = await world.open('/account', { expected: /ERR_FAILED/ });
    let isAway = true;
    await page.route(/\/api\/(audit|projects\/shop\/(schedules|rollouts|flags))/, (route) =>
      isAway ? route.abort() : route.continue(),
    );
    await visit(page, `/projects/shop/${path}`);
    const note = page.locator('main').getByText('The server does not answer. Trying again…').first();
    await note.waitFor();
    await check();
    // The gray shapes fade as one: a hundred animations would be a hundred layers for the browser.
    await page.emulateMedia({ reducedMotion: 'no-preference' });
    const fading = await page.evaluate('document.getAnimations().length');
    expect(fading).toBeGreaterThan(0);
    expect(fading).toBeLessThan(5);
    isAway = false;
    await note.waitFor({ state: 'detached' });
    expect(await page.getByText('This could not be loaded').count()).toBe(0);
  },
  PATIENCE_MS,
);
