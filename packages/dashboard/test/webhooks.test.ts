import { expect, test } from 'bun:test';
import { until } from '@halyard/testing';
import { Receiver } from '../../server/src/nouns/webhooks/test-receiver.ts';
import { signUp } from './support/people.ts';
import { sharedWorld } from './support/world.ts';

const world = sharedWorld(({ management }) => management.createProject('shop'), {
  env: { HALYARD_WEBHOOK_NETWORKS: '127.0.0.0/8' },
});

test('a webhook is created, tested, watched, paused and deleted', async () => {
  const receiver = new Receiver();
  const { page, check } = await world.open('/projects/shop/webhooks', { expected: /status of 400/ });
  await page.getByRole('heading', { name: 'No webhooks yet' }).waitFor();
  await check();
  await page.keyboard.press('n');
  const form = page.getByRole('dialog', { name: 'New webhook' });
  await form.getByRole('button', { name: 'Create webhook' }).click();
  await form.getByText('Enter a name of lower-case letters').waitFor();
  await form.getByText('Enter an address that begins').waitFor();
  await check();
  await form.getByLabel('Name').fill('chat');
  await form.getByLabel('Address').fill(receiver.url('chat'));
  await form.getByLabel('Format').selectOption('slack');
  await form.getByRole('button', { name: 'Environments: All environments' }).click();
  await page.getByRole('checkbox', { name: 'production' }).check();
  await page.keyboard.press('Escape');
  await form.getByRole('button', { name: 'Create webhook' }).click();
  const secret = page.getByRole('dialog', { name: 'Signing secret of chat' });
  expect(await secret.locator('[data-secret]').textContent()).toStartWith('whsec_');
  await check();
  await secret.getByRole('button', { name: "Done, I've saved it" }).click();
  const row = page.getByRole('row').filter({ has: page.getByRole('rowheader', { name: 'chat' }) });
  await row.getByText('All changes in production').waitFor();

  const sendTest = page.getByRole('button', { name: 'Send test to chat' });
  await sendTest.press('Enter');
  await page.getByText(/^The receiver answered 200 after/).waitFor();
  // The button was disabled in the meantime.
  await until('the button has the focus again', () =>
    sendTest.evaluate((it) => it === document.activeElement),
  );
  receiver.answer('chat', () => new Response('<b>no such channel</b>', { status: 404 }));
  await page.getByRole('button', { name: 'Send test to chat' }).click();
  await page.getByText('The receiver answered 404 instead of 2xx.').waitFor();
  await world.management.putState('shop', 'production', 'a', { enabled: true });
  await row.getByText('failing').waitFor();
  await row.getByText(/^(The next attempt is due|Next attempt in a moment)$/).waitFor();
  await row.getByText('404 · no such channel').waitFor();
  await row.getByRole('link', { name: 'a', exact: true }).waitFor();
  await row.getByText('1 change', { exact: true }).waitFor();
  await row.getByText(/^2 delivered, \d failed$/).waitFor();
  await check();

  // Of all projects, the one whose webhook fails comes first.
  await world.management.createProject('aaa');
  const home = await world.open('/?projects');
  await home.page.getByRole('row', { name: /aaa/ }).waitFor();
  const names = await home.page.getByRole('row').getByRole('rowheader').allInnerTexts();
  expect(names.map((name) => name.split('\n')[0])).toEqual(['shop', 'aaa']);
  await home.check();
  await home.close();

  await page.getByRole('button', { name: 'Deliveries of chat' }).click();
  const deliveries = page.getByRole('dialog', { name: 'Deliveries of chat' });
  // Long keys wrap, although the cell that has the dialog does not.
  expect(await deliveries.evaluate((it) => getComputedStyle(it).whiteSpace)).toBe('normal');
  // The flag by name, with the answer open.
  const failed = deliveries
    .getByRole('listitem')
    .filter({ has: page.getByRole('link', { name: 'a', exact: true }) });
  await failed.getByText('<b>no such channel</b>').waitFor();
  await check();
  await failed.getByRole('button', { name: /^Skip this change: \d+$/ }).click();
  await page.getByRole('button', { name: 'Skip change', exact: true }).click();
  await page
    .getByText(/^Change \d+ skipped$/)
    .first()
    .waitFor();
  receiver.forgetAnswers();
  // Its own creation was the first message; it can be sent again.
  await deliveries
    .getByRole('button', { name: /^Send again: change \d+$/ })
    .last()
    .click();
  await deliveries.getByRole('listitem').filter({ hasText: 'replay' }).waitFor();
  const created = receiver.messages('chat').filter(({ body }) => body.includes('webhook chat created'));
  expect(created).toHaveLength(2);
  await page.keyboard.press('Escape');

  const more = page.getByRole('button', { name: 'More actions for chat' });
  // A key that is held down opens the menu, and runs nothing in it.
  await more.focus();
  for (let repeats = 0; repeats < 4; repeats++) await page.keyboard.down('Enter');
  await page.keyboard.up('Enter');
  await page.getByRole('menuitem', { name: 'Edit' }).and(page.locator(':focus')).waitFor();
  await page.keyboard.press('Escape');
  await more.click();
  await page.getByRole('menuitem', { name: 'Pause' }).click();
  await row.getByText('paused', { exact: true }).waitFor();
  await check();
  await more.click();
  await page.getByRole('menuitem', { name: 'Edit' }).click();
  const edit = page.getByRole('dialog', { name: 'Edit chat' });
  await edit.getByLabel('Address').fill('https://169.254.169.254/');
  await edit.getByRole('button', { name: 'Save' }).click();
  await edit.getByText('allow its network with HALYARD_WEBHOOK_NETWORKS').waitFor();
  const address = edit.getByLabel('Address');
  expect(await address.getAttribute('aria-invalid')).toBe('true');
  expect(await address.evaluate((field) => field === document.activeElement)).toBe(true);
  expect(await edit.getByRole('alert').count()).toBe(0);
  await check();
  await edit.getByLabel('Address').fill('');
  await edit.getByLabel('Format').selectOption('json');
  await edit.getByRole('button', { name: 'Save' }).click();
  await row.getByText(receiver.url('chat')).waitFor();
  await more.click();
  await page.getByRole('menuitem', { name: 'Delete' }).click();
  await page.getByRole('button', { name: 'Delete webhook' }).click();
  await page.getByRole('heading', { name: 'No webhooks yet' }).waitFor();
  receiver.stop();

  const viewer = await signUp(world, { email: 'eve@example.com', role: 'viewer' });
  const other = await world.open('/projects/shop/webhooks', { as: viewer });
  await other.page.getByText('Viewing and managing webhooks requires an administrator.').waitFor();
  const settings = other.page.getByRole('navigation', { name: 'Settings of the project' });
  expect(await settings.getByRole('link').allTextContents()).toEqual([
    'General',
    'Environments',
    'Keys',
    'Members',
  ]);
  await other.check();
}, 60_000);

