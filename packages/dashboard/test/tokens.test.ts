import { expect, test } from 'bun:test';
import { until } from '@halyard/testing';
import { signUp } from './support/people.ts';
import { sharedWorld } from './support/world.ts';

const world = sharedWorld(async ({ management }) => {
  await management.createProject('billing');
});

test('an access token is shown once, has its role in a project, and stops working when it is revoked', async () => {
  const { page, check } = await world.open('/tokens');
  await page.getByRole('heading', { name: 'No access tokens yet' }).waitFor();
  await check();
  await page.getByRole('button', { name: 'New token' }).click();
  await page.getByLabel('Name').fill('deploy');
  // The only project: a token begins with few rights.
  expect(await page.getByLabel('Role in billing').inputValue()).toBe('viewer');
  expect(await page.getByLabel('Expires').locator('option:checked').textContent()).toBe('In 90 days');
  await page.getByRole('button', { name: 'Projects: 1 project' }).click();
  await page.getByRole('checkbox', { name: 'billing' }).uncheck();
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Create token' }).click();
  await page.getByRole('alert').getByText('Select at least one project.').waitFor();
  const projects = page.getByRole('button', { name: 'Select projects' });
  expect(await projects.evaluate((it) => it === document.activeElement)).toBe(true);
  await projects.click();
  await page.getByRole('checkbox', { name: 'billing' }).check();
  await page.keyboard.press('Escape');
  await page.getByLabel('Role in billing').selectOption('Editor, also of protected environments');
  await page.getByLabel('Limit to a task').selectOption('Read and set flag states');
  await check();
  await page.getByRole('button', { name: 'Create token' }).click();
  const dialog = page.getByRole('dialog', { name: 'Your new token “deploy”' });
  const token = (await dialog.locator('[data-secret]').textContent()) ?? '';
  expect(await dialog.getByRole('region', { name: 'Settings for the command line' }).textContent()).toContain(
    `export HALYARD_TOKEN=${token}`,
  );
  await check();
  await dialog.getByRole('button', { name: "Done, I've saved it" }).click();
  expect(await page.content()).not.toContain(token);

  expect(await whoAmI(token)).toEqual({
    name: 'deploy',
    role: 'none',
    canChangeProtected: false,
    only: 'states',
    projects: [{ project: 'billing', role: 'editor', canChangeProtected: true }],
  });
  const row = page.getByRole('row', { name: /^deploy/ });
  await row.getByRole('cell', { name: 'Editor in billing · protected only flag states' }).waitFor();
  await check();
  await row.getByRole('button', { name: 'Revoke deploy' }).click();
  await page.getByRole('dialog', { name: 'Revoke deploy?' }).getByRole('textbox').fill('deploy');
  await page.getByRole('button', { name: 'Revoke token' }).click();
  await row.getByText('revoked', { exact: true }).waitFor();
  expect(await whoAmI(token)).toMatchObject({ error: 'invalid_access_token' });

  const body = { name: 'pipeline', role: 'editor', exempt: true };
  await world.management.request('POST', '/api/tokens', { body });
  await page.reload();
  await page
    .getByRole('row', { name: /^pipeline/ })
    .getByText('exempt from approvals')
    .waitFor();
  await check();
}, 60_000);

async function whoAmI(token: string): Promise<unknown> {
  const answer = await fetch(`${world.node.url}/api/whoami`, {
    headers: { Authorization: `Bearer ${token}` },
  });
  return answer.json();
}

test('after a row is revoked, the focus is at the same button of the next one, in view and not under the message', async () => {
  for (const name of ['oldest', 'middle', 'newest'])
    await world.management.request('POST', '/api/tokens', { body: { name, role: 'viewer' } });
  const { page } = await world.open('/tokens', { width: 320, height: 256 });
  await page.getByRole('button', { name: 'Revoke middle' }).press('Enter');
  await page.getByRole('dialog', { name: 'Revoke middle?' }).getByRole('textbox').fill('middle');
  await page.keyboard.press('Enter');
  await page.getByText('Token “middle” revoked').waitFor();
  await page.locator('[aria-label="Revoke oldest"]:focus').waitFor();
  const isSeen = `(() => {
    const { left, top, width, height } = document.activeElement.getBoundingClientRect();
    return document.elementFromPoint(left + width / 2, top + height / 2) === document.activeElement;
  })()`;
  await until('the button is in view', async () => (await page.evaluate(isSeen)) === true);
}, 60_000);

