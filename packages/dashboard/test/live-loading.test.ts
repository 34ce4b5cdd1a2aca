import { expect, test } from 'bun:test';
import { sharedWorld } from './support/world.ts';

const PATIENCE_MS = 60_000;

const world = sharedWorld(
  async ({ management }) => {
    await management.createProject('shop');
    await management.putState('shop', 'development', 'new-checkout', { enabled: false });
  },
  { engine: 'PostgreSQL' },
);

test(
  'a change before a stream that opens while the list loads is in the list',
  async () => {
    await world.management.putState('shop', 'development', 'between', { enabled: false });
    const { page } = await world.open('/projects');
    const [read, live] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    await page.route('**/api/projects/shop/flags?*', async (route) => {
      const answer = await route.fetch();
      read.resolve();
      await live.promise;
      await route.fulfill({ response: answer });
    });
    // The list does not wait for ever.
    await page.route('**/api/events?project=shop', async (route) => {
      await read.promise;
      await world.management.putState('shop', 'development', 'between', { enabled: true });
      await route.continue();
    });
    await page.goto('/projects/shop/flags');
    await page.getByText('Live', { exact: true }).waitFor();
    live.resolve();
    await page.locator('[aria-label="between in development"]:checked').waitFor();
  },
  PATIENCE_MS,
);

test(
  'a change that is committed while the list loads is in the loaded list',
  async () => {
    await world.management.putState('shop', 'development', 'new-checkout', { enabled: false });
    const { page } = await world.open('/projects/shop/history');
    await page.getByText('Live', { exact: true }).waitFor();
    await page.route('**/api/projects/shop/flags?*', async (route) => {
      const answer = await route.fetch();
      await world.management.putState('shop', 'development', 'new-checkout', { enabled: true });
      // The change's own event is there by now, or comes after the list: both must end the same.
      await route.fulfill({ response: answer });
    });
    await page.getByRole('link', { name: 'Flags' }).click();
    await page.locator('[aria-label="new-checkout in development"]:checked').waitFor();
  },
  PATIENCE_MS,
);

test(
  'the list of another project is read after its stream has opened',
  async () => {
    await world.management.createProject('wiki');
    await world.management.putState('wiki', 'development', 'search', { enabled: false });
    const { page } = await world.open('/projects/shop/flags');
    await page.getByRole('switch', { name: 'new-checkout in development' }).waitFor();
    const asked: string[] = [];
    page.on('request', (request) => request.url().includes('/wiki/flags') && asked.push(request.url()));
    let askedBefore: number | undefined;
    await page.route('**/api/events?project=wiki', async (route) => {
      askedBefore = asked.length;
      // A list that was read before this misses the change: the page gets no event of it.
      await world.management.putState('wiki', 'development', 'search', { enabled: true });
      await route.continue();
    });
    await page.getByRole('button', { name: 'Project: shop' }).click();
    await page.getByRole('menuitemcheckbox', { name: 'wiki' }).click();
    await page.locator('[aria-label="search in development"]:checked').waitFor();
    expect(askedBefore).toBe(0);
  },
  PATIENCE_MS,
);

test(
  'a flag that is created or changed while a screen loads is shown in its current state',
  async () => {
    const write = (key: string, enabled: boolean) =>
      world.management.putState('shop', 'development', key, { enabled });
    await write('new-checkout', false);
    const { page } = await world.open('/projects/shop/history');
    await page.getByText('Live', { exact: true }).waitFor();
    await page.route('**/api/projects/shop/flags?*', async (route) => {
      const answer = await route.fetch();
      await write('just-made', false);
      await route.fulfill({ response: answer });
    });
    await page.getByRole('link', { name: 'Flags', exact: true }).click();
    const control = page.getByRole('switch', { name: 'just-made in development' });
    await control.waitFor();
    expect(await control.isChecked()).toBe(false);

    // Of the new flag the list may have read the record already, and its screen would not read it again.
    await page.route('**/api/projects/shop/flags/new-checkout', async (route) => {
      const answer = await route.fetch();
      await write('new-checkout', true);
      await route.fulfill({ response: answer });
    });
    const read = page.waitForResponse('**/api/projects/shop/flags/new-checkout');
    await page.getByRole('link', { name: 'new-checkout' }).click();
    await (await read).finished();
    await page.locator('[aria-label="new-checkout in development"]:checked').waitFor();
    await page.getByRole('link', { name: 'History', exact: true }).click();
    await page.goBack();
    await page.locator('[aria-label="new-checkout in development"]:checked').waitFor();
  },
  PATIENCE_MS,
);