test('a webhook of the installation is managed with the settings, and takes no filter', async () => {
  const receiver = new Receiver();
  const { page, check } = await world.open('/webhooks');
  await page.getByRole('heading', { name: 'No audit webhooks yet' }).waitFor();
  await check();
  await page.keyboard.press('n');
  const form = page.getByRole('dialog', { name: 'New webhook' });
  await form.getByLabel('Name').fill('siem');
  await form.getByLabel('Address').fill(receiver.url('siem'));
  expect(await form.getByLabel('Format').count()).toBe(0);
  await form.getByRole('button', { name: 'Create webhook' }).click();
  await page.getByRole('button', { name: "Done, I've saved it" }).click();
  const row = page.getByRole('row').filter({ has: page.getByRole('rowheader', { name: 'siem' }) });
  await row.getByText('Every entry of the audit log').waitFor();
  await page.getByRole('button', { name: 'Send test to siem' }).click();
  await page.getByText(/^The receiver answered 200 after/).waitFor();
  await check();

  // Entries of all projects: a flag is named, and the link leads to the audit log.
  await world.management.putState('shop', 'staging', 'audited', { enabled: true });
  await page.getByRole('button', { name: 'Deliveries of siem' }).click();
  const deliveries = page.getByRole('dialog', { name: 'Deliveries of siem' });
  const entry = deliveries.getByRole('listitem').filter({ hasText: 'audited' });
  await until('the delivery is listed', async () => {
    await deliveries.getByRole('button', { name: 'Refresh' }).click();
    return (await entry.count()) > 0;
  });
  await entry.getByRole('link', { name: /^Change \d+$/ }).click();
  await page.waitForURL(/\/audit\?change=\d+$/);
  await page.getByRole('link', { name: 'Audit webhooks' }).waitFor();

  const narrow = await world.open('/webhooks', { width: 390, theme: 'dark' });
  await narrow.page.getByRole('rowheader', { name: 'siem' }).waitFor();
  await narrow.check();
  receiver.stop();
}, 60_000);
