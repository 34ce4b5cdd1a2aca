import { beforeEach, describe, expect, test } from 'bun:test';
import { until } from '@halyard/testing';
import type { Route } from 'playwright-core';
import { messages as flagPage } from '../src/pages/flag/messages.tsx';
import {
  AWKWARD,
  card,
  editor,
  FLAG,
  resetFlag,
  STATE,
  stateText,
  write,
  writeRaw,
} from './support/flag-screen.ts';
import { BLANK } from './support/opened-page.ts';
import { sharedWorld } from './support/world.ts';

const PATIENCE_MS = 60_000;

const world = sharedWorld(async ({ management }) => {
  await management.createProject('shop');
});
beforeEach(() => resetFlag(world));

describe('the value', () => {
  test(
    'is shown, edited, saved and undone in its own notation, with a note',
    async () => {
      await writeRaw(world, `{"enabled":true,"value":${AWKWARD}}`);
      const { page, check } = await world.open(FLAG);
      await card(page).getByText('1e3').waitFor();
      expect(await editor(page).textContent()).toContain('12345678901234567890');

      await write(page, '{"b":2.50,"10":1.0}');
      await page.getByLabel('Reason for the change in development').fill('Half of it was too much');
      const diff = card(page).getByRole('region', { name: 'Your changes' });
      await diff.getByRole('deletion').getByText('1000').waitFor();
      await diff.getByRole('insertion').getByText('2.5').waitFor();
      // A switch that is half under the bar at the foot counts as too small.
      const covered = page.getByRole('switch', { name: 'new-checkout in staging' });
      await covered.evaluate((element) => element.scrollIntoView({ block: 'center' }));
      await check();
      await page.getByRole('button', { name: 'Save in development' }).click();
      await page.getByText('new-checkout is on, value').first().waitFor();
      expect(await stateText(world)).toContain('"value":{"b":2.50,"10":1.0}');
      await card(page).getByText('“Half of it was too much”').waitFor();
      // Formatted when the field was left; what is saved is clean again.
      await page.getByRole('button', { name: 'Save in development' }).waitFor({ state: 'detached' });
      expect(await editor(page).textContent()).toContain('{  "b": 2.50,  "10": 1.0}');

      await page.getByRole('button', { name: 'Undo' }).click();
      await card(page).getByText('1e3').waitFor();
      expect(await stateText(world)).toContain(`"value":${AWKWARD}`);
    },
    PATIENCE_MS,
  );

  test(
    'keeps its notation when only the rollout is edited, also before its exact text has arrived',
    async () => {
      await writeRaw(world, `{"enabled":true,"value":${AWKWARD}}`);
      const { page } = await world.open('/projects/shop/flags');
      const release = Promise.withResolvers<void>();
      await page.route(`**${STATE}`, async (route) => {
        if (route.request().method() === 'GET') await release.promise;
        await route.continue();
      });
      await page.getByRole('link', { name: 'new-checkout' }).click();
      await card(page).getByRole('radio', { name: 'Percentage in development' }).check();
      await card(page).getByRole('button', { name: '25 % in development' }).click();
      release.resolve();
      await card(page).getByText('12345678901234567890').waitFor();
      await page.getByRole('button', { name: 'Save in development' }).click();
      await page.getByText('new-checkout is on, 25 %').first().waitFor();
      expect(await stateText(world)).toContain(`"value":${AWKWARD}`);
    },
    PATIENCE_MS,
  );

  test(
    'that was just saved or flipped here is known exactly, and does not count as another person’s',
    async () => {
      const { page } = await world.open(FLAG);
      await editor(page).waitFor();
      await write(page, '8.0');
      const release = Promise.withResolvers<void>();
      await page.route(`**${STATE}`, async (route) => {
        if (route.request().method() === 'GET') await release.promise;
        await route.continue();
      });
      await page.getByRole('button', { name: 'Save in development' }).click();
      await page.getByText('new-checkout is on, value 8 in development').first().waitFor();
      expect(await page.getByText('while you were editing').count()).toBe(0);
      expect(await editor(page).textContent()).toBe('8.0');
      await page.getByRole('switch', { name: 'new-checkout in development' }).click();
      await page.getByText('new-checkout is off in development').first().waitFor();
      expect(await editor(page).textContent()).toBe('8.0');
      release.resolve();
    },
    PATIENCE_MS,
  );

  test(
    'can be edited while it is being saved: the saved version does not count as another person’s',
    async () => {
      const { page } = await world.open(FLAG);
      await write(page, '8');
      const release = Promise.withResolvers<void>();
      await page.route(`**${STATE}`, async (route) => {
        if (route.request().method() === 'PATCH') await release.promise;
        await route.continue();
      });
      const saving = page.waitForRequest((request) => request.method() === 'PATCH');
      await page.keyboard.press('Control+Enter');
      await saving;
      await page.keyboard.type('9');
      release.resolve();
      await page.getByText('new-checkout is on, value 8 in development').first().waitFor();
      await page.getByRole('button', { name: 'Save in development' }).click();
      await page.getByText('new-checkout is on, value 89 in development').first().waitFor();
      expect(await page.getByText('while you were editing').count()).toBe(0);
      expect(await stateText(world)).toContain('"value":89');
    },
    PATIENCE_MS,
  );

  test(
    'shows where it is invalid JSON, and warns before its type changes',
    async () => {
      const { page } = await world.open(FLAG);
      await editor(page).press('Control+z');
      expect(await editor(page).textContent()).toBe('7');
      await write(page, '{\n  "a" 1\n}');
      await card(page).getByText('Line 2, column 7: Missing colon.').waitFor();
      const save = page.getByRole('button', { name: 'Save in development' });
      expect(await save.isDisabled()).toBe(true);

      await write(page, '"seven"');
      await card(page).getByText('Code expecting a number will fall back to its default.').waitFor();
      expect(await save.isEnabled()).toBe(true);
      await page.getByRole('button', { name: 'Discard' }).click();
      expect(await editor(page).textContent()).toBe('7');
    },
    PATIENCE_MS,
  );

  test(
    'is typed letter by letter without triggering single-key shortcuts',
    async () => {
      const { page } = await world.open(FLAG);
      await editor(page).press('Control+A');
      await page.keyboard.type('"go/no go?');
      expect(await editor(page).textContent()).toBe('"go/no go?');
      expect(await page.getByRole('dialog').count()).toBe(0);
    },
    PATIENCE_MS,
  );

  test(
    'is a plain field if the editor cannot be loaded, and saves with Ctrl and Enter',
    async () => {
      const { page, context } = await world.open('/projects/shop/flags', { expected: /ERR_FAILED/ });
      await context.route('**/assets/chunk-*', async (route) => {
        const response = await route.fetch();
        if ((await response.text()).includes('cm-content')) return route.abort();
        return route.fulfill({ response });
      });
      await page.getByRole('link', { name: 'new-checkout' }).first().click();
      const field = card(page).getByRole('textbox', { name: 'Value in development' });
      await field.fill('  8 ');
      await field.press('Control+Enter');
      await page.getByText('new-checkout is on, value 8 in development').first().waitFor();
      expect(await stateText(world)).toContain('"value":8');
      expect(await card(page).locator('textarea').count()).toBe(1);
    },
    PATIENCE_MS,
  );

  test(
    'with malicious content is shown as text everywhere',
    async () => {
      const value = '<img src=x onerror="document.title=1">';
      await world.management.putState('shop', 'development', 'new-checkout', { enabled: true, value });
      const { page, check } = await world.open(FLAG);
      await page.getByLabel('Evaluate for this targeting key').fill('user-1');
      await card(page).getByText('onerror').first().waitFor();
      await page.locator('[data-evaluation=development]').getByText('onerror').waitFor();
      expect(await page.locator('img[src="x"]').count()).toBe(0);
      expect(await page.title()).toBe('new-checkout · shop · Halyard');
      await check();
    },
    PATIENCE_MS,
  );

  test(
    'is edited with the control of its declared kind, and as JSON where it is something else',
    async () => {
      const { management } = world;
      const states = { development: { enabled: true } };
      await management.request('POST', '/api/projects/shop/flags', {
        body: { key: 'limit', valueKind: 'number', states },
      });
      const { page, check } = await world.open('/projects/shop/flags/limit');
      const field = card(page).getByLabel('Value in development');
      await field.fill('many');
      await card(page).getByText(flagPage.value.notNumber).waitFor();
      expect(await page.getByRole('button', { name: 'Save in development' }).isDisabled()).toBe(true);
      await check();
      await field.fill('2.50');
      await field.press('Enter');
      await page.getByText('limit is on, value 2.5 in development').first().waitFor();
      const { flags } = await management.states('shop', 'development');
      expect(flags.find(({ key }) => key === 'limit')?.state.value).toBe(2.5);

      await page.getByRole('button', { name: 'Edit: Kind of value' }).click();
      await page.getByRole('combobox', { name: 'Kind of value' }).selectOption('text');
      await page.getByRole('button', { name: 'Save', exact: true }).click();
      await card(page).getByText(flagPage.value.otherKind('Text')).waitFor();
      await editor(page).waitFor();
      await check();
      await write(page, '"two"');
      await page.getByRole('button', { name: 'Save in development' }).click();
      await card(page).locator('textarea').and(field).fill('two "and" a half');
      await field.press('Control+Enter');
      await page.getByText('value "two \\"and\\" a half" in development').first().waitFor();
    },
    PATIENCE_MS,
  );

  test(
    'is chosen from the values that the flag declares, which a dialog edits and the history shows',
    async () => {
      const { page, check } = await world.open(FLAG, { height: 1000, expected: /412/ });
      await page.getByRole('button', { name: 'Edit named values' }).click();
      const dialog = page.getByRole('dialog', { name: 'Named values of new-checkout' });
      await dialog.getByLabel('Name of new value').fill('few');
      await dialog.getByLabel('Value of few').fill('{"n": 1.0');
      await dialog.getByRole('button', { name: 'Save' }).click();
      const wrong = dialog.getByLabel('Value of few');
      expect(await wrong.getAttribute('aria-invalid')).toBe('true');
      expect(await wrong.getAttribute('aria-describedby')).not.toBeNull();
      expect(await wrong.evaluate((field) => field === document.activeElement)).toBe(true);
      expect(await dialog.getByLabel('Name of few').getAttribute('aria-invalid')).toBeNull();
      await dialog.getByLabel('Value of few').fill('{"n": 1.0}');
      await dialog.getByLabel('Description of few').fill('For small shops');
      await dialog.getByRole('button', { name: 'Add value' }).click();
      await dialog.getByLabel('Name of new value').fill('seven');
      await dialog.getByLabel('Value of seven').fill('7');
      await check();
      await dialog.getByRole('button', { name: 'Save' }).click();
      await dialog.waitFor({ state: 'detached' });
      // Another button has replaced the one that opened the dialog.
      await page.locator('[aria-label="Edit named values"]:focus').waitFor();

      const menu = card(page).getByLabel('Named value in development');
      expect(await menu.inputValue()).toBe('seven');
      expect(await menu.locator('option').allTextContents()).toEqual([
        'Custom value',
        'few: {"n":1.0}',
        'seven: 7',
      ]);
      await menu.selectOption('few');
      await card(page).getByText('For small shops').waitFor();
      await check();
      await page.getByRole('button', { name: 'Save in development' }).click();
      await page.getByRole('button', { name: 'Save in development' }).waitFor({ state: 'detached' });
      // The draft goes when it is sent.
      await until('the server has it', async () => (await stateText(world)).includes('"value":{"n":1.0}'));
      expect(await stateText(world)).toContain('"valueName":"few"');
      await write(page, '8');
      expect(await menu.inputValue()).toBe('');

      await page.getByRole('button', { name: 'Edit named values' }).click();
      await dialog.getByRole('button', { name: 'Remove few' }).click();
      await dialog.getByText('development keeps serving the present value of “few”').waitFor();
      const next = dialog.getByLabel('Name of seven');
      expect(await next.evaluate((field) => field === document.activeElement)).toBe(true);

      // The list, which has no named values, learns a name that it does not show. The server compares texts: 1 is not 1.0.
      const list = await world.open('/projects/shop/flags');
      const row = list.page.getByRole('row', { name: 'new-checkout' });
      const named = (name: string) => row.getByText(name, { exact: true });
      for (const environment of ['development', 'production'])
        await world.management.putState('shop', environment, 'new-checkout', {
          enabled: true,
          value: { n: 1 },
        });
      await row.getByText('{"n":1}').nth(1).waitFor();
      expect([await named('few').count(), await named('seven').count()]).toEqual([0, 0]);
      await writeRaw(world, '{"enabled":true,"value":{"n":1.0}}');
      await named('few').waitFor();

      // A value that changes while the list is on its way gets its name, too.
      const hold = async (route: Route) => {
        const response = await route.fetch();
        await writeRaw(world, '{"enabled":true,"value":7}');
        await route.fulfill({ response });
      };
      // Not on the page that is there: it may be reading the list again.
      await list.page.goto(BLANK);
      await list.page.route('**/flags?values=preview', hold, { times: 1 });
      await list.page.goto('/projects/shop/flags');
      await named('seven').waitFor();
      await list.close();

      // Someone else changes the list while the dialog is open: it overwrites nothing, and keeps what was typed.
      await next.fill('sieben');
      await world.management.request('PATCH', '/api/projects/shop/flags/new-checkout', {
        body: { namedValues: [{ name: 'late', value: 9 }] },
      });
      await page.getByText('late', { exact: true }).waitFor();
      await dialog.getByRole('button', { name: 'Save' }).click();
      await dialog.getByText('have changed since you opened this dialog').waitFor();
      expect(await dialog.getByLabel('Name of sieben').inputValue()).toBe('sieben');

      // So it does if the page has not learned of the change.
      await page.keyboard.press('Escape');
      await page.getByRole('alertdialog').getByRole('button', { name: 'Discard' }).click();
      await page.getByRole('button', { name: 'Edit named values' }).click();
      await dialog.getByLabel('Name of late').fill('my own');
      await page.route(/\/flags\/new-checkout$/, async (route) => {
        if (route.request().method() === 'PATCH') {
          const namedValues = [{ name: 'theirs', value: 9 }];
          const path = '/api/projects/shop/flags/new-checkout';
          await world.management.request('PATCH', path, { body: { namedValues } });
        }
        await route.continue();
      });
      await dialog.getByRole('button', { name: 'Save' }).click();
      await dialog.getByText('have changed since you opened this dialog').waitFor();
    },
    PATIENCE_MS,
  );
});
