import { expect, test } from 'bun:test';
import type { OpenedPage } from './support/opened-page.ts';
import { signUp } from './support/people.ts';
import { visit } from './support/visit.ts';
import { sharedWorld } from './support/world.ts';

const FLAGS = '/projects/shop/flags';
const STATE = '/api/projects/shop/environments/production/flags/new-checkout';
const SWITCH = { name: 'new-checkout in production' };

let grace: { readonly email: string; readonly password: string };

const world = sharedWorld(async (started) => {
  const { management } = started;
  await management.createProject('shop');
  await management.putState('shop', 'production', 'new-checkout', { enabled: false });
  grace = await signUp(started, { email: 'grace@example.com', name: 'Grace Hopper', role: 'admin' });
});

async function isOn(): Promise<boolean | undefined> {
  const { flags } = await world.management.states('shop', 'production');
  return flags.find(({ key }) => key === 'new-checkout')?.state.enabled;
}

/** Proposes to flip the switch in the list, and opens the proposal. */
async function propose(page: OpenedPage['page'], reason: string): Promise<void> {
  await page.getByRole('switch', SWITCH).click();
  const dialog = page.getByRole('dialog', { name: 'Propose: new-checkout in production' });
  await dialog.getByRole('button', { name: 'Propose', exact: true }).click();
  await dialog.getByText('Say why, for those who decide.').waitFor();
  await dialog.getByLabel('Reason').fill(reason);
  await dialog.getByRole('button', { name: 'Propose', exact: true }).click();
  await page.getByRole('link', { name: 'See the proposal' }).click();
}

test('a change is proposed, and made by the approval of a second person, who confirms with the name', async () => {
  const { page, check } = await world.open('/projects/shop/environments');
  const second = await world.open('/projects/shop/proposals', { as: grace });
  await page.getByRole('button', { name: 'Edit production' }).click();
  const settings = page.getByRole('dialog', { name: 'Edit production' });
  await settings.getByLabel('2 other people').check();
  await settings.getByText('This needs 3 people who may change this environment. 2 people may.').waitFor();
  await settings.getByLabel('1 other person').check();
  await settings.getByRole('button', { name: 'Save' }).click();
  await page.getByText('1 approval', { exact: true }).waitFor();

  await page.getByRole('link', { name: 'Flags', exact: true }).click();
  await propose(page, 'INC-812');
  await page.getByText('You proposed this yourself: another person decides.').waitFor();
  expect(await page.getByRole('button', { name: 'Approve' }).count()).toBe(0);
  expect(await isOn()).toBe(false);
  await check();

  // It has come to the other person by itself.
  await second.page.getByRole('link', { name: /^Proposals 1/ }).waitFor();
  await second.page.getByRole('link', { name: 'Turn on new-checkout' }).click();
  await second.page.getByText('“INC-812”').waitFor();
  await second.page.getByRole('button', { name: 'Approve' }).click();
  const question = second.page.getByRole('dialog', { name: 'Approve this change?' });
  await question.getByRole('button', { name: 'Approve' }).click();
  await question.getByText('Type “production” exactly.').waitFor();
  await question.getByLabel('Type production to confirm').fill('production');
  await question.getByRole('button', { name: 'Approve' }).click();
  await second.page.getByText('The change was made.').waitFor();
  expect(await isOn()).toBe(true);
  // The buttons are gone.
  expect(await second.page.evaluate('document.activeElement !== document.body')).toBe(true);
  await second.check();
  await page.getByText('The change was made.').waitFor();
}, 60_000);

test('what has changed since is shown, ends the proposal as outdated, and it is proposed again', async () => {
  const { page } = await world.open(FLAGS);
  await propose(page, 'Tidy up');
  await page.getByText('You proposed this yourself: another person decides.').waitFor();
  await world.management.request('PATCH', `${STATE}?emergency=true`, {
    body: { value: 8 },
    headers: { 'X-Change-Note': 'INC-813' },
  });
  await page.getByText('Since then').waitFor();

  const second = await world.open(new URL(page.url()).pathname, { as: grace, expected: /412/ });
  await second.page.getByRole('button', { name: 'Approve' }).click();
  const question = second.page.getByRole('dialog', { name: 'Approve this change?' });
  await question.getByLabel('Type production to confirm').fill('production');
  await question.getByRole('button', { name: 'Approve' }).click();
  await second.page.getByText('outdated', { exact: true }).waitFor();
  expect(await isOn()).toBe(true);

  await second.page.getByRole('button', { name: 'Propose again' }).click();
  const again = second.page.getByRole('dialog', { name: 'Propose: Turn off new-checkout' });
  expect(await again.getByLabel('Reason').inputValue()).toBe('Tidy up');
  await again.getByRole('button', { name: 'Propose', exact: true }).click();
  await second.page.getByText('You proposed this yourself: another person decides.').waitFor();
  expect(await second.page.getByText('Since then').count()).toBe(0);
  await second.check();
}, 60_000);

