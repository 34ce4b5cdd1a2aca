import { beforeEach, expect, test } from 'bun:test';
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

test(
  'when two people edit the same state, the second sees both versions and loses nothing without a choice',
  async () => {
    const ada = await world.open(FLAG, { expected: /412/ });
    const bob = await world.open(FLAG);
    await write(ada.page, '8');
    await write(bob.page, '9');
    await bob.page.getByRole('button', { name: 'Save in development' }).click();

    const banner = card(ada.page).getByRole('alert');
    await banner.getByText('changed this while you were editing').waitFor();
    expect(await editor(ada.page).textContent()).toBe('8');
    await ada.check();
    await ada.page.getByRole('button', { name: 'Save in development' }).click();
    const dialog = ada.page.getByRole('dialog', { name: 'There is a newer version' });
    const differences = dialog.getByRole('region', { name: 'Differences' });
    await differences.locator('del', { hasText: '9' }).waitFor();
    await differences.locator('ins', { hasText: '8' }).waitFor();
    await ada.check();
    await dialog.getByRole('button', { name: 'Overwrite with mine' }).click();
    await ada.page.getByText('new-checkout is on, value 8 in development').first().waitFor();
    expect(await stateText(world)).toContain('"value":8');
    // Bob had stopped editing: the new version is there at once, highlighted.
    await card(bob.page).locator('.cm-content', { hasText: '8' }).waitFor();

    await write(ada.page, '10');
    await world.management.putState('shop', 'development', 'new-checkout', { enabled: true, value: 11 });
    await banner.getByRole('button', { name: 'Discard mine' }).click();
    expect(await editor(ada.page).textContent()).toBe('11');
  },
  PATIENCE_MS,
);

test(
  'Escape, × and "Keep editing" in a conflict keep what was typed; only "Discard mine" drops it',
  async () => {
    const { page, check } = await world.open(FLAG, { expected: /412/ });
    await write(page, '8');
    await writeRaw(world, '{"enabled":true,"value":{"limit":9}}');
    const banner = card(page).getByRole('alert');
    await banner.waitFor();
    const save = page.getByRole('button', { name: 'Save in development' });
    const dialog = page.getByRole('dialog', { name: 'There is a newer version' });
    const waysBack = [
      () => page.keyboard.press('Escape'),
      () => dialog.getByRole('button', { name: 'Close' }).click(),
      () => dialog.getByRole('button', { name: 'Keep editing' }).click(),
    ];
    for (const goBack of waysBack) {
      await save.click();
      await dialog.waitFor();
      await goBack();
      await dialog.waitFor({ state: 'detached' });
      expect(await editor(page).textContent()).toBe('8');
      // The other version is still announced: the next save asks again.
      await banner.waitFor();
    }
    await banner.getByRole('button', { name: 'Show theirs' }).click();
    await banner.getByRole('region', { name: 'In effect now' }).getByText('"limit": 9').waitFor();
    await banner.getByRole('region', { name: 'What they changed' }).locator('ins').first().waitFor();
    expect(await editor(page).textContent()).toBe('8');
    await check();
    await save.click();
    await dialog.getByRole('button', { name: 'Discard mine' }).click();
    await card(page).locator('.cm-content', { hasText: 'limit' }).waitFor();
    expect(await save.count()).toBe(0);
  },
  PATIENCE_MS,
);

test(
  'undoing a change that was overwritten asks first, and does not name the author of the newer one',
  async () => {
    const { page, check } = await world.open(BLANK, { expected: /412|ERR_/ });
    // The stream would remove the message as soon as the state changes.
    await page.context().route('**/api/events*', (route) => route.abort());
    await page.goto(FLAG);
    const control = page.getByRole('switch', { name: 'new-checkout in development' });
    await control.click();
    await page.getByText('new-checkout is off in development').first().waitFor();
    await control.click();
    await page.getByText('new-checkout is on in development').first().waitFor();
    const undo = page.getByRole('button', { name: 'Undo' });
    expect(await undo.count()).toBe(1);
    await writeRaw(world, '{"enabled":true,"value":9}');
    await undo.click();
    const dialog = page.getByRole('dialog', { name: 'There is a newer version' });
    await dialog.getByRole('region', { name: 'Differences' }).waitFor();
    await check();
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await control.and(page.locator(':checked')).waitFor();
  },
  PATIENCE_MS,
);

