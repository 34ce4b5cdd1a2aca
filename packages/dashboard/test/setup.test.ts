import { expect, test } from 'bun:test';
import { openSse, until } from '@halyard/testing';
import type { Locator } from 'playwright-core';
import { sharedWorld } from './support/world.ts';

const world = sharedWorld(undefined, { admin: 'none' });

test('an old setup link explains where to find the newest', async () => {
  const { page, check } = await world.open('/setup#hin_from-an-earlier-start', {
    as: 'visitor',
    theme: 'dark',
    width: 390,
    expected: /410/,
  });
  await page.getByText('This link is no longer valid').waitFor();
  await page.getByText('Restart the server').waitFor();
  await check();
}, 60_000);

test('the setup explains the password rule, and leads to a first client in six clicks', async () => {
  const [link] = await until('the server prints the link', () => /\/setup#\w{47}/.exec(world.node.logs()));
  const { page, check } = await world.open(link, { as: 'visitor', expected: /410/ });
  const password = page.getByLabel('Password');
  await page.getByText('At least 12 characters').waitFor();
  expect(await page.evaluate('document.activeElement.name')).toBe('email');
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
  // As the first start does, where it is not switched off for tests.
  await world.management.createProject('demo');
  await world.management.putState('demo', 'development', 'new-checkout', { enabled: false });

  // Six clicks on one screen lead to a change that a client received.
  const clicks: string[] = [];
  const click = async (control: Locator) => {
    await control.click();
    clicks.push(String(control));
  };
  await click(page.getByRole('button', { name: 'Create account' }));
  const steps = page.getByRole('region', { name: 'Get started' });
  await steps.getByText('3 steps left').waitFor();
  // The form that had the focus is gone.
  await page.locator('h1:focus').waitFor();
  await check();
  await click(steps.getByRole('button', { name: 'New key…' }));
  await click(page.getByRole('button', { name: 'Create key' }));
  const dialog = page.getByRole('dialog', { name: 'Your new key “my-app”' });
  await click(dialog.getByRole('button', { name: 'Copy: curl command' }));
  const command = await dialog.getByRole('region', { name: 'curl command' }).textContent();
  const [, address = '', key = ''] =
    /curl -N "([^"]+)"[^"]*"X-Service-Key: ([^"]+)"/.exec(command ?? '') ?? [];
  const stream = await openSse(address, { headers: { 'X-Service-Key': key } });
  await dialog.getByText('Connected. Change a flag').waitFor();
  await click(dialog.getByRole('button', { name: "Done, I've saved it" }));
  await steps.getByText('1 step left').waitFor();
  await click(page.getByRole('switch', { name: 'new-checkout in development' }));
  await page.getByText('Seen by 1 of 1 stream').waitFor();
  await steps.getByText(/Received by 1 client in/).waitFor();
  await steps.getByText('All steps done').waitFor();
  expect(clicks).toHaveLength(6);
  await check();
  stream.close();
  await steps.getByRole('button', { name: 'Hide “Get started”' }).click();
  await steps.waitFor({ state: 'detached' });

  // Setup is complete: the same link leads to the sign-in.
  const again = await world.open(link, { as: 'visitor', expected: /410/ });
  await again.page.getByRole('heading', { name: 'Sign in' }).waitFor();
  await again.check();
}, 60_000);
