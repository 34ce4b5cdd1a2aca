import { expect, test } from 'bun:test';
import type { Page } from 'playwright-core';
import { ADMIN, KEPT_ALIVE } from './support/opened-page.ts';
import { sharedWorld } from './support/world.ts';

const PATIENCE_MS = 60_000;

const world = sharedWorld(async ({ management }) => {
  await management.createProject('shop');
  await management.createProject('deck');
  await management.putState('shop', 'development', 'new-checkout', { enabled: false });
  await management.putState('shop', 'production', 'new-checkout', { enabled: false });
});

test(
  'a visitor signs in and gets to the page of the link',
  async () => {
    const { page, check } = await world.open('/projects/shop/flags?q=new', {
      as: 'visitor',
      expected: /401/,
    });
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await page.getByLabel('E-mail').fill(ADMIN.email);
    await page.getByLabel('Password', { exact: true }).fill('not the password');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('alert').waitFor();
    await check();
    await page.getByLabel('Password', { exact: true }).fill(ADMIN.password);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('switch', { name: 'new-checkout in development' }).waitFor();
    expect(new URL(page.url()).pathname + new URL(page.url()).search).toBe('/projects/shop/flags?q=new');
  },
  PATIENCE_MS,
);

test(
  'the page after signing in is never on another server',
  async () => {
    for (const from of ['//evil.example', '/\\evil.example', 'https://evil.example/']) {
      const { page, close } = await world.open(`/sign-in?from=${encodeURIComponent(from)}`);
      await page.waitForURL('**/projects/**');
      expect(new URL(page.url()).origin).toBe(new URL(world.node.url).origin);
      await close();
    }
  },
  PATIENCE_MS,
);

test(
  'a session that ends during work asks to sign in over the page, and nothing is changed until then',
  async () => {
    const { page, context } = await world.open('/projects/shop/flags', { expected: /401/ });
    const control = page.getByRole('switch', { name: 'new-checkout in development' });
    await control.waitFor();
    const ended = await context.request.delete('/api/session', {
      headers: { Origin: world.node.url },
      ...KEPT_ALIVE,
    });
    expect(ended.status()).toBe(200);
    // The stream may have reported it already: then the dialog is above it.
    await control.dispatchEvent('click');
    const dialog = page.getByRole('dialog', { name: 'Sign in again' });
    await dialog.waitFor();
    // The dialog says it all: no message about headers beneath it.
    expect(await page.getByText(/was not changed|Bearer/).count()).toBe(0);
    const { flags } = await world.management.states('shop', 'development');
    expect(flags[0]?.state.enabled).toBe(false);
    expect(await dialog.getByLabel('E-mail').inputValue()).toBe(ADMIN.email);
    await dialog.getByLabel('Password', { exact: true }).fill(ADMIN.password);
    await dialog.getByRole('button', { name: 'Sign in' }).click();
    await dialog.waitFor({ state: 'detached' });
    expect(await control.isChecked()).toBe(false);
    await control.click();
    await page.getByText('new-checkout is on in development').first().waitFor();
    expect(new URL(page.url()).pathname).toBe('/projects/shop/flags');
  },
  PATIENCE_MS,
);

test(
  'what was typed when the session ended is still there after signing in, and can be saved',
  async () => {
    await world.management.putState('deck', 'development', 'typed', { enabled: true, value: 7 });
    const { page, context, check } = await world.open('/projects/deck/flags/typed', { expected: /401/ });
    const streams: string[] = [];
    await typeValue(page, '8');
    await context.clearCookies();
    page.on('request', (request) => request.url().includes('/api/events') && streams.push(request.url()));
    const save = page.getByRole('button', { name: 'Save in development' });
    // Another request may have been refused before: then the dialog is above it.
    await save.dispatchEvent('click');
    const dialog = page.getByRole('dialog', { name: 'Sign in again' });
    await dialog.getByText('what you typed is kept').waitFor();
    const password = dialog.getByLabel('Password', { exact: true });
    expect(await password.evaluate((field) => field === field.ownerDocument.activeElement)).toBe(true);
    await page.keyboard.press('Escape');
    await page.keyboard.press('Escape');
    await password.fill('not the password');
    await page.keyboard.press('Enter');
    await dialog.getByRole('alert').waitFor();
    await check();
    expect(streams).toEqual([]);

    await password.fill(ADMIN.password);
    await page.keyboard.press('Enter');
    await dialog.waitFor({ state: 'detached' });
    expect(await valueField(page).textContent()).toBe('8');
    await save.click();
    await page.getByText('typed is on, value 8 in development').first().waitFor();
    expect(streams.length).toBe(1);
    const { flags } = await world.management.states('deck', 'development');
    expect(flags.find(({ key }) => key === 'typed')?.state.value).toBe(8);
    await check();
  },
  PATIENCE_MS,
);

