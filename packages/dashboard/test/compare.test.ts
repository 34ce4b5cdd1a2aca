import { beforeAll, describe, expect, test } from 'bun:test';
import { sharedWorld } from './support/world.ts';

const world = sharedWorld();

describe('compare and copy', () => {
  beforeAll(async () => {
    const { management } = world;
    await management.createProject('shop');
    await management.putState('shop', 'staging', 'checkout', { enabled: true, rolloutPct: 50 });
    await management.putState('shop', 'production', 'checkout', { enabled: false });
    await management.putState('shop', 'staging', 'banner', {
      enabled: true,
      value: '<img src=x onerror=alert(1)>',
    });
    await management.putState('shop', 'production', 'legacy', { enabled: true });
  });

  /** Opens the preview of copying a flag from staging to development. */
  async function openPreview(project: string, flag: string) {
    const { page } = await world.open(`/projects/${project}/compare?from=staging&to=development`, {
      expected: /412/,
    });
    await page.getByRole('checkbox', { name: `Select ${flag}` }).check();
    await page.getByRole('button', { name: 'Copy to development…' }).click();
    const preview = page.getByRole('dialog', { name: 'Copy to development' });
    return { preview, copy: preview.getByRole('button', { name: 'Copy 1 flag to development' }) };
  }

  test('selected flags are copied as one change, after one preview that names protected environments, and undone', async () => {
    const { page, check } = await world.open('/projects/shop/compare');
    await page.getByText('3 flags differ').waitFor();
    await page.getByText('Not in staging: copying removes it from production').waitFor();
    await check();

    await page.getByRole('checkbox', { name: /^Select all/ }).check();
    await page.getByText('2 selected').waitFor();
    await page.getByRole('button', { name: 'Copy to production…' }).click();
    const preview = page.getByRole('dialog', { name: 'Copy to production' });
    const changes = preview.getByRole('region', { name: 'What changes' });
    await changes.getByText('checkout').waitFor();
    expect(await changes.locator(':scope > ul > li').count()).toBe(2);
    await check();
    await preview.getByLabel('Reason').fill('Release 41');
    const before = (await world.management.states('shop', 'production')).revision;
    await preview.getByText('is protected.').waitFor();
    await preview.getByText('No client is connected.').waitFor();
    await preview.getByRole('button', { name: 'Copy 2 flags to production' }).click();

    await page.getByText('2 flags copied from staging to production').first().waitFor();
    await page.getByText('1 flag differs').waitFor();
    const copied = await world.management.states('shop', 'production');
    expect(copied.revision).toBe(before + 1);
    expect(copied.flags.find(({ key }) => key === 'checkout')?.state).toEqual({
      enabled: true,
      rolloutPct: 50,
    });

    await page.getByRole('button', { name: 'Undo' }).click();
    await page.getByText('3 flags differ').waitFor();
    const undone = await world.management.states('shop', 'production');
    expect(undone.flags.find(({ key }) => key === 'checkout')?.state).toEqual({ enabled: false });
    expect(undone.flags.some(({ key }) => key === 'banner')).toBe(false);
  }, 60_000);

  test('values that differ late look different, and open to all that differs', async () => {
    const value = (last: string) => ({ text: 'the same words '.repeat(10), colors: { border: last } });
    await world.management.createProject('late');
    const put = (environment: string, last: string) =>
      world.management.putState('late', environment, 'theme', { enabled: true, value: value(last) });
    await Promise.all([put('staging', 'amber'), put('production', 'azure')]);
    for (const [environment, value] of [['staging', true] as const, ['production', false] as const])
      await world.management.putState('late', environment, 'sale', { enabled: true, value });
    const { page, check } = await world.open('/projects/late/compare');
    const row = page.getByRole('row').filter({ hasText: 'theme' });
    await row.getByText('amber').waitFor();
    await row.getByText('azure').waitFor();
    await row.getByText('colors.border: ').first().waitFor();
    // Of words and numbers no part differs, but all.
    const sale = page.getByRole('row').filter({ hasText: 'sale' });
    expect(await sale.locator('mark').allTextContents()).toEqual(['true', 'false']);
    // The pair that was chosen last is there the next time.
    await page.getByRole('button', { name: 'Swap environments' }).click();
    await page.goto('/projects/late/compare');
    await page.getByRole('columnheader', { name: 'production' }).waitFor();
    expect(await page.getByRole('columnheader').allTextContents()).toEqual(
      expect.arrayContaining([expect.stringContaining('production'), expect.stringContaining('staging')]),
    );
    expect((await page.getByRole('columnheader').nth(1).textContent()) ?? '').toContain('production');
    await page.getByRole('button', { name: 'Swap environments' }).click();
    await page.getByRole('columnheader').nth(1).filter({ hasText: 'staging' }).waitFor();
    await row.getByRole('button', { name: 'What differs in theme' }).click();
    await page.locator('del', { hasText: 'azure' }).waitFor();
    await page.locator('ins', { hasText: 'amber' }).waitFor();
    await check();
  }, 60_000);

  test('a target that has changed since the preview is shown again instead of being overwritten', async () => {
    const { preview, copy } = await openPreview('shop', 'checkout');
    await preview.getByText('not set').waitFor();
    await world.management.putState('shop', 'development', 'checkout', { enabled: false, value: 7 });
    await copy.click();

    await preview.getByText('staging or development changed in the meantime.').waitFor();
    const changes = preview.getByRole('region', { name: 'What changes' });
    await changes.getByText('7', { exact: true }).waitFor();
    await copy.click();
    await preview.waitFor({ state: 'detached' });
    const states = await world.management.states('shop', 'development');
    expect(states.flags.find(({ key }) => key === 'checkout')?.state).toEqual({
      enabled: true,
      rolloutPct: 50,
    });
  }, 60_000);

  test('a source that has changed since the preview is shown again instead of being copied', async () => {
    await world.management.createProject('deck');
    await world.management.putState('deck', 'staging', 'lights', { enabled: true, rolloutPct: 1 });
    const { preview, copy } = await openPreview('deck', 'lights');
    await preview.getByText('1 %').waitFor();
    await world.management.putState('deck', 'staging', 'lights', { enabled: true, rolloutPct: 99 });
    await copy.click();

    await preview.getByText('staging or development changed in the meantime.').waitFor();
    expect((await world.management.states('deck', 'development')).flags).toEqual([]);
    await preview.getByText('99 %').waitFor();
    await copy.click();
    await preview.waitFor({ state: 'detached' });
    const { flags } = await world.management.states('deck', 'development');
    expect(flags.map(({ state }) => state.rolloutPct)).toEqual([99]);
  }, 60_000);
});

