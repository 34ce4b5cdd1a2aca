import { expect, test } from 'bun:test';
import { startTcpProxy } from '@halyard/testing';
import { BLANK } from './support/opened-page.ts';
import { sharedWorld } from './support/world.ts';

const world = sharedWorld(async ({ management }) => {
  await management.createProject('shop');
  await management.putState('shop', 'development', 'new-checkout', { enabled: false });
});

/** The browser's messages about missing files, and React's about a failed render. */
const GONE = /404|ERR_/;

/** The files that a page asks for after its first one. */
const PARTS = /\/assets\/(shared|chunk)-/;

test('a page from before an upgrade works without its parts, and reloads for a screen whose file has a new name', async () => {
  const { page, check } = await world.open(BLANK, { expected: GONE });
  await page.route(PARTS, (route) => route.fulfill({ status: 404, body: '{}' }));
  await page.goto('/projects/shop/flags');
  await page.getByRole('switch', { name: 'new-checkout in development' }).waitFor();
  await page.keyboard.press('Control+k');
  const palette = page.getByRole('dialog', { name: 'This screen could not be loaded' });
  await palette.getByText('upgraded after this page was opened').waitFor();
  await check();
  await page.keyboard.press('Escape');
  await palette.waitFor({ state: 'detached' });
  // The loaded screen still works, because it may have unsaved changes.
  expect(await page.getByRole('switch', { name: 'new-checkout in development' }).count()).toBe(1);

  // The new page finds its files.
  await page.route('**/projects/shop/compare', async (route) => {
    await page.unroute(PARTS);
    await route.continue();
  });
  await page.getByRole('link', { name: 'Compare' }).click();
  await page.getByRole('heading', { name: 'Compare' }).waitFor();
}, 60_000);

test('a bug in a screen is called a bug, with what to report, and the other screens still work', async () => {
  const { page, check } = await world.open('/projects/shop/flags', { expected: /TypeError/ });
  await page.getByRole('switch', { name: 'new-checkout in development' }).waitFor();
  // A response that no screen can render, of a list that no other screen has loaded.
  await page.route('**/api/projects/shop/webhooks', (route) => route.fulfill({ json: { webhooks: [null] } }));
  await page.keyboard.press('g');
  await page.keyboard.press('w');
  await page.getByRole('heading', { name: 'Something went wrong' }).waitFor();
  await page.getByText(/^TypeError: /).waitFor();
  expect(await page.getByText('upgraded').count()).toBe(0);
  await check();
  await page.getByRole('link', { name: 'Flags' }).click();
  await page.getByRole('switch', { name: 'new-checkout in development' }).waitFor();
}, 60_000);

test('a screen whose file is permanently missing shows an error, without endless reloads', async () => {
  const { page, check } = await world.open(BLANK, { expected: GONE });
  const compare = await filesOf('/projects/shop/compare');
  const flags = await filesOf('/projects/shop/flags');
  // The shared file belongs to both: the list of flags may not have asked for it yet.
  const missing = [...compare.difference(flags)].find((name) => name.includes('/chunk-')) ?? '';
  await page.route(`**${missing}`, (route) => route.fulfill({ status: 404, body: '{}' }));
  await page.goto('/projects/shop/flags');
  await page.getByRole('switch', { name: 'new-checkout in development' }).waitFor();
  const { promise: askedTwice, resolve } = Promise.withResolvers<void>();
  let [asked, loads] = [0, 0];
  page.on('load', () => loads++);
  page.on('request', (request) => {
    if (request.method() === 'HEAD' && ++asked === 2) resolve();
  });
  // It reloads once: the page of another version would know another name for the file.
  const reloaded = page.waitForEvent('load');
  await page.getByRole('link', { name: 'Compare' }).click();
  await reloaded;
  await page.getByRole('heading', { name: 'This screen could not be loaded' }).waitFor();
  await page.getByRole('button', { name: 'Reload the page' }).waitFor();
  await askedTwice;
  await check();
  expect(loads).toBe(1);

  // The stream was open all the time: the file is asked for again, and the screen appears once it is there.
  await page.unroute(`**${missing}`);
  await page.evaluate(`sessionStorage.clear(); dispatchEvent(new Event('online'))`);
  await page.getByRole('heading', { name: 'Compare', exact: true }).waitFor();
}, 60_000);

test('a screen that could not be loaded appears once the server is back', async () => {
  const proxy = await startTcpProxy({ port: Number(new URL(world.node.url).port) });
  const { page, close } = await world.open(BLANK, { expected: GONE });
  await page.goto(`http://127.0.0.1:${proxy.port}/projects/shop/flags`);
  await page.getByText('Live', { exact: true }).waitFor();
  await page.getByRole('switch', { name: 'new-checkout in development' }).waitFor();
  proxy.refuse();
  await page.keyboard.press('g');
  await page.keyboard.press('k');
  await page.getByRole('heading', { name: 'This screen could not be loaded' }).waitFor();
  proxy.restore();
  await page.getByRole('heading', { name: 'Keys', exact: true }).waitFor();
  await close();
  await proxy.close();
}, 60_000);

test('a screen that was fetched ahead opens while the server is away', async () => {
  const proxy = await startTcpProxy({ port: Number(new URL(world.node.url).port) });
  const needed = await filesOf('/projects/shop/keys');
  const { page, close } = await world.open(BLANK, { expected: GONE, fetchesAhead: true });
  await page.goto(`http://127.0.0.1:${proxy.port}/projects/shop/flags`);
  await page.getByText('Live', { exact: true }).waitFor();
  await page.waitForFunction(
    (names) => {
      const fetched = performance.getEntriesByType('resource').map(({ name }) => new URL(name).pathname);
      return names.every((name) => fetched.includes(name));
    },
    [...needed],
  );
  proxy.refuse();
  await page.getByText('Offline', { exact: true }).waitFor();
  await page.keyboard.press('g');
  await page.keyboard.press('k');
  await page.getByRole('heading', { name: 'Keys', exact: true }).waitFor();
  await close();
  await proxy.close();
}, 60_000);

/** The files of the dashboard that a screen needs. */
async function filesOf(path: string): Promise<ReadonlySet<string>> {
  const { page, close } = await world.open(BLANK);
  await page.goto(path);
  await page.getByRole('heading', { level: 1 }).waitFor();
  const names = (await page.evaluate(
    `performance.getEntriesByType('resource').map(({ name }) => new URL(name).pathname)`,
  )) as string[];
  await close();
  return new Set(names.filter((name) => name.startsWith('/assets/')));
}
