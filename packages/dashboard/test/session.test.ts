import { afterAll, beforeAll, expect, test } from 'bun:test';
import { ADMIN, startWorld, type World } from './support/world.ts';

const PATIENCE_MS = 60_000;

let world: World;
beforeAll(async () => {
  world = await startWorld();
  await world.management.createProject('shop');
  await world.management.putState('shop', 'development', 'new-checkout', { enabled: false });
  await world.management.putState('shop', 'production', 'new-checkout', { enabled: false });
}, 120_000);
afterAll(() => world.close());

test(
  'a visitor signs in and comes to where the link led',
  async () => {
    const { page, check } = await world.open('/projects/shop/flags?q=new', { as: 'nobody', expected: /401/ });
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
    await page.close();
  },
  PATIENCE_MS,
);

test(
  'the way back never leads to another server',
  async () => {
    for (const from of ['//evil.example', '/\\evil.example', 'https://evil.example/']) {
      const { page } = await world.open(`/sign-in?from=${encodeURIComponent(from)}`);
      await page.waitForURL('**/projects/**');
      expect(new URL(page.url()).origin).toBe(new URL(world.node.url).origin);
      await page.close();
    }
  },
  PATIENCE_MS,
);

test(
  'a session that ends while somebody works leads to the sign-in and back, and nothing is changed meanwhile',
  async () => {
    const { page, context } = await world.open('/projects/shop/flags', { expected: /401/ });
    const control = page.getByRole('switch', { name: 'new-checkout in development' });
    await control.waitFor();
    const ended = await context.request.delete('/api/session', { headers: { Origin: world.node.url } });
    expect(ended.status()).toBe(204);
    await control.click();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    const { flags } = await world.management.states('shop', 'development');
    expect(flags[0]?.state.enabled).toBe(false);
    await page.getByLabel('E-mail').fill(ADMIN.email);
    await page.getByLabel('Password', { exact: true }).fill(ADMIN.password);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await control.waitFor();
    expect(new URL(page.url()).pathname).toBe('/projects/shop/flags');
    await page.close();
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
    expect(await asEditor.page.getByTitle('your account may not change protected').count()).toBe(1);
    await asEditor.page.getByRole('button', { name: 'New flag' }).click();
    const dialog = asEditor.page.getByRole('dialog', { name: 'New flag' });
    await dialog.getByLabel('Key').fill('from-an-editor');
    await dialog.getByRole('button', { name: 'Create the flag' }).click();
    await asEditor.page.getByRole('switch', { name: 'from-an-editor in development' }).waitFor();
    await asEditor.check();

    const asViewer = await world.open('/projects/shop/flags', { as: viewer });
    const development = asViewer.page.getByRole('switch', { name: 'new-checkout in development' });
    await development.waitFor();
    expect(await development.isDisabled()).toBe(true);
    expect(await asViewer.page.getByRole('button', { name: 'New flag' }).count()).toBe(0);
    await asViewer.check();
    await Promise.all([asEditor.page.close(), asViewer.page.close()]);
  },
  PATIENCE_MS,
);

/** A person who has come in through an invitation. */
async function invite(role: 'viewer' | 'editor'): Promise<{ email: string; password: string }> {
  const email = `${role}@example.com`;
  // The API's contract.
  const { token } = (await world.management.request('POST', '/api/invitations', {
    body: { email, role, canChangeProtected: false },
  })) as { token: string };
  const { page } = await world.open(`/invitation#${token}`, { as: 'nobody' });
  await page.getByLabel('Your name').fill(role);
  await page.getByLabel('Password', { exact: true }).fill('a long enough password');
  await page.getByRole('button', { name: 'Create the account' }).click();
  await page.waitForURL('**/projects/**');
  await page.close();
  return { email, password: 'a long enough password' };
}
