import { expect, test } from 'bun:test';
import { sharedWorld } from './support/world.ts';

const world = sharedWorld(undefined, { admin: 'none' });

test('an old setup link explains where to find the newest', async () => {
  const { page, check } = await world.open('/setup#hin_from-an-earlier-start', {
    as: 'nobody',
    theme: 'dark',
    width: 390,
    expected: /410/,
  });
  await page.getByText('This link is no longer valid').waitFor();
  await page.getByText('Restart the server').waitFor();
  await check();
}, 60_000);

test('the setup explains the password rule, and shows each problem at its field', async () => {
  const link = /\/setup#\S+/.exec(world.node.logs())?.[0] ?? '';
  const { page, check } = await world.open(link, { as: 'nobody', expected: /410/ });
  const password = page.getByLabel('Password');
  await page.getByText('At least 12 characters').waitFor();
  await password.fill('ada@example.com');
  await page.getByLabel('E-mail').fill('ada@example.com');
  await page.getByRole('button', { name: 'Create account' }).click();
  const name = page.getByLabel('Your name');
  expect(await name.getAttribute('aria-invalid')).toBe('true');
  expect(await page.evaluate('document.activeElement.name')).toBe('name');
  const note = await password.getAttribute('aria-describedby');
  expect(await page.locator(`[id="${note}"]`).textContent()).toBe("Don't use your e-mail address.");
  await check();
  await name.fill('Ada Lovelace');
  await password.fill('correct horse battery');
  await page.getByRole('button', { name: 'Create account' }).click();
  await page.getByRole('heading', { name: 'Create your first project' }).waitFor();

  // Setup is complete: the same link leads to the sign-in.
  const again = await world.open(link, { as: 'nobody', expected: /410/ });
  await again.page.getByRole('heading', { name: 'Sign in' }).waitFor();
  await again.check();
}, 60_000);
