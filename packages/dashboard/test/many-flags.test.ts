import { expect, test } from 'bun:test';
import { sharedWorld } from './support/world.ts';

const FLAGS = 10_000;

const world = sharedWorld(async ({ management }) => {
  await management.createProject('shop');
  const changes = Array.from({ length: FLAGS }, (_, index) => ({
    key: `flag-${String(index).padStart(5, '0')}`,
    state: { enabled: index % 2 === 0, value: { limit: index } },
  }));
  for (const environment of ['development', 'staging', 'production'])
    await management.change('shop', environment, changes);
});

test('ten thousand flags are searched, sorted, scrolled and switched, and only the visible ones are rendered', async () => {
  const { page, check } = await world.open('/projects/shop/flags');
  const first = page.getByRole('switch', { name: 'flag-00000 in development' });
  await first.waitFor();
  await page.getByText('10,000').waitFor();
  expect(await page.locator('[data-flag]').count()).toBeLessThan(60);

  await first.click();
  await page.getByText('flag-00000 is off in development', { exact: true }).waitFor();
  await page.getByLabel('Search flags').pressSequentially('flag-09', { delay: 5 });
  await page.getByText('1,000 of 10,000').waitFor();
  await page.getByLabel('Search flags').fill('09999');
  await page.getByRole('switch', { name: 'flag-09999 in production' }).waitFor();

  // Without the pointer: what was typed just now is found first.
  const head = page.getByRole('columnheader', { name: 'Flag' });
  expect(await head.getAttribute('aria-sort')).toBe('none');
  await page.getByLabel('Search flags').fill('00042');
  await page.keyboard.press('Enter');
  await page.getByRole('switch', { name: 'flag-00042 in development' }).and(page.locator(':focus')).waitFor();
  await page.keyboard.press('/');
  await page.getByLabel('Search flags').fill('9');
  await page.keyboard.press('ArrowDown');
  await page.getByRole('switch', { name: 'flag-00009 in development' }).and(page.locator(':focus')).waitFor();
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'flag-00009' }).waitFor();
  await page.goBack();
  await page.getByLabel('Search flags').fill('');
  expect(await head.getAttribute('aria-sort')).toBe('ascending');
  await page.getByLabel('Order').selectOption('-key');
  await page.getByRole('switch', { name: 'flag-09999 in production' }).waitFor();
  await page.getByLabel('Order').selectOption('');
  await page.getByRole('heading', { name: 'Flags', exact: true }).click();
  for (let row = 0; row < 30; row++) await page.keyboard.press('j');
  await page.getByRole('switch', { name: 'flag-00029 in development' }).waitFor();
  await page.mouse.move(600, 500);
  await page.mouse.wheel(0, 250_000);
  await page.locator('[data-row="4650"]').waitFor();
  expect(await page.locator('[data-flag]').count()).toBeLessThan(60);
  await check();
  // Screen readers count what is not drawn, too.
  const table = page.getByRole('table');
  const [columns, last] = [table, page.getByRole('columnheader').last()];
  expect(await last.getAttribute('aria-colindex')).toBe(await columns.getAttribute('aria-colcount'));
  await page.setViewportSize({ width: 390, height: 800 });
  const card = page.locator('li[data-row="40"]');
  while ((await card.count()) === 0) await page.keyboard.press('j');
  expect([await card.getAttribute('aria-posinset'), await card.getAttribute('aria-setsize')]).toEqual([
    '41',
    String(FLAGS),
  ]);
}, 90_000);

test('the palette lists few of ten thousand flags, and the right one is among them', async () => {
  const { page } = await world.open('/projects/shop/flags');
  await page.getByRole('link', { name: 'flag-00000' }).waitFor();
  await page.keyboard.press('Control+k');
  await page.getByPlaceholder(/^Search or jump/).pressSequentially('flag-07777');
  await page
    .getByRole('option', { name: /^flag-07777 / })
    .first()
    .waitFor();
  expect(await page.getByRole('dialog').getByRole('option').count()).toBeLessThan(20);
}, 60_000);

test('a change of one flag makes the browser look at its row again, not at the whole page', async () => {
  const { page } = await world.open('/projects/shop/flags');
  await page.getByText('Live', { exact: true }).waitFor();
  const flag = page.getByRole('switch', { name: 'flag-00001 in development' });
  await flag.waitFor();
  await page.waitForLoadState('networkidle');
  const elements = await page.locator('*').count();

  await world.browser.startTracing(page, { categories: ['devtools.timeline'] });
  await world.management.putState('shop', 'development', 'flag-00001', { enabled: true });
  await flag.and(page.locator(':checked')).waitFor();
  const { traceEvents } = JSON.parse(String(await world.browser.stopTracing())) as {
    traceEvents: readonly { readonly name: string; readonly args: { readonly elementCount?: number } }[];
  };
  const restyled = traceEvents
    .filter(({ name }) => name === 'UpdateLayoutTree')
    .map(({ args }) => args.elementCount ?? 0);
  expect(restyled.some((count) => count > 0)).toBe(true);
  expect(Math.max(...restyled)).toBeLessThan(elements / 4);
}, 60_000);
