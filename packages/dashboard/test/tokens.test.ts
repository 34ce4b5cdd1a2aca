import { expect, test } from 'bun:test';
import { sharedWorld } from './support/world.ts';

const world = sharedWorld();

test('an access token is shown once, has its role, and stops working when it is revoked', async () => {
  const { page, check } = await world.open('/tokens');
  await page.getByRole('heading', { name: 'No access tokens yet' }).waitFor();
  await check();
  await page.getByRole('button', { name: 'New token' }).click();
  await page.getByLabel('Name').fill('deploy');
  await page.getByRole('radio', { name: 'Viewer' }).check();
  await page.getByLabel('Expires').selectOption('In 90 days');
  await check();
  await page.getByRole('button', { name: 'Create token' }).click();
  const dialog = page.getByRole('dialog', { name: 'Token deploy' });
  const token = (await dialog.locator('[data-secret]').textContent()) ?? '';
  expect(await dialog.getByRole('region', { name: 'Settings for the command line' }).textContent()).toContain(
    `export HALYARD_TOKEN=${token}`,
  );
  await check();
  await dialog.getByRole('button', { name: "Done, I've saved it" }).click();
  expect(await page.content()).not.toContain(token);

  expect(await whoAmI(token)).toEqual({ name: 'deploy', role: 'viewer', canChangeProtected: false });
  const row = page.getByRole('row', { name: /^deploy/ });
  await row.getByRole('cell', { name: 'Viewer' }).waitFor();
  await check();
  await row.getByRole('button', { name: 'Revoke deploy' }).click();
  await page.getByRole('dialog', { name: 'Revoke deploy?' }).getByRole('textbox').fill('deploy');
  await page.getByRole('button', { name: 'Revoke token' }).click();
  await row.getByText('revoked', { exact: true }).waitFor();
  expect(await whoAmI(token)).toMatchObject({ error: 'invalid_access_token' });
  await check();
}, 60_000);

async function whoAmI(token: string): Promise<unknown> {
  const answer = await fetch(`${world.node.url}/api/whoami`, {
    headers: { Authorization: `Bearer ${token}` },
  });
  return answer.json();
}