test('an emergency changes it at once, and another person acknowledges it', async () => {
  const second = await world.open(`${FLAGS}/new-checkout`, { as: grace });
  await second.page.getByRole('heading', { name: 'Open proposals for this flag' }).waitFor();
  await second.page.getByRole('switch', SWITCH).click();
  const dialog = second.page.getByRole('dialog');
  await dialog.getByRole('button', { name: 'Emergency…' }).click();
  await dialog
    .getByText(/^This changes production at once\..*another person must acknowledge it\.$/)
    .waitFor();
  await dialog.getByLabel('Why can this not wait?').fill('Carts are lost');
  await second.check();
  await dialog.getByRole('button', { name: 'Change it now' }).click();
  await dialog.waitFor({ state: 'detached' });

  const { page } = await world.open('/projects/shop/proposals');
  const asked = page.getByRole('list', { name: 'Proposals: Waiting for you' });
  await asked.getByRole('listitem').filter({ hasText: 'Carts are lost' }).getByRole('link').click();
  expect(await isOn()).toBe(false);
  await page.getByRole('button', { name: 'Acknowledge' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Acknowledge' }).click();
  await page.getByText('another person has acknowledged it.').waitFor();
}, 60_000);

test('the archiving of several flags is proposed, which one message says', async () => {
  for (const key of ['old-1', 'old-2'])
    await world.management.putState('shop', 'staging', key, { enabled: true });
  const states = { production: { enabled: true } };
  for (const key of ['old-3', 'old-4'])
    await world.management.request('POST', '/api/projects/shop/flags?emergency=true', {
      body: { key, states },
      headers: { 'X-Change-Note': 'INC-814' },
    });
  const { page } = await world.open(`${FLAGS}/old-3`);
  const notice = page.getByRole('region', { name: 'Changed in an emergency' });
  await notice.getByText('Another person must acknowledge it.').waitFor();
  await visit(page, `${FLAGS}?q=old-`);
  await page.getByLabel('Select all listed flags').check();
  await page.getByRole('button', { name: 'Archive' }).click();
  await page.getByRole('button', { name: 'Propose…' }).click();
  const dialog = page.getByRole('dialog', { name: 'Propose: archive 4 flags' });
  await dialog.getByLabel('Reason').fill('Shipped');
  await dialog.getByRole('button', { name: 'Propose', exact: true }).click();
  await page.getByText('Archiving of 2 flags proposed', { exact: true }).waitFor();
  await page.getByRole('region', { name: 'Messages' }).getByText('2 flags archived').waitFor();
  expect(await page.getByText(/proposed$/).count()).toBe(1);
}, 60_000);

test('the import of a document is proposed as a whole', async () => {
  // The flag that it proposes does not exist yet: the screen does not ask for it, which would be an error of the console.
  const { page, check } = await world.open('/projects/shop/settings');
  const text = JSON.stringify({
    halyard: 1,
    project: 'shop',
    environments: ['production'],
    flags: { imported: { environments: { production: { enabled: true } } } },
  });
  const file = { name: 'shop.json', mimeType: 'application/json', buffer: Buffer.from(text) };
  await page.getByLabel('Document to import').setInputFiles(file);
  await page.getByRole('button', { name: 'Propose…' }).click();
  const dialog = page.getByRole('dialog', { name: 'Propose: import shop.json' });
  await dialog.getByRole('region', { name: 'What changes' }).getByText('imported').waitFor();
  await dialog.getByLabel('Reason').fill('From the repository');
  await check();
  await dialog.getByRole('button', { name: 'Propose', exact: true }).click();
  await page.getByRole('link', { name: 'See the proposal' }).click();
  await page.getByText('You proposed this yourself: another person decides.').waitFor();
}, 60_000);
