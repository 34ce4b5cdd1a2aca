import { afterAll, expect, test } from 'bun:test';
import { lastingPort } from '@halyard/testing';
import { startIdentityProvider } from '@halyard/testing/identity-provider';
import type { Page } from 'playwright-core';
import { ADMIN, KEPT_ALIVE } from './support/opened-page.ts';
import { sharedWorld } from './support/world.ts';

const PATIENCE_MS = 60_000;

const port = lastingPort();
const client = { clientId: 'halyard', clientSecret: 'the-client-secret-of-the-tests' };
const provider = await startIdentityProvider({ ...client, publicUrl: `http://127.0.0.1:${port}` });
afterAll(() => provider.close());

const world = sharedWorld(
  async ({ management }) => {
    await management.createProject('shop');
    await management.putState('shop', 'development', 'new-checkout', { enabled: false });
  },
  {
    env: {
      HALYARD_OIDC_ISSUER: provider.issuer,
      HALYARD_OIDC_CLIENT_ID: client.clientId,
      HALYARD_OIDC_CLIENT_SECRET: client.clientSecret,
      HALYARD_OIDC_ROLES: 'devs=editor,ops=admin',
      HALYARD_OIDC_LABEL: 'Example ID',
    },
    arguments: ['--port', String(port)],
  },
);

/** Who signs in at the provider from now on. */
function beAtProvider(name: string, groups: readonly string[]): void {
  const claims = { name, email: `${name.toLowerCase()}@example.com`, email_verified: true, groups };
  provider.person = { sub: name, claims };
}

const button = (page: Page) => page.getByRole('button', { name: 'Sign in with Example ID' });

test(
  'a visitor signs in with the identity provider, gets to the page of the link, and signs out of both',
  async () => {
    beAtProvider('Grace', ['devs']);
    const { page, check } = await world.open('/projects/shop/flags?q=new', {
      as: 'visitor',
      expected: /401/,
    });
    await button(page).waitFor();
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Sign in with Example ID');
    await check();
    await button(page).click();
    await page.getByRole('switch', { name: 'new-checkout in development' }).waitFor();
    expect(new URL(page.url()).pathname + new URL(page.url()).search).toBe('/projects/shop/flags?q=new');
    await page.goto('/account');
    await page.getByText('Your role comes from your groups at Example ID.').waitFor();
    expect(await page.getByLabel('Current password').count()).toBe(0);
    expect(await page.getByText('change your password').count()).toBe(0);
    await check();
    await page.getByRole('button', { name: 'Sign out here' }).click();
    await page.waitForURL((url) => url.origin === provider.issuer);
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.waitForURL('**/sign-in');
    await button(page).waitFor();
    // A password works beside it.
    await page.getByLabel('E-mail').fill(ADMIN.email);
    await page.getByLabel('Password', { exact: true }).fill(ADMIN.password);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.waitForURL('**/projects/**');
  },
  PATIENCE_MS,
);

test(
  'the sign-in page says why a person is refused; people see who signs in by single sign-on',
  async () => {
    beAtProvider('Linus', ['others']);
    const { page, check, close } = await world.open('/sign-in?from=%2Faudit', {
      as: 'visitor',
      expected: /401/,
    });
    await button(page).click();
    await page.getByRole('alert').getByText('None of your groups at Example ID has access').waitFor();
    await check();
    // A wrong password has its own reason, and the one of before is over.
    await page.getByLabel('E-mail').fill(ADMIN.email);
    await page.getByLabel('Password', { exact: true }).fill('not the password');
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByRole('alert').getByText("don't match").waitFor();
    expect(await page.getByRole('alert').count()).toBe(1);
    expect(new URL(page.url()).search).toBe('?from=%2Faudit');
    beAtProvider('Linus', ['devs']);
    await button(page).click();
    await page.waitForURL('**/audit');
    await close();

    const people = await world.open('/operators');
    const row = people.page.getByRole('row', { name: /Linus/ });
    await row.getByText('SSO', { exact: true }).waitFor();
    await row.getByRole('button', { name: 'More for Linus' }).click();
    await people.page.getByRole('menuitem', { name: 'Remove' }).waitFor();
    expect(await people.page.getByRole('menuitem', { name: 'Reset password' }).count()).toBe(0);
    await people.page.keyboard.press('Escape');
    await row.getByRole('button', { name: 'Edit Linus' }).click();
    const dialog = people.page.getByRole('dialog', { name: 'Edit Linus' });
    await dialog.getByText("The role comes from this person's groups at Example ID.").waitFor();
    expect(await dialog.getByRole('radio').count()).toBe(0);
    await people.check();
  },
  PATIENCE_MS,
);

test('the whole name of the provider is on its button, in the smallest window', async () => {
  const { page, check } = await world.open('/sign-in', { as: 'visitor', width: 320, height: 256 });
  await page.route('**/api/session', async (route) => {
    const answer = await route.fetch();
    const session = (await answer.json()) as { sso: { label: string } };
    session.sso.label = 'Harbour International Identity';
    await route.fulfill({ response: answer, json: session });
  });
  await page.reload();
  const words = page.getByText('Sign in with Harbour International Identity');
  await words.waitFor();
  const [inside, frame] = [await words.boundingBox(), await page.getByRole('button').first().boundingBox()];
  expect(inside?.height).toBeGreaterThan(30);
  expect(frame?.height).toBeGreaterThan(inside?.height ?? 0);
  await check();
}, 60_000);

test(
  'a session of single sign-on that ends during work continues after signing in in another tab',
  async () => {
    beAtProvider('Ken', ['devs']);
    const { page, context } = await world.open('/sign-in?from=%2Fprojects%2Fshop%2Fflags', {
      as: 'visitor',
      expected: /401/,
    });
    await button(page).click();
    const control = page.getByRole('switch', { name: 'new-checkout in development' });
    await control.waitFor();
    await context.request.delete('/api/session', { headers: { Origin: world.node.url }, ...KEPT_ALIVE });
    await control.dispatchEvent('click');
    const dialog = page.getByRole('dialog', { name: 'Sign in again' });
    await dialog.waitFor();
    const opened = context.waitForEvent('page');
    await dialog.getByRole('button', { name: 'Sign in with Example ID' }).click();
    const other = await opened;
    await other.waitForURL('**/projects/**');
    await other.close();
    // What a browser does when the person comes back to the tab.
    await page.bringToFront();
    await page.evaluate("document.dispatchEvent(new Event('visibilitychange', { bubbles: true }))");
    await dialog.waitFor({ state: 'detached' });
  },
  PATIENCE_MS,
);
