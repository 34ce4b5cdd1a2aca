import { expect, test } from 'bun:test';
import { signUp } from './support/people.ts';
import { sharedWorld } from './support/world.ts';

const world = sharedWorld(async (world) => {
  await signUp(world, { email: `${'q'.repeat(100)}@example.com`, role: 'viewer' });
});

test.each([
  [1023, 'grid'],
  [1024, 'table-row'],
])(
  '%d px wide, records are shown in one way only: %s',
  async (width, display) => {
    const { page } = await world.open('/operators', { width });
    await page.locator('tbody tr').first().waitFor();
    expect(await page.evaluate(`getComputedStyle(document.querySelector('tbody tr')).display`)).toBe(display);
  },
  60_000,
);

test('rules for narrow and for wide windows never apply together', async () => {
  const { page } = await world.open('/operators');
  await page.locator('tbody tr').first().waitFor();
  const conditions = (await page.evaluate(`(() => {
    const found = new Set();
    const look = (rules) => {
      for (const rule of rules) {
        if (rule instanceof CSSMediaRule) found.add(rule.conditionText);
        if (rule.cssRules !== undefined) look(rule.cssRules);
      }
    };
    for (const sheet of document.styleSheets) look(sheet.cssRules);
    return [...found].filter((text) => text.includes('width'));
  })()`)) as string[];
  expect(conditions).toContain('(min-width: 64rem)');
  for (const width of [640, 768, 1024]) {
    await page.setViewportSize({ width, height: 800 });
    const wide = `(min-width: ${width / 16}rem)`;
    const held = (await page.evaluate(
      `${JSON.stringify(conditions)}.filter((text) => matchMedia(text).matches)`,
    )) as string[];
    expect(held).toContain(wide);
    // All other uses of this width mean narrower screens.
    expect(held.filter((text) => text.includes(`${width / 16}rem`))).toEqual([wide]);
  }
}, 60_000);

test('a long name without spaces stays inside its card', async () => {
  const { page, check } = await world.open('/operators', { width: 390 });
  const card = await page.locator('tr', { hasText: 'qqq' }).boundingBox();
  const name = await page.getByText('q'.repeat(100), { exact: true }).boundingBox();
  expect((name?.x ?? 0) + (name?.width ?? 0)).toBeLessThanOrEqual((card?.x ?? 0) + (card?.width ?? 0));
  await check();
  // A dialog of a card is shown, although it has an empty part.
  await page.getByRole('button', { name: /^Edit q/ }).click();
  await page
    .getByRole('dialog', { name: /^Edit q/ })
    .getByRole('button', { name: 'Save' })
    .waitFor();
  await check();
}, 60_000);

test('the longest names fit on a phone, on the screens of clients and history', async () => {
  const { management } = world;
  const long = `${'a-very-long-name-'.repeat(4).slice(0, 63)}z`;
  await management.createProject('wide');
  await management.createEnvironment('wide', long);
  await management.createKey('wide', [long], { name: 'W'.repeat(100) });
  const states = { [long]: { enabled: true }, staging: { enabled: true } };
  await management.request('POST', '/api/projects/wide/flags', { body: { key: 'checkout', states } });
  for (const screen of ['clients', 'history']) {
    const { page, check, close } = await world.open(`/projects/wide/${screen}`, { width: 320 });
    await page.getByText(long).filter({ visible: true }).first().waitFor();
    await check();
    // The middle of a screen scrolls, not the document, and nothing may be cut off.
    const beyond = (await page.evaluate(`[...document.querySelectorAll('main *')]
      .filter((each) => each.children.length === 0 && each.getBoundingClientRect().right > 320)
      .filter((each) => each.closest('table, [tabindex="0"]:not(main), .sr-only') === null)
      .map((each) => each.outerHTML)`)) as string[];
    expect([screen, beyond]).toEqual([screen, []]);
    await close();
  }
}, 60_000);

test('a key with the longest names can be revoked on a narrow window', async () => {
  const { management } = world;
  const long = `${'another-long-name-'.repeat(4).slice(0, 63)}z`;
  await management.createProject('narrow');
  await management.createEnvironment('narrow', long);
  await management.createKey('narrow', [long, 'staging'], { name: 'W'.repeat(100) });
  const { page, check } = await world.open('/projects/narrow/keys', { width: 1024 });
  const button = await page.getByRole('button', { name: /^Revoke/ }).boundingBox();
  expect((button?.x ?? 1024) + (button?.width ?? 0)).toBeLessThan(1000);
  await check();
}, 60_000);

test('on a phone the button of folded filters shows that some are set, because they hide rows', async () => {
  await world.management.createProject('folded');
  await world.management.putState('folded', 'production', 'checkout', { enabled: true });
  const { page, check } = await world.open('/projects/folded/flags', { width: 390 });
  await page.getByRole('button', { name: 'Filters', exact: true }).waitFor();
  await page.goto('/projects/folded/flags?state=production:on');
  await page.getByRole('button', { name: 'Filters, some are set' }).waitFor();
  await check();
}, 60_000);