test(
  'another person who signs in over the page, or leaves, does not see what was typed',
  async () => {
    const other = await invite('editor', 'another-editor');
    await world.management.putState('deck', 'development', 'typed', { enabled: true, value: 7 });
    for (const next of ['signs in', 'leaves'] as const) {
      const { page, context, close } = await world.open('/projects/deck/flags/typed', { expected: /401/ });
      await typeValue(page, '9');
      await context.clearCookies();
      await page.getByRole('button', { name: 'Save in development' }).dispatchEvent('click');
      const dialog = page.getByRole('dialog', { name: 'Sign in again' });
      await dialog.waitFor();
      if (next === 'leaves') {
        await dialog.getByRole('button', { name: 'Leave' }).click();
        await page.waitForURL('**/sign-in?from=*');
        await page.getByRole('heading', { name: 'Sign in' }).waitFor();
      } else {
        await dialog.getByLabel('E-mail').fill(other.email);
        await dialog.getByLabel('Password', { exact: true }).fill(other.password);
        await dialog.getByRole('button', { name: 'Sign in' }).click();
        await page.getByRole('button', { name: 'another-editor' }).waitFor();
        await valueField(page).waitFor();
        expect(await valueField(page).textContent()).toBe('7');
      }
      await close();
    }
  },
  PATIENCE_MS,
);

test(
  'signing out asks about unsaved changes first, and shows the screen without an error until it is left',
  async () => {
    await world.management.putState('deck', 'development', 'typed', { enabled: true, value: 7 });
    const { page, complaints } = await world.open('/projects/deck/flags/typed', {
      expected: /401|ERR_FAILED/,
    });
    await typeValue(page, '8');
    const signOut = async () => {
      await page.getByRole('banner').getByRole('button').last().click();
      await page.getByRole('menuitem', { name: 'Sign out' }).click();
    };
    const question = page.getByRole('dialog', { name: 'Leave without saving?' });
    await signOut();
    await question.getByRole('button', { name: 'Cancel' }).click();
    expect(await valueField(page).textContent()).toBe('8');
    expect((await page.request.get('/api/projects')).status()).toBe(200);

    // A sign-out that fails leaves the edits on the screen, and they are guarded as before.
    await page.route('**/api/session', (route) =>
      route.request().method() === 'DELETE' ? route.abort() : route.continue(),
    );
    await signOut();
    await question.getByRole('button', { name: 'Leave' }).click();
    await page.getByText('Not signed out').waitFor();
    await page.unroute('**/api/session');
    await page.getByRole('link', { name: 'History', exact: true }).click();
    await question.getByRole('button', { name: 'Cancel' }).click();
    expect(await valueField(page).textContent()).toBe('8');

    // Leads to the same page instead of the sign-in, so that it can be looked at afterwards.
    await page.route('**/api/session', async (route) => {
      if (route.request().method() !== 'DELETE') return route.continue();
      const response = await route.fetch();
      return route.fulfill({ response, json: { continueAt: '#left' } });
    });
    await signOut();
    await question.getByRole('button', { name: 'Leave' }).click();
    await page.waitForURL('**#left');
    // What the answer changes is on the screen in the next frame.
    await page.evaluate('new Promise((next) => requestAnimationFrame(() => requestAnimationFrame(next)))');
    expect(await page.getByRole('heading', { level: 1 }).textContent()).toContain('typed');
    expect(complaints).toEqual([]);
    expect((await page.request.get('/api/projects')).status()).toBe(401);
  },
  PATIENCE_MS,
);

test(
  'an editor without the permission sees why production cannot be switched; a viewer can switch nothing',
  async () => {
    const editor = await invite('editor');
    const viewer = await invite('viewer');
    const asEditor = await world.open('/projects/shop/flags', { as: editor });
    const production = asEditor.page.getByRole('switch', { name: 'new-checkout in production' });
    await production.waitFor();
    expect(await production.isDisabled()).toBe(true);
    expect(await asEditor.page.getByTitle('have permission to change it').count()).toBe(1);
    await asEditor.page.getByRole('button', { name: 'New flag' }).click();
    const dialog = asEditor.page.getByRole('dialog', { name: 'New flag' });
    await dialog.getByLabel('Key').fill('from-an-editor');
    await dialog.getByRole('button', { name: 'Create flag' }).click();
    await asEditor.page.getByRole('switch', { name: 'from-an-editor in development' }).waitFor();
    await asEditor.check();

    const asViewer = await world.open('/projects/shop/flags', { as: viewer });
    const development = asViewer.page.getByRole('switch', { name: 'new-checkout in development' });
    await development.waitFor();
    expect(await development.isDisabled()).toBe(true);
    expect(await asViewer.page.getByRole('button', { name: 'New flag' }).count()).toBe(0);
    await asViewer.check();
  },
  PATIENCE_MS,
);

/** The value's editor in development, once it has taken the plain field's place. */
function valueField(page: Page) {
  return page.getByRole('region', { name: 'development', exact: true }).locator('.cm-content');
}

/** Types over the value in development. */
async function typeValue(page: Page, text: string): Promise<void> {
  await valueField(page).press('Control+A');
  await page.keyboard.insertText(text);
}

/** A person who has come in through an invitation. */
async function invite(
  role: 'viewer' | 'editor',
  name: string = role,
): Promise<{ email: string; password: string }> {
  const email = `${name}@example.com`;
  // The API's contract.
  const { token } = (await world.management.request('POST', '/api/invitations', {
    body: { email, role, canChangeProtected: false },
  })) as { token: string };
  const { page, close } = await world.open(`/invitation#${token}`, { as: 'visitor' });
  await page.getByLabel('Your name').fill(name);
  await page.getByLabel('Password', { exact: true }).fill('a long enough password');
  await page.getByRole('button', { name: 'Create account' }).click();
  await page.waitForURL('**/projects/**');
  await close();
  return { email, password: 'a long enough password' };
}
