import { afterAll, describe, expect, test } from 'bun:test';
import { openSse, until } from '@halyard/testing';
import { BLANK } from './support/opened-page.ts';
import { startWorld, type World } from './support/world.ts';

const PATIENCE_MS = 120_000;
const worlds: World[] = [];
afterAll(async () => {
  for (const world of worlds) await world.close();
});

/** The one-time link that the server prints. */
async function setupLink({ node }: World): Promise<string> {
  const [, link = ''] = await until('the server prints the link', () =>
    /https?:\/\/\S+(\/setup#\S+)\s/.exec(node.logs()),
  );
  return link;
}

describe.each(['SQLite', 'PostgreSQL'] as const)('a new server on %s', (engine) => {
  test(
    'is set up through its link, gets a project and a flag, and a switch in the browser reaches a program',
    async () => {
      const world = await startWorld({ admin: 'none', engine });
      worlds.push(world);
      const visitor = await world.open('/', { as: 'visitor' });
      await visitor.page.getByRole('heading', { name: 'Welcome to Halyard' }).waitFor();
      await visitor.check();

      const { page, check } = await world.open(await setupLink(world), { as: 'visitor' });
      await page.getByRole('heading', { name: 'Set up Halyard' }).waitFor();
      expect(new URL(page.url()).hash).toBe(''); // the secret must not stay in the address bar or the browser history
      await check();
      await page.getByLabel('E-mail').fill('ada@example.com');
      await page.getByLabel('Your name').fill('Ada Lovelace');
      await page.getByLabel('Password', { exact: true }).fill('correct horse battery');
      await page.getByRole('button', { name: 'Create account' }).click();

      await page.getByRole('heading', { name: 'Create your first project' }).waitFor();
      await check();
      await page.getByRole('button', { name: 'New project' }).first().click();
      await page.getByLabel('Name').fill('Shop');
      await page.getByText('Use lowercase letters').waitFor();
      await page.getByLabel('Name').fill('shop');
      await page.getByRole('button', { name: 'Create project' }).click();
      await page.waitForURL('**/projects/shop/flags');
      await page.getByRole('heading', { name: 'No flags yet' }).waitFor();
      await check();

      // One button creates a flag, and the command breaks between its words.
      await page.getByRole('region', { name: 'Get started' }).waitFor();
      const buttons = page.getByRole('main').getByRole('button', { name: /^(New|Create first) flag/ });
      expect(await buttons.allTextContents()).toEqual(['New flag…']);
      const option = page
        .getByRole('region', { name: 'Command that creates a flag' })
        .getByText('--on', { exact: true });
      expect(await option.evaluate((word) => word.getClientRects().length)).toBe(1);
      // By keyboard, past the button that hides the steps.
      await page.getByRole('button', { name: 'Hide “Get started”' }).focus();
      await page.getByRole('button', { name: 'New flag…' }).press('Enter');
      await page.getByRole('dialog').getByLabel('Key').fill('new-checkout');
      await page.keyboard.press('Enter');
      await page.getByRole('button', { name: 'New key…' }).and(page.locator(':focus')).waitFor();
      const control = page.getByRole('switch', { name: 'new-checkout in development' });
      await control.waitFor();
      const { key } = await world.management.createKey('shop', ['development']);
      const stream = await openSse(`${world.node.url}/v1/stream?env=development`, {
        headers: { 'X-Service-Key': key },
      });
      expect((await stream.nextFrame()).data).toBe('{"new-checkout":{"enabled":false}}');
      await control.click();
      expect((await stream.nextFrame()).data).toBe('{"new-checkout":{"enabled":true}}');
      await page.getByText('Seen by 1 of 1 stream').waitFor();
      stream.close();

      const again = await world.open(await setupLink(world), { as: 'visitor', expected: /410/ });
      await again.page.getByRole('heading', { name: 'Sign in' }).waitFor(); // it works once
      await world.closePages();
    },
    PATIENCE_MS,
  );
});

test('an empty project shows no second button for its first flag while “Get started” is loading', async () => {
  const world = await startWorld();
  worlds.push(world);
  await world.management.createProject('shop');
  const { page } = await world.open(BLANK);
  const held = Promise.withResolvers<void>();
  await page.route('**/api/projects/shop/keys', async (route) => {
    await held.promise;
    await route.continue();
  });
  await page.goto('/projects/shop/flags');
  await page.getByRole('heading', { name: 'No flags yet' }).waitFor();
  const second = page.getByRole('button', { name: 'Create first flag' });
  await second.waitFor({ state: 'hidden' });
  expect(await second.count()).toBe(0);
  held.resolve();
  await page
    .getByRole('region', { name: 'Get started' })
    .getByRole('button', { name: 'New flag…' })
    .waitFor();
  expect(await second.count()).toBe(0);
}, 60_000);