describe('copying from the table of flags', () => {
  beforeAll(async () => {
    const { management } = world;
    await management.createProject('stock');
    await management.putState('stock', 'development', 'checkout', { enabled: true });
    await management.putState('stock', 'development', 'banner', { enabled: true });
  });

  test('the selected flags are copied to the selected environment', async () => {
    const { page, check } = await world.open('/projects/stock/flags');
    await page.getByRole('checkbox', { name: 'Select checkout' }).check();
    await page.getByRole('button', { name: 'Copy to…' }).click();
    await page
      .getByRole('dialog', { name: 'Copy to staging' })
      .getByLabel('to', { exact: true })
      .selectOption('production');
    const dialog = page.getByRole('dialog', { name: 'Copy to production' });
    await dialog.getByRole('region', { name: 'What changes' }).getByText('checkout').waitFor();
    await check();
    await dialog.getByRole('button', { name: 'Copy 1 flag to production' }).click();
    await page.getByText('1 flag copied from development to production').first().waitFor();
    const { flags } = await world.management.states('stock', 'production');
    expect(flags.map(({ key }) => key)).toEqual(['checkout']);
  }, 60_000);
});

describe('the layout of compare', () => {
  beforeAll(async () => {
    const { management } = world;
    await management.createProject('layout');
    await management.putState('layout', 'staging', 'a'.repeat(128), {
      enabled: true,
      value: { text: 'long '.repeat(200) },
    });
  });

  test('a long key and a long value fit into a narrow screen, dark and light', async () => {
    for (const theme of ['light', 'dark'] as const) {
      const { page, check, close } = await world.open('/projects/layout/compare', { theme, width: 390 });
      await page.getByText('1 flag differs').waitFor();
      await check();
      await close();
    }
  }, 60_000);

  test('filters that hide every difference can be cleared', async () => {
    const { page, check } = await world.open('/projects/layout/compare?q=nothing-like-this&field=value');
    await page.getByText('No differences match these filters.').waitFor();
    await check();
    await page.getByRole('button', { name: 'Clear filters' }).click();
    await page.getByText('1 flag differs').waitFor();
    expect(new URL(page.url()).search).not.toMatch(/[?&](q|field)=/);
  }, 60_000);

  test('equal environments match', async () => {
    const { page, check } = await world.open('/projects/layout/compare?from=development&to=production');
    await page.getByRole('heading', { name: 'development and production match' }).waitFor();
    await check();
  }, 60_000);
});
