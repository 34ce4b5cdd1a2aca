import { expect, test } from 'bun:test';
import type { Locator } from 'playwright-core';
import { ADMIN } from './support/opened-page.ts';
import { signUp } from './support/people.ts';
import { sharedWorld } from './support/world.ts';

const world = sharedWorld(async ({ management }) => {
  await management.createProject('shop');
  await management.putState('shop', 'staging', 'new-checkout', { enabled: true });
});

/** The color of a switch's knob. */
function knob(control: Locator): Promise<string> {
  return control.evaluate((it) => getComputedStyle(it.parentElement?.lastElementChild ?? it).backgroundColor);
}

test.each(['light', 'dark'] as const)(
  'with forced colors, a switch that a viewer may not press looks different, %s',
  async (theme) => {
    const viewer = await signUp(world, { email: `eve-${theme}@example.com`, role: 'viewer' });
    const colors = new Set<string>();
    for (const as of [viewer, ADMIN]) {
      const { page, close } = await world.open('/projects/shop/flags', { theme, as });
      await page.emulateMedia({ forcedColors: 'active' });
      const control = page.getByRole('switch', { name: 'new-checkout in staging' });
      await control.waitFor();
      colors.add(await knob(control));
      await close();
    }
    expect(colors.size).toBe(2);
  },
  60_000,
);

test('with forced colors, words of a status are framed, and what is disabled is not dimmed twice', async () => {
  const { page } = await world.open('/projects/shop/environments');
  await page.emulateMedia({ forcedColors: 'active' });
  const badge = page.getByText('protected', { exact: true });
  expect(await badge.evaluate((it) => getComputedStyle(it).borderTopWidth)).toBe('1px');
  await page.getByRole('button', { name: 'More for development' }).click();
  const disabled = page.getByRole('menuitem', { name: 'Move up' });
  expect(await disabled.evaluate((it) => getComputedStyle(it).opacity)).toBe('1');
}, 60_000);
