import { afterAll, beforeAll, expect, test } from 'bun:test';
import { startWorld, type World } from './support/world.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld();
  await world.management.createProject('shop');
  await world.management.putState('shop', 'development', 'new-checkout', { enabled: false });
}, 120_000);
afterAll(() => world.close());

/** What a browser says of files that are gone, and React of what it could not show. */
const GONE = /404|dynamically imported module/;

test('a page from before an upgrade says what to do where a screen has another name now', async () => {
  const { page, check } = await world.open('/projects/shop/flags', { expected: GONE });
  await page.getByRole('switch', { name: 'new-checkout in development' }).waitFor();
  await page.route('**/assets/*.js', (route) => route.fulfill({ status: 404, body: '{}' }));
  await page.getByRole('link', { name: 'Compare' }).click();
  await page.getByRole('heading', { name: 'This screen could not be loaded' }).waitFor();
  await check();
  // What is loaded already goes on working.
  await page.getByRole('link', { name: 'Flags' }).click();
  await page.getByRole('switch', { name: 'new-checkout in development' }).waitFor();

  await page.keyboard.press('Control+k');
  const palette = page.getByRole('dialog', { name: 'Commands' });
  await palette.getByText('The server may have been upgraded').waitFor();
  await page.keyboard.press('Escape');
  await palette.waitFor({ state: 'detached' });
  expect(await page.getByRole('switch', { name: 'new-checkout in development' }).count()).toBe(1);

  await page.unroute('**/assets/*.js');
  await page.getByRole('link', { name: 'Compare' }).click();
  await page.getByRole('button', { name: 'Load the page anew' }).click();
  await page.getByRole('heading', { name: 'Compare' }).waitFor();
}, 60_000);