test('a person makes a token of their own under Account, with few rights at first, and revokes it', async () => {
  const as = await signUp(world, {
    email: 'lena@example.com',
    projects: [{ project: 'billing', role: 'editor' }],
  });
  const { page, check } = await world.open('/account', { as });
  await page.getByText('You have none.').waitFor();
  await check();
  await page.keyboard.press('n');
  await page.getByLabel('Name').fill('laptop');
  expect(await page.getByRole('radio', { name: 'Viewer' }).isChecked()).toBe(true);
  // No more than the person has, and no protected environments, which they may not change.
  expect(await page.getByRole('radio', { name: 'Administrator' }).count()).toBe(0);
  await page.getByRole('radio', { name: 'Editor' }).check();
  expect(await page.getByRole('checkbox').count()).toBe(0);
  await check();
  await page.getByRole('button', { name: 'Create token' }).click();
  const dialog = page.getByRole('dialog', { name: 'Your new token “laptop”' });
  const token = (await dialog.locator('[data-secret]').textContent()) ?? '';
  const command = dialog.getByRole('region', { name: 'Command that signs in' });
  expect(await command.textContent()).toContain(`halyard login ${world.node.url}`);
  await check();
  await dialog.getByRole('button', { name: "Done, I've saved it" }).click();
  expect(await page.content()).not.toContain(token);
  const projects = [{ project: 'billing', role: 'editor', canChangeProtected: false }];
  expect(await whoAmI(token)).toMatchObject({ role: 'none', projects });

  // Administrators see whose it is.
  const admin = await world.open('/tokens');
  await admin.page.getByRole('row', { name: /^laptop of lena@example.com/ }).waitFor();
  const narrow = await world.open('/account', { as, theme: 'dark', width: 390 });
  await narrow.page.getByText('ends with you').waitFor();
  await narrow.check();
  const row = page.getByRole('row', { name: /^laptop ends with you/ });
  await row.getByRole('cell', { name: 'Editor in billing' }).waitFor();
  await row.getByRole('button', { name: 'Revoke laptop' }).click();
  await page.getByRole('dialog', { name: 'Revoke laptop?' }).getByRole('textbox').fill('laptop');
  await page.getByRole('button', { name: 'Revoke token' }).click();
  await row.getByText('revoked', { exact: true }).waitFor();
  expect(await whoAmI(token)).toMatchObject({ error: 'invalid_access_token' });
  await check();
}, 60_000);

