import { beforeEach, expect, test } from 'bun:test';
import type { Locator, Page } from 'playwright-core';
import { messages as flagPage } from '../src/pages/flag/messages.tsx';
import { card, editor, FLAG, resetFlag, write } from './support/flag-screen.ts';
import { KEPT_ALIVE } from './support/opened-page.ts';
import { sharedWorld } from './support/world.ts';

const PATIENCE_MS = 60_000;

const world = sharedWorld(async ({ management }) => {
  await management.createProject('shop');
});
beforeEach(() => resetFlag(world));

/** The head of the row of `development`, while it has the focus. */
function headWithFocus(page: Page): Locator {
  return page.getByRole('button', { name: 'development', exact: true }).and(page.locator(':focus'));
}

test(
  'leaving unsaved changes asks first: by a link, and by going back',
  async () => {
    const { page, check } = await world.open('/projects/shop/flags');
    await page.getByRole('link', { name: 'new-checkout' }).first().click();
    await write(page, '8');
    const dialog = page.getByRole('dialog', { name: 'Leave without saving?' });
    await page.getByRole('link', { name: 'History', exact: true }).click();
    await dialog.waitFor();
    await check();
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    expect(new URL(page.url()).pathname).toBe(FLAG);

    await page.goBack();
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    expect(new URL(page.url()).pathname).toBe(FLAG);
    expect(await editor(page).textContent()).toBe('8');
    await page.goBack();
    await dialog.getByRole('button', { name: 'Leave' }).click();
    await page.waitForURL('**/projects/shop/flags');
  },
  PATIENCE_MS,
);

test(
  'leaving an unsaved description asks first',
  async () => {
    const { page } = await world.open(FLAG);
    await page.getByRole('button', { name: 'Edit: Description' }).click();
    const field = page.getByRole('textbox', { name: 'Description' });
    await field.fill('A long story');
    await page.getByRole('link', { name: 'History', exact: true }).click();
    const dialog = page.getByRole('dialog', { name: 'Leave without saving?' });
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    expect(await field.inputValue()).toBe('A long story');
    await field.press('Control+Enter');
    await field.waitFor({ state: 'detached' });
    await page.getByRole('link', { name: 'History', exact: true }).click();
    await page.waitForURL('**/projects/shop/history');
  },
  PATIENCE_MS,
);

test(
  'a draft is kept while the flag is archived, and can be saved once it is restored',
  async () => {
    await world.management.putState('shop', 'development', 'put-away', { enabled: true, value: 7 });
    const { page, check } = await world.open('/projects/shop/flags/put-away');
    await write(page, '8');
    await world.management.request('POST', '/api/projects/shop/flags/put-away/archive');
    await page.getByRole('heading', { name: flagPage.actions.archivedTitle }).waitFor();
    await card(page).getByRole('alert').getByText('archived while you were editing').waitFor();
    expect(await editor(page).textContent()).toBe('8');
    expect(await editor(page).getAttribute('contenteditable')).toBe('false');
    expect(await card(page, 'production').count()).toBe(0);
    expect(await page.getByRole('button', { name: 'Save in development' }).count()).toBe(0);
    await check();
    await page.getByRole('link', { name: 'History', exact: true }).click();
    const dialog = page.getByRole('dialog', { name: 'Leave without saving?' });
    await dialog.getByRole('button', { name: 'Cancel' }).click();

    await world.management.request('POST', '/api/projects/shop/flags/put-away/restore');
    await page.getByRole('button', { name: 'Save in development' }).click();
    await page.getByText('put-away is on, value 8 in development').first().waitFor();

    await write(page, '9');
    await world.management.request('POST', '/api/projects/shop/flags/put-away/archive');
    await card(page).getByRole('alert').getByText('archived while you were editing').waitFor();
    await card(page).getByRole('button', { name: 'Discard' }).click();
    await card(page).waitFor({ state: 'detached' });
  },
  PATIENCE_MS,
);

test(
  'a draft does not move to the flag with the same key in another project',
  async () => {
    await world.management.createProject('deck');
    await world.management.putState('deck', 'development', 'new-checkout', { enabled: true, value: 1 });
    const { page } = await world.open('/projects/deck/flags/new-checkout');
    await editor(page).waitFor();
    const goTo = async (project: string) => {
      await page.keyboard.press('Control+k');
      await page.getByRole('combobox', { name: 'Commands' }).fill('new-checkout');
      await page.getByRole('option', { name: `new-checkout in ${project}` }).click();
    };
    await goTo('shop');
    await editor(page).getByText('7').waitFor();
    await write(page, '555');
    await goTo('deck');
    await page
      .getByRole('dialog', { name: 'Leave without saving?' })
      .getByRole('button', { name: 'Leave' })
      .click();
    await page.waitForURL('**/projects/deck/flags/new-checkout');
    await editor(page).getByText('1').waitFor();
    expect(await page.getByRole('button', { name: 'Save in development' }).count()).toBe(0);
  },
  PATIENCE_MS,
);

