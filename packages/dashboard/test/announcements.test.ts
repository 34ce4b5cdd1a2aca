import { expect, test } from 'bun:test';
import { until } from '@halyard/testing';
import type { Locator, Page } from 'playwright-core';
import { Receiver } from '../../server/src/nouns/webhooks/test-receiver.ts';
import { sharedWorld } from './support/world.ts';

const world = sharedWorld(
  async ({ management }) => {
    await management.createProject('shop');
    await management.putState('shop', 'staging', 'new-checkout', { enabled: false });
  },
  { env: { HALYARD_WEBHOOK_NETWORKS: '127.0.0.0/8' } },
);

/** Notes each text that comes into a live region which a screen reader heeds: none outside of an open dialog. */
const LISTEN = `
  const heard = (window.heard = []);
  new MutationObserver((mutations) => {
    for (const { addedNodes, target, type } of mutations)
      for (const node of type === 'characterData' ? [target] : addedNodes) {
        const element = node instanceof Element ? node : node.parentElement;
        const region = element?.closest('[aria-live], [role="status"], [role="alert"]');
        const dialog = [...document.querySelectorAll('dialog[open]')].at(-1);
        if (!region || region.getAttribute('aria-live') === 'off' || (dialog && !dialog.contains(region))) continue;
        if (node.textContent.trim() !== '') heard.push(node.textContent);
      }
  }).observe(document.body, { subtree: true, childList: true, characterData: true });
`;

/** The announcements so far in which a text occurs. */
async function heard(page: Page, text: string): Promise<readonly string[]> {
  const all = (await page.evaluate('window.heard')) as readonly string[];
  return all.filter((each) => each.includes(text));
}

test('the outcome of a change is read out once, and so is its undoing', async () => {
  const { page } = await world.open('/projects/shop/flags');
  const control = page.getByRole('switch', { name: 'new-checkout in staging' });
  await control.waitFor();
  await page.evaluate(LISTEN);
  await control.click();
  await page.getByText('new-checkout is on in staging', { exact: true }).waitFor();
  await page.getByRole('button', { name: 'Undo' }).click();
  await page.getByText('new-checkout is off in staging', { exact: true }).waitFor();
  for (const state of ['on', 'off'])
    expect(await heard(page, `new-checkout is ${state} in staging`)).toHaveLength(1);
}, 60_000);

test('what a dialog that stays open reports is read out in it, once', async () => {
  const receiver = new Receiver();
  const body = { name: 'chat', url: receiver.url('chat'), format: 'json', environments: [], events: [] };
  await world.management.request('POST', '/api/projects/shop/webhooks', { body });
  await until('the first message arrives', () => receiver.messages('chat').length > 0);
  const { page } = await world.open('/projects/shop/webhooks');
  await page.getByRole('button', { name: 'Deliveries of chat' }).click();
  const again = page.getByRole('button', { name: /^Send again: change \d+$/ });
  await again.first().waitFor();
  await page.evaluate(LISTEN);
  await again.first().click();
  await page
    .getByText(/^The receiver answered 200 after/)
    .first()
    .waitFor();
  expect(await heard(page, 'The receiver answered 200')).toHaveLength(1);
  receiver.stop();
}, 60_000);

/** What is read of a dialog after its title. */
function described(dialog: Locator): Promise<string> {
  return dialog.evaluate((it) =>
    (it.getAttribute('aria-describedby') ?? '')
      .split(' ')
      .map((id) => document.getElementById(id)?.textContent)
      .join(' '),
  );
}

test('a question is read out with what it would change, although the focus is at Cancel', async () => {
  await world.management.createKey('shop', ['staging'], { name: 'website' });
  const { page } = await world.open('/projects/shop/keys');
  await page.getByRole('button', { name: 'Revoke website' }).click();
  expect(await described(page.getByRole('dialog'))).toContain('stops working immediately');
  await page.goto('/projects/shop/flags');
  await page.getByRole('switch', { name: 'new-checkout in production' }).click();
  const question = page.getByRole('dialog', { name: 'Change new-checkout in production?' });
  await question.getByRole('button', { name: 'Cancel' }).and(page.locator(':focus')).waitFor();
  expect(await described(question)).toMatch(/production.*is protected.*new-checkout.*Switch.*On/);
}, 60_000);

test('the headings of flags and rows are read by their names, not by the controls in them', async () => {
  const { page } = await world.open('/projects/shop/flags/new-checkout');
  await page.getByRole('heading', { level: 1, name: 'new-checkout', exact: true }).waitFor();
  await page.goto('/?projects');
  await page.getByRole('rowheader', { name: 'shop', exact: true }).waitFor();
}, 60_000);
