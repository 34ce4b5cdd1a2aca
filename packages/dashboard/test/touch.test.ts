import { expect, test } from 'bun:test';
import type { Locator } from 'playwright-core';
import { signUp } from './support/people.ts';
import { sharedWorld } from './support/world.ts';

const LONG_KEY = `checkout-${'of-the-subsidiary-'.repeat(6)}north`;

const world = sharedWorld(async (started) => {
  const { management } = started;
  await signUp(started, { email: 'grace@example.com', role: 'admin' });
  await management.createProject('shop');
  for (let index = 0; index < 12; index++) await management.createProject(`shop-${index}`);
  for (const key of ['new-checkout', LONG_KEY])
    await management.putState('shop', 'staging', key, { enabled: false });
  await management.request('PATCH', '/api/projects/shop/environments/production', { body: { approvals: 1 } });
});

const PHONE = { width: 390, height: 844, isTouched: true } as const;

/** How far above and below its middle a control takes a press, in pixels. */
async function reach(control: Locator): Promise<number> {
  await control.waitFor();
  return control.evaluate((it) => {
    const { left, top, width, height } = it.getBoundingClientRect();
    const [x, y] = [left + width / 2, top + height / 2];
    const hits = (at: number) => {
      const found = document.elementFromPoint(x, at);
      return found !== null && it.contains(found);
    };
    let [first, last] = [y, y];
    while (hits(first - 1)) first--;
    while (hits(last + 1)) last++;
    return last - first + 1;
  });
}

test('a finger finds buttons within 40 pixels, switches and boxes within 32, and lines of menus of 40', async () => {
  const { page, check } = await world.open('/projects/shop/flags', PHONE);
  const control = page.getByRole('switch', { name: 'new-checkout in staging' });
  expect(await reach(control)).toBeGreaterThanOrEqual(32);
  expect(await reach(page.getByRole('checkbox', { name: /new-checkout/ }))).toBeGreaterThanOrEqual(32);
  const create = page.getByRole('button', { name: 'Create', exact: true });
  for (const button of [create, page.getByRole('button', { name: 'New flag' })])
    expect(await reach(button)).toBeGreaterThanOrEqual(39);
  await create.tap();
  expect((await page.getByRole('menuitem').first().boundingBox())?.height).toBeGreaterThanOrEqual(40);
  await check();
}, 60_000);

test('suggestions stay beside their field, in the part of the window that a keyboard leaves', async () => {
  const { page } = await world.open('/relay-tokens?new', { ...PHONE, height: 420 });
  const session = await page.context().newCDPSession(page);
  const field = page.getByRole('combobox', { name: 'Projects' });
  await field.waitFor();
  // Nothing else here makes the visible part smaller than the window.
  await session.send('Emulation.setPageScaleFactor', { pageScaleFactor: 1.5 });
  await field.focus();
  await field.press('ArrowDown');
  await page.getByRole('listbox', { name: 'Projects' }).waitFor();
  const inside = page.waitForFunction(`(() => {
    const { top, bottom } = document.querySelector('[popover]').getBoundingClientRect();
    return top >= visualViewport.offsetTop && bottom <= visualViewport.offsetTop + visualViewport.height;
  })()`);
  await inside;
}, 60_000);

test.each([
  [640, 400, LONG_KEY],
  [390, 420, 'new-checkout'],
])(
  'in a window of %d x %d a proposal opens at its title, and its reason is in view',
  async (width, height, key) => {
    const { page } = await world.open('/projects/shop/flags', { width, height });
    await page.getByRole('switch', { name: `${key} in production` }).click();
    const dialog = page.getByRole('dialog', { name: /^Propose/ });
    const reason = dialog.getByLabel('Reason').and(page.locator(':focus'));
    await reason.waitFor();
    expect(await dialog.evaluate((it) => it.scrollTop)).toBe(0);
    const [field, actions] = [
      await reason.boundingBox(),
      await dialog.getByRole('button', { name: 'Propose', exact: true }).boundingBox(),
    ];
    expect((field?.y ?? 0) + (field?.height ?? 0)).toBeLessThanOrEqual(actions?.y ?? 0);
  },
);