test(
  'the notice of another person’s version stays after flipping the switch, which does not overwrite it',
  async () => {
    const { page } = await world.open(FLAG, { expected: /412/ });
    await write(page, '8');
    await writeRaw(world, '{"enabled":true,"value":9}');
    const banner = card(page).getByRole('alert').getByText('changed this while you were editing');
    await banner.waitFor();
    await page.getByRole('switch', { name: 'new-checkout in development' }).press('Space');
    await page.getByText('new-checkout is off in development').first().waitFor();
    await banner.waitFor();
    const save = page.getByRole('button', { name: 'Save in development' });
    await save.click();
    await page.getByRole('button', { name: 'Overwrite with mine' }).click();
    await page.getByText('new-checkout is off, value 8 in development').first().waitFor();
    await save.waitFor({ state: 'detached' });
    expect(await banner.count()).toBe(0);
    expect(await stateText(world)).toContain('"value":8');
  },
  PATIENCE_MS,
);

test(
  'editing a state that another person removes shows that it was removed',
  async () => {
    const { page } = await world.open(FLAG);
    await write(page, '8');
    await world.management.request('DELETE', STATE);
    await card(page).getByRole('alert').getByText('while you were editing').waitFor();
    expect(await editor(page).textContent()).toBe('8');
  },
  PATIENCE_MS,
);

test(
  'overwriting another person’s version can be undone, and theirs is restored exactly',
  async () => {
    const { page } = await world.open(FLAG, { expected: /412/ });
    await write(page, '8');
    await writeRaw(world, `{"enabled":true,"value":${AWKWARD}}`);
    await card(page).getByRole('alert').waitFor();
    await page.getByRole('button', { name: 'Save in development' }).click();
    await page.getByRole('button', { name: 'Overwrite with mine' }).click();
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.getByText('Value of new-checkout saved in development').first().waitFor();
    expect(await stateText(world)).toContain(`"value":${AWKWARD}`);
  },
  PATIENCE_MS,
);

test(
  'a refused change returns to the server’s state: a switch immediately, a save when it is discarded',
  async () => {
    const { page } = await world.open(FLAG, { expected: /403/ });
    const control = page.getByRole('switch', { name: 'new-checkout in development' });
    await editor(page).waitFor();
    const refusal = { error: 'forbidden', message: 'Not you.' };
    await page.route(`**${STATE}`, (route) =>
      route.request().method() === 'PATCH' ? route.fulfill({ status: 403, json: refusal }) : route.continue(),
    );
    await control.click();
    await page.getByText("don't have permission to do this").waitFor();
    await control.and(page.locator(':checked')).waitFor();

    await write(page, '8');
    const save = page.getByRole('button', { name: 'Save in development' });
    await save.click();
    await page.getByText("don't have permission to do this").nth(1).waitFor();
    expect(await editor(page).textContent()).toBe('8');
    await page.unroute(`**${STATE}`);
    await save.click();
    await page.getByText('new-checkout is on, value 8 in development').first().waitFor();
    expect(await stateText(world)).toContain('"value":8');
  },
  PATIENCE_MS,
);

test(
  'a refused save keeps what was typed, even if the exact text of the value has not arrived',
  async () => {
    const { page } = await world.open('/projects/shop/flags', { expected: /403|ERR_FAILED/ });
    const refusal = { error: 'forbidden', message: 'Not you.' };
    await page.route(`**${STATE}`, (route) =>
      route.request().method() === 'PATCH' ? route.fulfill({ status: 403, json: refusal }) : route.abort(),
    );
    await page.getByRole('link', { name: 'new-checkout' }).click();
    await editor(page).waitFor();
    await write(page, '8');
    await page.getByRole('button', { name: 'Save in development' }).click();
    await page.getByText("don't have permission to do this").waitFor();
    expect(await editor(page).textContent()).toBe('8');
    await page.getByRole('button', { name: 'Discard' }).click();
    expect(await editor(page).textContent()).toBe('7');
  },
  PATIENCE_MS,
);
