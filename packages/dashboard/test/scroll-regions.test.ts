import { expect, test } from 'bun:test';
import type { Page } from 'playwright-core';
import { sharedWorld } from './support/world.ts';

const world = sharedWorld(async ({ management }) => {
  await management.createProject('shop');
  const many = Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`host-${index}`, index]));
  for (const [key, value] of [
    ['small', { limit: 1 }],
    ['large', many],
  ] as const)
    await management.putState('shop', 'staging', key, { enabled: true, value });
});

/** Opens the only change of a flag, and returns its value. */
async function openValue(page: Page, key: string) {
  await page.goto(`${world.node.url}/projects/shop/flags/${key}?tab=history`);
  await page
    .getByRole('button', { name: /^Details/ })
    .first()
    .click();
  const value = page.getByRole('group', { name: 'Value before and after' });
  await value.waitFor();
  return value;
}

test('Tab stops at a part that scrolls, and passes by one that is in view as a whole', async () => {
  const { page, check } = await world.open('/account');
  const small = await openValue(page, 'small');
  expect(await small.getAttribute('tabindex')).toBeNull();
  await check();

  const large = await openValue(page, 'large');
  expect(await large.getAttribute('tabindex')).toBe('0');
  await large.focus();
  await page.keyboard.press('PageDown');
  await page.waitForFunction(() => (document.activeElement?.scrollTop ?? 0) > 0);
}, 60_000);
