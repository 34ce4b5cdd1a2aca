import { afterAll, beforeAll, expect, test } from 'bun:test';
import { startWorld, type World } from './support/world.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld({ admin: 'none' });
}, 120_000);
afterAll(() => world.close());

/** The one-time link, as the server prints it for whoever started it. */
function setupLink(): string {
  const link = /https?:\/\/\S+\/setup#\S+/.exec(world.node.logs())?.[0];
  if (link === undefined) throw new Error(`the server printed no link:\n${world.node.logs()}`);
  return link.slice(link.indexOf('/setup#'));
}

test('a new server is set up through its link, gets a project, and shows how to make a flag', async () => {
  const visitor = await world.open('/', { as: 'nobody' });
  await visitor.page.getByRole('heading', { name: 'Welcome aboard' }).waitFor();
  await visitor.check();

  const { page, check } = await world.open(setupLink(), { as: 'nobody' });
  await page.getByRole('heading', { name: 'Set up Halyard' }).waitFor();
  expect(new URL(page.url()).hash).toBe(''); // nobody reads the secret over a shoulder, or in the history
  await check();
  await page.getByLabel('E-mail').fill('ada@example.com');
  await page.getByLabel('Your name').fill('Ada Lovelace');
  await page.getByLabel('Password').fill('correct horse battery');
  await page.getByRole('button', { name: 'Create the account' }).click();

  await page.getByRole('heading', { name: 'Make your first project' }).waitFor();
  await check();
  await page.getByRole('button', { name: 'New project' }).first().click();
  await page.getByLabel('Name').fill('Shop');
  expect(await page.getByText('Use lower-case letters').isVisible()).toBe(true);
  await page.getByLabel('Name').fill('shop');
  await page.getByRole('button', { name: 'Create the project' }).click();
  await page.waitForURL('**/projects/shop/flags');
  await page.getByRole('heading', { name: 'No flags yet' }).waitFor();
  await check();
}, 60_000);
