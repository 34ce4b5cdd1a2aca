import { expect, test } from 'bun:test';
import type { Page } from 'playwright-core';
import { ADMIN } from './support/opened-page.ts';
import { signUp } from './support/people.ts';
import { visit } from './support/visit.ts';
import { sharedWorld } from './support/world.ts';

const world = sharedWorld(async ({ management }) => {
  await management.createProject('shop');
});

test('members of a project are listed with the reason, and inviting begins with this project only', async () => {
  await world.management.createProject('other');
  await signUp(world, { email: 'vera@example.com', projects: [{ project: 'other', role: 'viewer' }] });
  const { page, check } = await world.open('/projects/shop/members');
  const row = page.getByRole('row', { name: new RegExp(ADMIN.email) });
  await row.getByText('a role for all projects').waitFor();
  expect(await page.getByRole('row', { name: /vera/ }).count()).toBe(0);
  await page.getByRole('button', { name: 'Invite to this project' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('E-mail').fill('mia@example.com');
  expect(await dialog.getByRole('radio', { name: 'Only in these projects' }).isChecked()).toBe(true);
  expect(await dialog.getByLabel('Role in shop').inputValue()).toBe('viewer');
  await check();
  await dialog.getByRole('button', { name: 'Create invitation' }).click();
  await shownLink(page, 'Invitation link');
  await page.getByRole('button', { name: "Done, I've saved it" }).click();
  await page.getByRole('row', { name: /mia@example.com.*Viewer in shop/ }).waitFor();
  await check();

  // They are found by name, e-mail and role, in the address.
  await page.goto('/projects/shop/members?q=nobody-here');
  await page.getByText('No matches').waitFor();
  await page.getByLabel('Find a member').fill('ADA@');
  await page.getByText('1 of 1').waitFor();
  await page.getByLabel('Role here').selectOption('Viewer');
  await page.getByText('No matches').waitFor();
  await check();
}, 60_000);

test('an invitation is accepted in another browser, with its role', async () => {
  const admin = await world.open('/operators');
  await admin.page.getByRole('button', { name: 'Invite' }).click();
  await admin.page.getByLabel('E-mail').fill('grace@example.com');
  await admin.page.getByRole('radio', { name: 'In all projects' }).check();
  expect(await admin.page.getByRole('radio', { name: 'Viewer' }).isChecked()).toBe(true);
  await admin.check();
  await admin.page.getByRole('button', { name: 'Create invitation' }).click();
  const link = await shownLink(admin.page, 'Invitation link');
  await admin.check();
  await admin.page.getByRole('button', { name: "Done, I've saved it" }).click();
  await admin.page.getByRole('row', { name: /grace@example.com.*Invitation/ }).waitFor();
  expect(await admin.page.content()).not.toContain(link.slice(-40));

  const guest = await world.open(link, { as: 'visitor', theme: 'dark', width: 390 });
  await guest.page.getByRole('heading', { name: 'Join Halyard' }).waitFor();
  await guest.page.getByText('invited as viewer').waitFor();
  expect(guest.page.url()).not.toContain('#');
  await guest.check();
  await guest.page.getByLabel('Your name').fill('Grace <img src=x onerror=alert(1)>');
  await guest.page.getByRole('button', { name: 'Create account' }).click();
  await guest.page.getByText('Enter a password.').waitFor();
  await guest.page.getByLabel('Password').fill('too short');
  await guest.page.getByRole('button', { name: 'Create account' }).click();
  await guest.page.getByText('add 3 more characters').waitFor();
  expect(await guest.page.getByLabel('Password').getAttribute('aria-invalid')).toBe('true');
  await guest.page.getByLabel('Password').fill('a horse of another color');
  await guest.page.getByRole('button', { name: 'Create account' }).click();
  await guest.page.waitForURL('**/projects/shop/flags');
  await guest.page.locator('h1:focus').waitFor();
  await visit(guest.page, '/projects/shop/environments');
  await guest.page.getByText('requires an administrator. Your role is viewer').waitFor();
  expect(await guest.page.getByRole('button', { name: /^(New environment|Edit|Delete|Move)/ }).count()).toBe(
    0,
  );
  await guest.check();
  // What a viewer may not read is not requested, and has no column.
  await visit(guest.page, '/operators');
  await guest.page.getByText('grace@example.com').waitFor();
  expect(await guest.page.getByText('Last seen').count()).toBe(0);
  await visit(guest.page, '/tokens');
  await guest.page.getByText('Viewing and managing access tokens requires an administrator').waitFor();
  await guest.check();

  // The list of the administrator follows by itself, and the name is only text there.
  await admin.page.getByRole('row', { name: /Grace <img src=x onerror=alert\(1\)>/ }).waitFor();
  expect(await admin.page.locator('img').count()).toBe(0);
  await admin.check();
}, 60_000);

test('a used link does not work, and a password reset link signs its owner in', async () => {
  const { email } = await signUp(world, { email: 'edmund@example.com', role: 'editor' });
  const admin = await world.open('/operators');
  await admin.page.getByRole('button', { name: 'More for edmund' }).click();
  await admin.page.getByRole('menuitem', { name: 'Reset password' }).click();
  await admin.page.getByRole('button', { name: 'Create link' }).click();
  const link = await shownLink(admin.page, 'Password reset link');
  const owner = await world.open(link, { as: 'visitor' });
  await owner.page.getByRole('heading', { name: 'Choose a new password' }).waitFor();
  await owner.check();
  await owner.page.getByLabel('Password').fill('yet another long password');
  await owner.page.getByRole('button', { name: 'Set password' }).click();
  await owner.page.waitForURL('**/projects/shop/flags');
  const again = await world.open(link, { as: 'visitor', expected: /410/ });
  await again.page.getByRole('heading', { name: 'This link does not work' }).waitFor();
  await again.check();
  await world.open('/', { as: { email, password: 'yet another long password' } });
}, 60_000);

test('the last administrator cannot be demoted or removed, and the screen explains why', async () => {
  const { page, check } = await world.open('/operators');
  await page.getByRole('button', { name: 'Edit ada' }).click();
  await page.getByRole('radio', { name: 'Viewer' }).check();
  await page.getByRole('dialog').getByText('is the only administrator').waitFor();
  expect(await page.getByRole('button', { name: 'Save' }).isDisabled()).toBe(true);
  await check();
  await page.getByRole('button', { name: 'Cancel' }).click();
  await page.getByRole('button', { name: 'More for ada' }).click();
  await page.getByRole('menuitem', { name: 'Remove' }).click();
  await page.getByText('is the only administrator').waitFor();
  await page.getByRole('row', { name: /ada@example.com.*Administrator/ }).waitFor();
}, 60_000);

test('a new name does not undo a role that another person changes at the same time', async () => {
  await signUp(world, { email: 'judith@example.com', role: 'viewer' });
  const { page } = await world.open('/operators');
  await page.getByRole('button', { name: 'Edit judith' }).click();
  await page.getByLabel('Name').fill('Judith');
  const { id } = await judith();
  await world.management.request('PATCH', `/api/operators/${id}`, { body: { role: 'editor' } });
  // Her cell, beside the dialog's own words.
  await page.locator(`tr:has-text("judith@example.com") td`).first().getByText('Editor').waitFor();
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Judith updated').waitFor();
  expect(await judith()).toMatchObject({ name: 'Judith', role: 'editor' });

  async function judith() {
    // As in the API's contract.
    const { operators } = (await world.management.request('GET', '/api/operators')) as {
      operators: { id: string; email: string; name: string; role: string }[];
    };
    return operators.find(({ email }) => email === 'judith@example.com') ?? { id: '' };
  }
}, 60_000);

test('a person limited to a project has a whole dashboard, without a trace of the others', async () => {
  await world.management.createProject('secret');
  const projects = [{ project: 'shop', role: 'admin' }] as const;
  await signUp(world, { email: 'max@example.com', role: 'admin' });
  const as = await signUp(world, { email: 'lena@example.com', projects });
  const { page, check } = await world.open('/', { as, expected: /401|403|404/ });
  await page.waitForURL('**/projects/shop/flags');
  await page.getByRole('button', { name: 'New flag' }).first().waitFor();
  await page.getByRole('button', { name: 'Project: shop' }).click();
  await page.getByRole('menuitemcheckbox', { name: 'shop' }).waitFor();
  expect(await page.getByRole('menuitem', { name: 'New project' }).count()).toBe(0);
  await page.keyboard.press('Escape');
  await page.goto('/projects/secret/flags');
  await page.getByText('Project “secret” does not exist').waitFor();

  await visit(page, '/operators');
  await page.getByRole('button', { name: 'Invite' }).click();
  await page.getByLabel('E-mail').fill('guest@example.com');
  expect(await page.getByRole('radio').count()).toBe(0);
  await page.getByLabel('Role in shop').selectOption('Viewer');
  await check();
  await page.getByRole('button', { name: 'Create invitation' }).click();
  await shownLink(page, 'Invitation link');
  await page.getByRole('button', { name: "Done, I've saved it" }).click();
  await page.getByRole('row', { name: /guest@example.com.*Viewer in shop/ }).waitFor();
  await page.getByRole('link', { name: 'Access tokens' }).waitFor();
  expect(await page.content()).not.toContain('secret');
  await check();

  // A role there is hers to give, also to a person whose rights elsewhere are not.
  await page.getByRole('button', { name: 'Edit max' }).click();
  await page.getByRole('button', { name: 'Roles in single projects: Select projects' }).click();
  await page.getByRole('checkbox', { name: 'shop' }).check();
  await page.keyboard.press('Escape');
  expect(await page.getByText('signed out').count()).toBe(0);
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('max updated').waitFor();

  // A right that is taken away leaves the open screen at once, and what is left stays.
  const { operators } = (await world.management.request('GET', '/api/operators')) as {
    operators: { id: string; email: string }[];
  };
  const { id } = operators.find(({ email }) => email === as.email) ?? { id: '' };
  await world.management.request('PATCH', `/api/operators/${id}`, {
    body: { projects: [{ project: 'shop', role: 'viewer' }] },
  });
  await page.getByRole('link', { name: 'Access tokens' }).waitFor({ state: 'detached' });
  await page.getByRole('link', { name: 'Account' }).click();
  await page.getByRole('heading', { name: 'Account', level: 1 }).waitFor();
  await page.getByText('Viewer in shop').waitFor();
  await check();
}, 60_000);

test('a person whose session ends in a dialog signs in over it and keeps what was typed', async () => {
  const as = await signUp(world, { email: 'iris@example.com', role: 'admin' });
  const { page, check } = await world.open('/projects/shop/keys?q=web', { as, expected: /401/ });
  await page.getByRole('heading', { name: 'No keys yet' }).waitFor();
  await page.getByRole('button', { name: 'New key' }).first().click();
  await page.getByLabel('Name').fill('website');
  await page.getByRole('checkbox', { name: 'staging' }).check();
  await endSessions(as);
  // Where the event stream was faster to tell, the sign-in is above it already.
  await page.getByRole('button', { name: 'Create key' }).dispatchEvent('click');
  const dialog = page.getByRole('dialog', { name: 'Sign in again' });
  await dialog.waitFor();
  await check();
  await dialog.getByLabel('Password').fill('the password after that');
  await dialog.getByRole('button', { name: 'Show characters' }).click();
  expect(await dialog.getByLabel('Password').getAttribute('type')).toBe('text');
  await dialog.getByRole('button', { name: 'Sign in' }).click();
  await dialog.waitFor({ state: 'detached' });
  expect(await page.getByLabel('Name').inputValue()).toBe('website');
  expect(new URL(page.url()).searchParams.get('q')).toBe('web');
  await page.getByRole('button', { name: 'Create key' }).click();
  await page.locator('[data-secret]').waitFor();
}, 60_000);

test('the account changes its password, its theme, and signs out', async () => {
  const as = await signUp(world, { email: 'otto@example.com', role: 'editor' });
  const { page, check } = await world.open('/account', { as, expected: /401/ });
  await page.getByText('Except in protected environments').waitFor();
  await page.getByRole('radio', { name: 'Dark' }).check();
  expect(await page.locator('html').getAttribute('data-theme')).toBe('dark');
  await check();
  await page.getByLabel('Current password').fill('something else entirely');
  await page.getByLabel('New password').fill('the next long password');
  await page.getByRole('button', { name: 'Change password' }).click();
  await page.getByText('your current password. Enter it again').waitFor();
  await check();
  await page.getByLabel('Current password').fill(as.password);
  await page.getByRole('button', { name: 'Change password' }).click();
  await page.getByText('Password changed').waitFor();
  await page.getByRole('button', { name: 'Sign out here' }).click();
  await page.waitForURL('**/sign-in');
  await page.goto('/account');
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
}, 60_000);

// The last of all: it locks the address out, too.
test('too many wrong passwords are answered with how long to wait', async () => {
  const { page, check } = await world.open('/sign-in', { as: 'visitor', expected: /401|429/ });
  await page.getByLabel('E-mail').fill(ADMIN.email);
  for (let attempt = 0; attempt < 5; attempt++) {
    await page.getByLabel('Password').fill(`wrong number ${attempt}`);
    await Promise.all([
      page.waitForResponse((response) => response.request().method() === 'POST'),
      page.getByRole('button', { name: 'Sign in' }).click(),
    ]);
    await page.getByRole('alert').getByText("password don't match").waitFor();
  }
  await check();
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page
    .getByRole('alert')
    .getByText(/Too many attempts. Try again in 1[45] minutes/)
    .waitFor();
  await check();
}, 60_000);

async function shownLink(page: Page, title: string): Promise<string> {
  const link = await page.getByRole('dialog', { name: title }).locator('[data-secret]').textContent();
  return new URL(link ?? '').pathname + new URL(link ?? '').hash;
}

/** Ends every session of a person, as changing the password in another browser does. */
async function endSessions({ email, password }: { email: string; password: string }): Promise<void> {
  const other = await world.browser.newContext({ baseURL: world.node.url });
  await other.request.post('/api/session', { data: { email, password } });
  const changed = await other.request.post('/api/session/password', {
    data: { current: password, next: 'the password after that' },
    headers: { Origin: world.node.url },
  });
  expect(changed.status()).toBe(200);
  await other.close();
}
