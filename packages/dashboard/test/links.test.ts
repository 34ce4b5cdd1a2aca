import { expect, test } from 'bun:test';
import type { Page } from 'playwright-core';
import { BLANK } from './support/opened-page.ts';
import { sharedWorld } from './support/world.ts';

const world = sharedWorld(async ({ management }) => {
  await management.createProject('shop');
});

test('a new link works in the tab of an expired one, begins at its heading in the smallest window, and leaves the address bar', async () => {
  const smallest = { width: 320, height: 256 };
  const { page } = await world.open('/invitation#hin_from-last-week', {
    as: 'visitor',
    expected: /410/,
    ...smallest,
  });
  await page.getByRole('heading', { name: 'This link does not work' }).waitFor();
  await page.goto(`/invitation#${await invite('edith@example.com')}`);
  await page.getByRole('heading', { name: 'Join Halyard' }).waitFor();
  expect(await page.getByLabel('E-mail').inputValue()).toBe('edith@example.com');
  expect(page.url()).not.toContain('#');
  await page.getByLabel('Your name').and(page.locator(':focus')).waitFor();
  expect(await page.evaluate('document.scrollingElement.scrollTop')).toBe(0);
}, 60_000);

test('a person who joins in a browser of another person is signed in as themselves', async () => {
  const { page, check } = await world.open(`/invitation#${await invite('frank@example.com')}`);
  await page.getByText('This browser is signed in as ada@example.com').waitFor();
  // Whatever is asked on the way out is asked in the name of another person, and the link is used.
  const asked: string[] = [];
  page.on('request', (request) => {
    if (new URL(page.url()).pathname === '/invitation') asked.push(new URL(request.url()).pathname);
  });
  await page.getByLabel('Your name').fill('Frank');
  await page.getByLabel('Password').fill('a horse of another color');
  await page.getByRole('button', { name: 'Create account' }).click();
  await page.waitForURL('**/projects/shop/flags');
  expect(asked).toEqual(['/api/invitations/accept', '/']);
  await page.getByRole('button', { name: 'Frank' }).waitFor();
  // The screen is a separate file, and loads a moment after the frame.
  await page.getByRole('heading', { level: 1 }).waitFor();
  await check();
}, 60_000);

test('going back does not drop a secret without a question', async () => {
  const { page, check } = await world.open('/projects/shop/flags');
  // Keys before the page is there go nowhere.
  await page.getByRole('heading', { level: 1 }).waitFor();
  await page.keyboard.press('g');
  await page.keyboard.press('k');
  await page.getByRole('button', { name: 'New key' }).first().click();
  await page.getByLabel('Name').fill('website');
  await page.getByRole('checkbox', { name: 'staging' }).check();
  await page.getByRole('button', { name: 'Create key' }).click();
  const secret = await page.locator('[data-secret]').textContent();
  await goBack(page);
  const question = page.getByRole('dialog', { name: 'Leave without saving?' });
  await question.getByText('The key is shown only once').waitFor();
  await check();
  await page.keyboard.press('Escape');
  await question.waitFor({ state: 'detached' });
  expect(await page.locator('[data-secret]').textContent()).toBe(secret);
  // The effect of a phone's back gesture at the second try.
  await page.evaluate(`document.querySelector('dialog[open]').close()`);
  await page.getByRole('alert').getByText('before closing').waitFor();
  expect(await page.locator('[data-secret]').isVisible()).toBe(true);
  await goBack(page);
  await question.getByRole('button', { name: 'Leave' }).click();
  await page.waitForURL('**/flags');
  expect(await page.locator('[data-secret]').count()).toBe(0);
}, 60_000);

test('a copied secret is announced to screen readers, and the focus stays', async () => {
  const { page, context } = await world.open(BLANK);
  // As on an address that is not https, where browsers have no clipboard for pages.
  await context.addInitScript(`Object.defineProperty(navigator, 'clipboard', { value: undefined })`);
  await page.goto('/projects/shop/keys');
  await page.getByRole('button', { name: 'New key' }).first().click();
  await page.getByLabel('Name').fill('worker');
  await page.getByRole('checkbox', { name: 'staging' }).check();
  await page.getByRole('button', { name: 'Create key' }).click();
  await page.locator('[data-secret]').waitFor();
  await page.getByRole('button', { name: 'Copy key' }).press('Enter');
  const dialog = page.getByRole('dialog', { name: 'Your new key “worker”' });
  // Screen readers ignore everything outside a modal dialog.
  await dialog.getByRole('status').getByText('Copied').waitFor({ state: 'attached' });
  expect(await page.evaluate('document.activeElement.textContent')).toBe('Copied');
}, 60_000);

test('a second copy is announced again', async () => {
  const { page } = await world.open('/operators');
  for (const [index, email] of ['gina@example.com', 'hugo@example.com'].entries()) {
    await page.getByRole('button', { name: 'Invite' }).click();
    await page.getByLabel('E-mail').fill(email);
    await page.getByRole('button', { name: 'Create invitation' }).click();
    const dialog = page.getByRole('dialog').filter({ has: page.locator('[data-secret]') });
    for (let times = 0; times <= index; times++) {
      await dialog.getByRole('button', { name: /^Cop(y link|ied)$/ }).click();
      await dialog.getByRole('button', { name: 'Copied' }).waitFor();
    }
    await dialog.getByRole('status').getByText('Copied').waitFor({ state: 'attached' });
    await dialog.getByRole('button', { name: "Done, I've saved it" }).click();
  }
}, 60_000);

/** As the button of the browser: what is on the screen may stay. */
async function goBack(page: Page): Promise<void> {
  await page.evaluate('history.back()');
}

async function invite(email: string): Promise<string> {
  // As in the API's contract.
  const { token } = (await world.management.request('POST', '/api/invitations', {
    body: { email, role: 'viewer' },
  })) as { token: string };
  return token;
}
