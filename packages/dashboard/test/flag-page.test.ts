import { beforeEach, expect, test } from 'bun:test';
import { messages as changes } from '../src/changes/messages.ts';
import { messages as flagPage } from '../src/pages/flag/messages.tsx';
import { card, editor, FLAG, resetFlag, STATE, stateText, write } from './support/flag-screen.ts';
import { signUp } from './support/people.ts';
import { sharedWorld } from './support/world.ts';

const PATIENCE_MS = 60_000;

const world = sharedWorld(async ({ management }) => {
  await management.createProject('shop');
});
beforeEach(() => resetFlag(world));

test(
  'the rollout is chosen by marks, arrow keys and typing, and goes back to everyone',
  async () => {
    const { page, check } = await world.open(FLAG);
    await card(page).getByRole('radio', { name: 'Percentage in development' }).check();
    await card(page).getByRole('button', { name: '25 % in development' }).click();
    const slider = card(page).getByRole('slider', { name: 'Rollout in development' });
    await slider.press('ArrowRight');
    await slider.press('Shift+ArrowRight');
    const box = card(page).getByRole('spinbutton');
    expect(await box.inputValue()).toBe('26.001');
    await box.press('ArrowDown');
    expect(await box.inputValue()).toBe('26');
    await box.fill('101');
    await card(page).getByText(flagPage.rollout.invalid).waitFor();
    await box.fill('12.345');
    await check();
    await box.press('Enter');
    await page.getByText('new-checkout is on, 12.345 %, value 7 in development').first().waitFor();
    expect(await stateText(world)).toContain('"rolloutPct":12.345');

    await card(page).getByRole('radio', { name: 'Everyone in development' }).check();
    await page.getByRole('button', { name: 'Save in development' }).click();
    await page.getByText('new-checkout is on, value 7 in development').first().waitFor();
    expect(await stateText(world)).not.toContain('rolloutPct');
  },
  PATIENCE_MS,
);

test(
  'a protected environment asks before the switch and for its reason, and its state can be copied from another one',
  async () => {
    const { page, check } = await world.open(FLAG);
    const control = page.getByRole('switch', { name: 'new-checkout in production' });
    await control.press('Space');
    const dialog = page.getByRole('dialog', { name: 'Change new-checkout in production?' });
    await dialog.locator('del', { hasText: 'On' }).waitFor();
    await dialog.locator('ins', { hasText: 'Off' }).waitFor();
    await check();
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    expect(await control.isChecked()).toBe(true);
    await control.press('Space');
    await dialog.getByLabel('Reason').fill('Too many complaints');
    await page.keyboard.press('Enter');
    await page.getByText('new-checkout is off in production').first().waitFor();
    await page.getByRole('button', { name: /^production/ }).click();
    await card(page, 'production').getByText('“Too many complaints”').waitFor();

    await card(page, 'production').getByRole('button', { name: 'More for production' }).click();
    await page.getByRole('menuitem', { name: flagPage.card.copyFrom }).click();
    const copying = page.getByRole('dialog', { name: 'Copy to production' });
    await copying.getByRole('region', { name: 'What changes' }).getByText('On').waitFor();
    expect(await copying.getByLabel('From').inputValue()).toBe('development');
    await check();
    await copying.getByRole('button', { name: 'Copy 1 flag to production' }).click();
    await page.getByText('1 flag copied from development to production').first().waitFor();
    await control.and(page.locator(':checked')).waitFor();
  },
  PATIENCE_MS,
);

test(
  'a change by another person while a schedule is created is not part of it',
  async () => {
    const { page } = await world.open(FLAG);
    await editor(page).waitFor();
    await card(page).getByRole('button', { name: 'More for development' }).click();
    await page.getByRole('menuitem', { name: 'Schedule a change…' }).click();
    const dialog = page.getByRole('dialog', { name: 'Schedule a change of new-checkout' });
    await dialog.getByText('turns off').waitFor();
    const state = { enabled: true, value: 7, rolloutPct: 50 };
    await world.management.putState('shop', 'development', 'new-checkout', state);
    await card(page)
      .getByRole('radio', { name: 'Percentage in development', checked: true, includeHidden: true })
      .waitFor();
    const made = page.waitForRequest('**/api/projects/shop/schedules');
    await dialog.getByRole('button', { name: 'Schedule', exact: true }).click();
    // The request is JSON in the API's format.
    const { changes } = (await made).postDataJSON() as { readonly changes: unknown };
    expect(changes).toEqual([{ key: 'new-checkout', patch: { enabled: false } }]);
    await page.getByText('new-checkout scheduled').waitFor();
  },
  PATIENCE_MS,
);

test(
  'Escape in an input method does not close a text that is being edited',
  async () => {
    const { page } = await world.open(FLAG);
    await page.getByRole('button', { name: 'Edit: Description' }).click();
    const field = page.getByRole('textbox', { name: 'Description' });
    await field.fill('half of it');
    await field.dispatchEvent('keydown', { key: 'Escape', isComposing: true });
    await field.press('End');
    expect(await field.inputValue()).toBe('half of it');
    await field.press('Escape');
    await field.waitFor({ state: 'detached' });
  },
  PATIENCE_MS,
);

test(
  'everything is done with the keyboard alone: the switch, the editor, the rollout, the save',
  async () => {
    const { page } = await world.open(FLAG);
    await editor(page).waitFor();
    await page.getByRole('switch', { name: 'new-checkout in development' }).focus();
    await page.keyboard.press('Tab');
    await page.keyboard.press('Control+A');
    await page.keyboard.type('41');
    await page.keyboard.press('Tab');
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('Tab');
    await page.keyboard.press('PageDown');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.getByText('new-checkout is on, 90 %, value 41 in development').first().waitFor();
    expect(await stateText(world)).toContain('"value":41,"rolloutPct":90');
  },
  PATIENCE_MS,
);