test(
  'leaving after the session ended while editing leads to the sign-in without a question',
  async () => {
    const { page, context } = await world.open(FLAG, { expected: /401/ });
    await write(page, '8');
    await context.request.delete('/api/session', { headers: { origin: world.node.url }, ...KEPT_ALIVE });
    await page.getByRole('dialog', { name: 'Sign in again' }).getByRole('button', { name: 'Leave' }).click();
    await page.waitForURL('**/sign-in?from=*');
    expect(await page.getByRole('dialog').count()).toBe(0);
  },
  PATIENCE_MS,
);

test(
  'tabs are in the address and follow the arrow keys; a draft survives them, and another environment',
  async () => {
    const { page, check } = await world.open(`${FLAG}?tab=history`);
    const tab = (name: string) => page.getByRole('tab', { name });
    await page.getByRole('region', { name: 'History' }).waitFor();
    expect(await card(page).count()).toBe(0);
    await tab('History').press('ArrowLeft');
    await write(page, '8');
    expect(new URL(page.url()).search).toBe('');
    await tab('Overview').press('End');
    await page.getByRole('tabpanel', { name: 'Code' }).getByLabel('Language').waitFor();
    expect(await page.getByRole('tab', { selected: true }).textContent()).toBe('Code');
    await check();
    await tab('Code').press('ArrowRight');

    await page.getByRole('button', { name: /^production/ }).click();
    await card(page, 'production').getByText('Everyone').first().waitFor();
    expect(new URL(page.url()).search).toBe('?env=production');
    expect(await card(page).count()).toBe(0);
    const row = page.locator('[data-environment=development]');
    await row.getByText(flagPage.matrix.unsaved).waitFor();
    await check();
    await row.getByRole('button', { name: 'development' }).click();
    expect(await editor(page).textContent()).toBe('8');
    await page.getByRole('button', { name: 'Discard' }).click();
    await page.reload();
    await card(page).getByText('Changed').waitFor();
    await page.getByRole('button', { name: 'development', exact: true }).press('Enter');
    await card(page).waitFor({ state: 'detached' });
  },
  PATIENCE_MS,
);

test(
  'after a draft is saved the keyboard is at its environment, and before that the bar says why it cannot be saved',
  async () => {
    const { page, check } = await world.open(FLAG);
    const bar = page.getByRole('form', { name: /development/ });
    await write(page, '{"limit": ');
    await bar.getByText(/^Line 1, column \d+: /).waitFor();
    expect(await bar.getByRole('button', { name: 'Save in development' }).isDisabled()).toBe(true);
    await check();

    // What a keyboard passes on its way to the bar are other things.
    await write(page, '8');
    await page.getByRole('button', { name: 'More actions' }).focus();
    const save = bar.getByRole('button', { name: 'Save in development' });
    await save.focus();
    await page.keyboard.press('Enter');
    await save.waitFor({ state: 'detached' });
    await headWithFocus(page).waitFor();
  },
  PATIENCE_MS,
);

test(
  'after a flag is added to an environment the keyboard is at the head of its row, not at a field that would change it',
  async () => {
    await world.management.request('POST', '/api/projects/shop/flags', { body: { key: 'bare' } });
    const { page } = await world.open('/projects/shop/flags/bare');
    await page.getByRole('button', { name: 'Add to development (off)' }).press('Enter');
    await headWithFocus(page).waitFor();
  },
  PATIENCE_MS,
);

test(
  'an owner is replaced by typing, and the field of a description is as high as its text',
  async () => {
    const owner = 'Team Checkout';
    const description = Array.from({ length: 8 }, (_, index) => `Line ${index}`).join('\n');
    await world.management.request('PATCH', '/api/projects/shop/flags/new-checkout', {
      body: { owner, description },
    });
    const { page, check } = await world.open(FLAG);
    await page.getByRole('button', { name: 'Edit: Owner' }).press('Enter');
    await page.keyboard.type('Team Search');
    const field = page.getByRole('combobox', { name: 'Owner' });
    expect(await field.inputValue()).toBe('Team Search');
    await page.keyboard.press('Escape');
    await page.keyboard.press('Escape');
    await field.waitFor({ state: 'detached' });

    await page.getByRole('button', { name: 'Edit: Description' }).click();
    const text = page.getByRole('textbox', { name: 'Description' });
    expect(await text.evaluate((it) => it.scrollHeight <= it.clientHeight)).toBe(true);
    await check();
  },
  PATIENCE_MS,
);
