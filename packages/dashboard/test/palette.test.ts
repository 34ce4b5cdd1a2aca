import { describe, expect, test } from 'bun:test';
import type { Page } from 'playwright-core';
import { ADMIN } from './support/opened-page.ts';
import { visit } from './support/visit.ts';
import { sharedWorld, type World } from './support/world.ts';

describe('the command palette and the keyboard', () => {
  const world = sharedWorld(async ({ management }) => {
    await management.createProject('shop');
    await management.createProject('museum');
    await management.putState('shop', 'production', 'new-checkout', { enabled: false });
    await management.putState('shop', 'development', 'banner', { enabled: true });
    await management.putState('museum', 'development', 'audio-guide', { enabled: true });
  });

  test('a flag is flipped by typing, and the guard asks first', async () => {
    const { page, check } = await world.open('/projects/shop/history');
    await page.getByRole('heading', { name: 'History' }).waitFor();
    await page.keyboard.press('Control+k');
    const palette = page.getByRole('dialog', { name: 'Commands' });
    await palette.getByRole('combobox').fill('turn on new prod');
    await palette.getByRole('option', { name: 'Turn on new-checkout in production' }).waitFor();
    await check();
    await page.keyboard.press('Enter');
    const guard = page.getByRole('dialog', { name: 'Change new-checkout in production?' });
    await guard.waitFor();
    expect(await stateOf(world, 'production', 'new-checkout')).toEqual({ enabled: false });
    await guard.getByRole('button', { name: 'Change production' }).click();
    await page.getByText('new-checkout is on in production').first().waitFor();
    expect(await stateOf(world, 'production', 'new-checkout')).toEqual({ enabled: true });
  }, 60_000);

  test('a rollout is set by typing a share, through the same question, with the state that it has now', async () => {
    await world.management.putState('shop', 'production', 'ramp-10', { enabled: true, rolloutPct: 10 });
    const { page, check } = await world.open('/projects/shop/flags');
    await page.getByRole('link', { name: 'ramp-10' }).waitFor();
    await page.keyboard.press('Control+k');
    const field = page.getByPlaceholder(/^Search or jump/);
    const option = page.getByRole('option', { name: 'Set ramp-10 to 25 % in production' });
    await field.fill('ramp 25');
    await option.getByText('on, 10 %').waitFor();
    // A number that is a part of a key looks for the flag.
    await field.fill('ramp 10');
    await option.waitFor({ state: 'detached' });
    await page.getByRole('option', { name: /^ramp-10/ }).waitFor();
    await field.fill('ramp 25 % prod');
    await option.waitFor();
    await check();
    await page.keyboard.press('Enter');
    const guard = page.getByRole('dialog', { name: 'Change ramp-10 in production?' });
    await guard.getByText('25 %').waitFor();
    await guard.getByRole('button', { name: 'Change production' }).click();
    await page.getByText('ramp-10 is on, 25 % in production').first().waitFor();
  }, 60_000);

  test('what was used last comes first, with its present state', async () => {
    await world.management.putState('shop', 'staging', 'lamp', { enabled: true });
    const { page, check } = await world.open('/projects/shop/flags/lamp');
    await page.getByRole('heading', { name: 'lamp' }).waitFor();
    await page.keyboard.press('Control+k');
    const recent = page.getByRole('group', { name: 'Recent' }).getByRole('option');
    await recent.first().getByText('on in staging').waitFor();
    await page.getByPlaceholder(/^Search or jump/).fill('turn off lamp stag');
    await page.getByRole('option', { name: 'Turn off lamp in staging' }).click();
    await page.getByText('lamp is off in staging').first().waitFor();

    await visit(page, '/projects/shop/history');
    await page.getByRole('heading', { name: 'History' }).waitFor();
    await page.keyboard.press('Control+k');
    await recent.first().getByText('Turn on lamp in staging').waitFor();
    expect(await recent.last().textContent()).toStartWith('lampoff everywhere');
    await check();
  }, 60_000);

  test('flipping a flag back during the write does not count as another person’s change', async () => {
    await world.management.putState('shop', 'development', 'twice', { enabled: false, value: 1 });
    const { page } = await world.open('/projects/shop/flags');
    await page.getByRole('link', { name: 'twice' }).waitFor();
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    await page.route('**/environments/development/flags/twice', async (route) => {
      await released;
      await route.continue();
    });
    for (const word of ['on', 'off']) {
      await page.keyboard.press('Control+k');
      await page.getByPlaceholder(/^Search or jump/).fill(`turn ${word} twice dev`);
      await page.getByRole('option', { name: `Turn ${word} twice in development` }).click();
    }
    release();
    await page.getByText('twice is off in development').first().waitFor();
    expect(await page.getByRole('dialog').count()).toBe(0);
    expect(await stateOf(world, 'development', 'twice')).toEqual({ enabled: false, value: 1 });
  }, 60_000);

  test('what is typed before the palette has loaded goes into it, not to the screen', async () => {
    const { page } = await world.open('/projects/shop/flags');
    await page.getByRole('link', { name: 'banner' }).waitFor();
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    await page.route('**/*.js', async (route) => {
      await released;
      await route.continue();
    });
    await page.keyboard.press('Control+k');
    // Each of them is a key of this screen, and the blank flips a switch.
    await page.keyboard.type('new bj');
    release();
    await page.getByRole('combobox', { name: 'Commands' }).waitFor();
    expect(await page.getByPlaceholder(/^Search or jump/).inputValue()).toBe('new bj');
    expect(await page.getByRole('dialog').count()).toBe(1);
    await page.keyboard.type('x');
    expect(await page.getByPlaceholder(/^Search or jump/).inputValue()).toBe('new bjx');
  }, 60_000);

  test('a held Enter opens the guard and does not answer it', async () => {
    const { page } = await world.open('/projects/shop/history');
    await world.management.putState('shop', 'production', 'held', { enabled: false });
    await page.getByRole('heading', { name: 'History' }).waitFor();
    await page.keyboard.press('Control+k');
    await page.getByPlaceholder(/^Search or jump/).fill('turn on held prod');
    await page.getByRole('option', { name: 'Turn on held in production' }).waitFor();
    await page.keyboard.down('Enter');
    const guard = page.getByRole('dialog', { name: 'Change held in production?' });
    await guard.waitFor();
    // A keyboard repeats these while the key is down.
    for (let times = 0; times < 5; times += 1) await page.keyboard.down('Enter');
    await page.keyboard.up('Enter');
    expect(await guard.isVisible()).toBe(true);
    // Cancel has the focus; the confirm button is one step further.
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await guard.waitFor({ state: 'detached' });
    await page.getByText('held is on in production').first().waitFor();
  }, 60_000);

  test('flags of other projects are found, screens are reached, and the theme is changed', async () => {
    const { page, check } = await world.open('/projects/shop/flags', { theme: 'dark' });
    await page.getByRole('link', { name: 'banner' }).waitFor();
    await page.keyboard.press('Control+k');
    await page.getByPlaceholder(/^Search or jump/).fill('audio');
    await page.getByRole('option', { name: 'audio-guide in museum' }).click();
    await page.waitForURL('**/projects/museum/flags/audio-guide');
    await page.keyboard.press('Control+k');
    await page.getByPlaceholder(/^Search or jump/).fill('light theme');
    await page.keyboard.press('Enter');
    await page.locator('html[data-theme="light"]').waitFor();
    await page.keyboard.press('g');
    await page.keyboard.press('h');
    await page.waitForURL('**/projects/museum/history');
    // A screen is found before the flags with its name, and so is what it creates.
    await world.management.putState('museum', 'development', 'web', { enabled: true });
    await page.keyboard.press('Control+k');
    await page.getByPlaceholder(/^Search or jump/).fill('web');
    await page.getByRole('option', { name: 'web on in development', exact: true }).waitFor();
    const first = page.getByRole('dialog', { name: 'Commands' }).getByRole('option').first();
    expect(await first.textContent()).toContain('Webhooks');
    await page.getByRole('option', { name: 'New webhook' }).click();
    await page.getByRole('dialog', { name: 'New webhook' }).getByRole('button', { name: 'Cancel' }).click();
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor();
    await check();
  }, 60_000);

  test('from the sign-in to a flipped flag with the keyboard alone', async () => {
    const { page } = await world.open('/projects/shop/flags', { as: 'visitor' });
    await page.getByLabel('E-mail').focus();
    await page.keyboard.type(ADMIN.email);
    await page.keyboard.press('Tab');
    await page.keyboard.type(ADMIN.password);
    await page.keyboard.press('Enter');
    const cell = page.getByRole('switch', { name: 'banner in development' });
    await cell.waitFor();
    for (let presses = 0; (await labelInFocus(page)) !== 'banner in development'; presses++) {
      if (presses > 60) throw new Error('the switch cannot be reached with Tab');
      await page.keyboard.press('Tab');
    }
    await page.keyboard.press('Space');
    await page.getByText('banner is off in development').first().waitFor();
    expect(await stateOf(world, 'development', 'banner')).toEqual({ enabled: false });
  }, 60_000);
});

async function stateOf(world: World, environment: string, key: string): Promise<unknown> {
  const { flags } = await world.management.states('shop', environment);
  return flags.find((flag) => flag.key === key)?.state;
}

function labelInFocus(page: Page): Promise<unknown> {
  return page.evaluate('document.activeElement?.getAttribute("aria-label")');
}