test(
  'shows a viewer everything, and why nothing can be changed',
  async () => {
    const viewer = await signUp(world, { email: 'vera@example.com', role: 'viewer' });
    const { page, check } = await world.open(FLAG, { as: viewer, theme: 'dark' });
    await card(page).getByText(changes.viewerCannotChange).waitFor();
    expect(await page.getByRole('switch', { name: 'new-checkout in development' }).isDisabled()).toBe(true);
    await editor(page).waitFor();
    expect(await editor(page).getAttribute('contenteditable')).toBe('false');
    expect(await page.getByRole('button', { name: /^(Edit|Revert|More)/ }).count()).toBe(0);
    await check();
  },
  PATIENCE_MS,
);

test(
  'a card shows its last author, even after many changes elsewhere, and nothing false while it loads',
  async () => {
    for (let value = 0; value < 25; value++)
      await world.management.putState('shop', 'staging', 'new-checkout', { enabled: true, value });
    const { page } = await world.open('/projects/shop/flags');
    const { promise: mayAnswer, resolve: answer } = Promise.withResolvers<void>();
    await page.route('**/api/audit?*', async (route) => {
      await mayAnswer;
      await route.continue();
    });
    await page.getByRole('link', { name: 'new-checkout' }).first().click();
    await card(page)
      .getByText(/^Changed .* by token admin/)
      .waitFor();
    expect(await page.getByText('No changes yet').count()).toBe(0);
    answer();
    await page.getByRole('tab', { name: 'History' }).click();
    await page.getByRole('button', { name: flagPage.history.older }).waitFor();
    await page.getByRole('tab', { name: 'Overview' }).click();
    await card(page)
      .getByText(/^Changed .* by token admin/)
      .waitFor();
  },
  PATIENCE_MS,
);

test(
  'people are shown by name, and your changes in another tab as yours',
  async () => {
    const grace = await signUp(world, {
      email: 'grace@example.com',
      name: 'Grace Hopper',
      role: 'editor',
    });
    const { page, context, check } = await world.open(FLAG, { as: grace });
    await page.getByRole('switch', { name: 'new-checkout in development' }).click();
    await card(page)
      .getByText(/^Changed .* by Grace Hopper/)
      .waitFor();
    await page.getByRole('listitem').getByText('Grace Hopper').first().waitFor();
    await check();
    await write(page, '8');
    const other = await context.newPage();
    await other.goto(FLAG);
    await write(other, '9');
    await other.getByRole('button', { name: 'Save in development' }).click();
    await card(page)
      .getByRole('alert')
      .getByText('You, in another tab, changed this while you were editing')
      .waitFor();

    const ada = await world.open('/projects/shop/flags');
    await ada.page.getByText('by Grace Hopper').first().waitFor();
    expect(await ada.page.getByText('grace@example.com').count()).toBe(0);
  },
  PATIENCE_MS,
);

test(
  'code to copy is in the language that was selected last, wraps, and links guides that exist',
  async () => {
    const { page, check } = await world.open(`${FLAG}?tab=code`, { width: 390 });
    const language = page.getByLabel('Language');
    const shown = (name: string) =>
      page.getByRole('region', { name: `${name}: new-checkout in development` });
    await language.selectOption('React');
    const handler = await page.getByRole('link', { name: 'the handler' }).getAttribute('href');
    const client = await page.getByRole('link', { name: 'how to install it' }).getAttribute('href');
    await language.selectOption('Python');
    // The flag's value is 7.
    await shown('Python').getByText('get_integer_value("new-checkout", 0, user)').waitFor();
    expect(await shown('Python').evaluate((box) => box.scrollWidth - box.clientWidth)).toBe(0);
    const python = await page.getByRole('link', { name: 'how to install it' }).getAttribute('href');
    const languages = await page
      .getByRole('link', { name: 'Use Halyard from any language' })
      .getAttribute('href');
    for (const guide of [handler, client, python, languages]) {
      const [path = '', anchor] = guide?.split('#') ?? [];
      const answer = await page.request.get(path);
      expect(answer.status()).toBe(200);
      if (anchor !== undefined) expect(await answer.text()).toContain(`id="${anchor}"`);
    }
    await page.reload();
    await shown('Python').waitFor();
    await check();
  },
  PATIENCE_MS,
);

test(
  'a second change of a state waits for the first that is still being saved, and does not conflict with it',
  async () => {
    // The exact text of the first change may be read when the second has already removed the state.
    const { page } = await world.open(FLAG, { expected: /404/ });
    const { promise: mayGoOn, resolve: goOn } = Promise.withResolvers<void>();
    const methods: string[] = [];
    await page.route(`**${STATE}`, async (route) => {
      const method = route.request().method();
      if (method === 'GET') return route.continue();
      methods.push(method);
      if (method === 'PATCH') await mayGoOn;
      await route.continue();
    });
    await page.getByRole('switch', { name: 'new-checkout in development' }).click();
    await page.getByRole('button', { name: 'More for development' }).click();
    await page.getByRole('menuitem', { name: 'Remove from development' }).click();
    expect(methods).toEqual(['PATCH']);
    goOn();
    await page.getByText('new-checkout is removed in development').first().waitFor();
    expect(methods).toEqual(['PATCH', 'DELETE']);
    const { flags } = await world.management.states('shop', 'development');
    expect(flags.some(({ key }) => key === 'new-checkout')).toBe(false);
  },
  PATIENCE_MS,
);