test('a relay token is shown once, opens the log, and closes it when it is revoked', async () => {
  const { page, check } = await world.open('/relay-tokens');
  await page.getByRole('heading', { name: 'No relay tokens yet' }).waitFor();
  await check();
  await page.getByRole('button', { name: 'New token' }).click();
  const form = page.getByRole('dialog', { name: 'New relay token' });
  await form.getByLabel('Name', { exact: true }).fill('frankfurt');
  // Nothing that was typed by a slip, nor an empty field, is a right to everything.
  await form.getByRole('combobox', { name: 'Names of projects' }).pressSequentially(',');
  await form.getByRole('button', { name: 'Create token' }).click();
  await form.getByText('Add at least one project.').waitFor();
  await form.getByText('Add at least one environment.').waitFor();
  await check();
  for (const name of [/^All projects/, /^All environments/]) await form.getByRole('radio', { name }).check();
  await form.getByRole('button', { name: 'Create token' }).click();
  const dialog = page.getByRole('dialog', { name: 'Your new token “frankfurt”' });
  const token = (await dialog.locator('[data-secret]').textContent()) ?? '';
  expect(await dialog.getByRole('region', { name: 'Settings for the relay' }).textContent()).toContain(
    `export HALYARD_RELAY_TOKEN=${token}`,
  );
  await check();
  await dialog.getByRole('button', { name: "Done, I've saved it" }).click();
  expect(await page.content()).not.toContain(token);

  const log = await followLog(token);
  expect(log.status).toBe(200);
  const first = await log.body?.getReader().read();
  expect(first?.value?.length).toBeGreaterThan(0);
  const row = page.getByRole('row', { name: /^frankfurt/ });
  await row.getByRole('cell', { name: 'all projects' }).waitFor();
  await row.getByRole('cell', { name: 'all environments' }).waitFor();
  await check();
  await row.getByRole('button', { name: 'Revoke frankfurt' }).click();
  await page.getByRole('dialog', { name: 'Revoke frankfurt?' }).getByRole('textbox').fill('frankfurt');
  await page.getByRole('button', { name: 'Revoke token' }).click();
  await row.getByText('revoked', { exact: true }).waitFor();
  await until('the node refuses the token', async () => (await followLog(token)).status === 401);

  // Created and revoked by the command line: the list and the log follow without being reloaded.
  const name = `singapore-${'long-'.repeat(17)}name`;
  await world.management.createProject('shop');
  const { id } = await world.management.createRelayToken(name, {
    projects: ['shop'],
    environments: ['production'],
  });
  const other = page.getByRole('row', { name: new RegExp(`^${name}`) });
  await other.getByRole('cell', { name: 'shop' }).waitFor();
  await other.getByRole('cell', { name: 'production' }).waitFor();
  await other.getByRole('cell', { name: 'never' }).waitFor();
  const audit = await world.open('/audit', { width: 390, theme: 'dark' });
  await audit.page.getByText('revoked the relay token').first().waitFor();
  await audit.page.getByText('frankfurt').first().waitFor();
  await world.management.request('DELETE', `/api/relay-tokens/${id}`);
  await other.getByText('revoked', { exact: true }).waitFor();
  await check();
  const narrow = await world.open('/relay-tokens', { width: 390, theme: 'dark' });
  await narrow.page.getByText(name).waitFor();
  await narrow.check();
}, 60_000);

test('a relay token offers the projects, and the environments of those that were chosen', async () => {
  for (const project of ['tea-house', 'toy-shop']) await world.management.createProject(project);
  await world.management.createEnvironment('toy-shop', 'fair');
  const { page, check } = await world.open('/relay-tokens?new');
  const dialog = page.getByRole('dialog', { name: 'New relay token' });
  await dialog.getByLabel('Name', { exact: true }).fill('lisbon');
  const [projects, environments] = ['Names of projects', 'Names of environments'].map((name) =>
    dialog.getByRole('combobox', { name }),
  );
  await projects?.click();
  await page.getByRole('option', { name: 'tea-house' }).click();
  await environments?.click();
  await page.getByRole('listbox', { name: 'Environments' }).getByRole('option').first().waitFor();
  expect(await page.getByRole('option').allTextContents()).toEqual(['development', 'staging', 'production']);
  await check();
  await page.getByRole('option', { name: 'production' }).click();
  await dialog.getByRole('button', { name: 'Remove the project tea-house' }).click();
  await projects?.pressSequentially('toy');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await environments?.click();
  await page.getByRole('option', { name: 'fair' }).click();
  await dialog.getByRole('button', { name: 'Create token' }).click();
  await page.getByRole('button', { name: "Done, I've saved it" }).click();
  const row = page.getByRole('row', { name: /^lisbon/ });
  await row.getByRole('cell', { name: 'toy-shop' }).waitFor();
  await row.getByRole('cell', { name: 'fair, production' }).waitFor();
}, 60_000);

/** Follows the change log as a relay does, up to the headers of the answer. */
function followLog(token: string): Promise<Response> {
  return fetch(`${world.node.url}/log/v1`, { headers: { Authorization: `Bearer ${token}` } });
}
