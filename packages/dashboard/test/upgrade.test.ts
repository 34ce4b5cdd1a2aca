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
  const palette = page.getByRole('dialog', { name: 'This screen could not be loaded' });
  await palette.getByText('The server may have been upgraded').waitFor();
  await page.keyboard.press('Escape');
  await palette.waitFor({ state: 'detached' });
  expect(await page.getByRole('switch', { name: 'new-checkout in development' }).count()).toBe(1);

  await page.unroute('**/assets/*.js');
  await page.getByRole('link', { name: 'Compare' }).click();
  await page.getByRole('button', { name: 'Reload the page' }).click();
  await page.getByRole('heading', { name: 'Compare' }).waitFor();
}, 60_000);

test('a bug in a screen is called a bug, with what to report, and the other screens go on working', async () => {
  const { page, check } = await world.open('/projects/shop/flags', { expected: /TypeError/ });
  await page.getByRole('switch', { name: 'new-checkout in development' }).waitFor();
  // An answer that no screen can draw.
  await page.route('**/api/projects/shop/keys', (route) => route.fulfill({ json: { keys: [null] } }));
  await page.getByRole('link', { name: 'Keys' }).click();
  await page.getByRole('heading', { name: 'Something went wrong' }).waitFor();
  await page.getByText(/^TypeError: /).waitFor();
  expect(await page.getByText('upgraded').count()).toBe(0);
  await check();
  await page.getByRole('link', { name: 'Flags' }).click();
  await page.getByRole('switch', { name: 'new-checkout in development' }).waitFor();
  await page.close();
}, 60_000);
