import { afterAll, beforeAll, expect, test } from 'bun:test';
import { startWorld, type World } from './support/world.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld();
  await world.management.createProject('shop');
}, 120_000);
afterAll(() => world.close());

test('a new link that is opened in the tab of a dead one works, and leaves the address', async () => {
  const { page } = await world.open('/invitation#hin_from-last-week', { as: 'nobody', expected: /410/ });
  await page.getByRole('heading', { name: 'This link does not work' }).waitFor();
  await page.goto(`/invitation#${await invite('edith@example.com')}`);
  await page.getByRole('heading', { name: 'Join Halyard' }).waitFor();
  expect(await page.getByLabel('E-mail').inputValue()).toBe('edith@example.com');
  expect(page.url()).not.toContain('#');
  await page.close();
}, 60_000);

test('whoever joins in a browser where somebody else is signed in comes in as themselves', async () => {
  const { page, check } = await world.open(`/invitation#${await invite('frank@example.com')}`);
  await page.getByText('This browser is signed in as ada@example.com').waitFor();
  await page.getByLabel('Your name').fill('Frank');
  await page.getByLabel('Password').fill('a horse of another colour');
  await page.getByRole('button', { name: 'Create the account' }).click();
  await page.waitForURL('**/projects/shop/flags');
  await page.getByRole('button', { name: 'Frank' }).waitFor();
  await check();
  await page.close();
}, 60_000);

async function invite(email: string): Promise<string> {
  // As in the API's contract.
  const { token } = (await world.management.request('POST', '/api/invitations', {
    body: { email, role: 'viewer' },
  })) as { token: string };
  return token;
}
