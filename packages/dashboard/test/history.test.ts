import { describe, expect, test } from 'bun:test';
import { openSse } from '@halyard/testing';
import { ADMIN, BLANK } from './support/opened-page.ts';
import { signUp } from './support/people.ts';
import { visit } from './support/visit.ts';
import { sharedWorld } from './support/world.ts';

describe('the history', () => {
  const world = sharedWorld(
    async ({ management }) => {
      await management.createProject('shop');
      await management.putState('shop', 'production', 'checkout', { enabled: false });
      await management.putState('shop', 'production', 'checkout', { enabled: true, rolloutPct: 25 });
      const changes = [
        { key: 'checkout', state: { enabled: true } },
        { key: 'banner', state: { enabled: true, value: '<img src=x onerror=alert(1)>' } },
      ];
      // A change with a note is never part of a burst.
      const headers = { 'x-change-note': 'Launch' };
      await management.change('shop', 'staging', changes, { headers });
    },
    { engine: 'PostgreSQL' },
  );

  test('a filter is kept in the URL and survives a reload', async () => {
    const { page, check } = await world.open('/projects/shop/history');
    await page.getByText('changed 2 flags').waitFor();
    await check();
    await page.getByLabel('Environment', { exact: true }).selectOption('production');
    await page.getByRole('searchbox').fill('checkout');
    await page.waitForURL(/environment=production.*q=checkout|q=checkout.*environment=production/);
    await page.getByText('changed 2 flags').waitFor({ state: 'detached' });
    await page.reload();
    await page.getByText('rollout everyone 25 %').waitFor();
    expect(await page.getByRole('searchbox').inputValue()).toBe('checkout');
    expect(await page.getByLabel('Environment', { exact: true }).inputValue()).toBe('production');
    expect(await page.getByText('changed 2 flags').count()).toBe(0);
    const link = page.getByRole('link', { name: /Export/ });
    expect(await link.getAttribute('href')).toContain('format=ndjson');
    const file = await page.request.get((await link.getAttribute('href')) ?? '');
    const lines = (await file.text())
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(lines.map(({ target }) => target)).toContain('checkout');
    expect(lines.every(({ environment }) => environment === 'production')).toBe(true);
    await page.getByRole('link', { name: 'History', exact: true }).click();
    await page.getByText('changed 2 flags').waitFor();
    expect(await page.getByRole('searchbox').inputValue()).toBe('');
    // Open, each entry says once what it did.
    const change = page.locator('[data-seq]').filter({ hasText: 'changed 2 flags' });
    await change.getByRole('button', { name: /^Details/ }).click();
    await change.getByText('On', { exact: true }).nth(1).waitFor();
    expect(await change.getByText('on', { exact: true }).count()).toBe(0);
  }, 60_000);

  test('a tablet, where nothing hovers, shows the button that reverts in every row', async () => {
    const { page, check } = await world.open('/projects/shop/history', { width: 820, isTouched: true });
    const row = page.locator('[data-seq]').filter({ hasText: 'changed 2 flags' });
    const button = row.getByRole('button', { name: /^Revert/ });
    await button.waitFor();
    expect(await button.evaluate((element) => getComputedStyle(element).opacity)).toBe('1');
    await check();
  }, 60_000);

  test('a filter for a deleted environment is shown and can be removed', async () => {
    const { page } = await world.open('/projects/shop/history?environment=preview&action=flag.restored', {
      expected: /404/,
    });
    await page.getByText('This environment does not exist').waitFor();
    const environment = page.getByLabel('Environment', { exact: true });
    expect(await environment.inputValue()).toBe('preview');
    await environment.selectOption('');
    await page.getByText('No changes match these filters').waitFor();
    await page.getByLabel('Action').selectOption('');
    await page.getByText('changed 2 flags').waitFor();
  }, 60_000);

  test('a change by another person appears at the top, with how many streams took it', async () => {
    const { key } = await world.management.createKey('shop', ['development'], { name: 'website' });
    const headers = { 'X-Service-Key': key };
    const stream = await openSse(`${world.node.url}/v1/stream?env=development`, { headers });
    const first = await world.open('/projects/shop/history');
    await first.page.getByText('changed 2 flags').waitFor();
    await first.page.getByText('Live', { exact: true }).waitFor();
    const flash = first.page.locator('li.animate-flash').waitFor();
    await world.management.putState('shop', 'development', 'banner', { enabled: true });
    const top = first.page.locator('[data-seq]').first();
    await top.getByText('development').waitFor();
    await top.getByRole('link', { name: 'banner' }).waitFor();
    await flash;
    await top.getByText('seen by 1 of 1 stream').waitFor();
    stream.close();

    // No stream was open when this change was made, so that no node has recorded its delivery.
    const older = first.page.locator('[data-seq]').filter({ hasText: 'changed 2 flags' });
    await older.getByText('No record of its delivery').waitFor();
    await visit(first.page, `/projects/shop/flags/banner?tab=history`);
    await first.page.getByText('seen by 1 of 1 stream').waitFor();
    await first.check();
  }, 60_000);

  test('a change is reverted after a preview, as a new change', async () => {
    const { page, check } = await world.open('/projects/shop/history?q=checkout&environment=production');
    await page
      .getByRole('button', { name: /^Revert change/ })
      .first()
      .press('Enter');
    const dialog = page.getByRole('dialog', { name: /^Revert change \d+\?$/ });
    await dialog
      .getByRole('region', { name: 'What is restored' })
      .getByText('Rollout', { exact: true })
      .waitFor();
    // It has waited for the preview.
    await dialog.getByRole('button', { name: 'Revert', exact: true }).and(page.locator(':focus')).waitFor();
    await check();
    await dialog.getByLabel('Reason').fill('Too many complaints');
    await dialog.getByRole('button', { name: 'Revert', exact: true }).click();
    await dialog.waitFor({ state: 'detached' });
    await page.getByText(/Reverts change \d+: Too many complaints/).waitFor();

    // A state that did not exist before is removed.
    await world.management.putState('shop', 'staging', 'brand-new', { enabled: false });
    await page.goto('/projects/shop/history?q=brand-new');
    await page
      .getByRole('button', { name: /^Revert change/ })
      .first()
      .click();
    await dialog.getByText('Removed', { exact: true }).waitFor();
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    const { flags } = await world.management.states('shop', 'production');
    expect(flags.find(({ key }) => key === 'checkout')?.state).toEqual({ enabled: false });
  }, 60_000);

  test('a message about a state leaves once the state is reverted or changed by another person', async () => {
    await world.management.putState('shop', 'development', 'winter-sale', { enabled: false });
    const { page } = await world.open(BLANK, { expected: /ERR_/ });
    // Messages do not leave by themselves.
    await page.addInitScript(`
      const later = window.setTimeout;
      window.setTimeout = (run, ms, ...rest) => (ms === 10_000 ? 0 : later(run, ms, ...rest));
    `);
    await page.goto('/projects/shop/flags');
    const messages = page.getByRole('region', { name: 'Messages' });
    const isOn = messages.getByText('winter-sale is on in development', { exact: true });
    const flip = page.getByRole('switch', { name: 'winter-sale in development' });
    await page.getByText('Live', { exact: true }).waitFor();
    await flip.click();
    await isOn.waitFor();
    await world.management.putState('shop', 'development', 'winter-sale', { enabled: false });
    await isOn.waitFor({ state: 'detached' });

    // Without a stream too, and on a screen that shows no flags.
    await page.context().route('**/api/events*', (route) => route.abort());
    await page.reload();
    await page.getByText('Offline', { exact: true }).waitFor();
    await flip.click();
    await isOn.waitFor();
    await page.getByRole('link', { name: 'History', exact: true }).click();
    await page
      .getByRole('button', { name: /^Revert change/ })
      .first()
      .click();
    const dialog = page.getByRole('dialog', { name: /^Revert change \d+\?$/ });
    await dialog.getByRole('region', { name: 'What is restored' }).waitFor();
    await dialog.getByRole('button', { name: 'Revert', exact: true }).click();
    await messages.getByText(/^Change \d+ reverted$/).waitFor();
    await isOn.waitFor({ state: 'detached' });
  }, 60_000);

  test('older changes are loaded by themselves while the list is short', async () => {
    for (let share = 1; share <= 60; share++) {
      await world.management.putState('shop', 'development', 'ramp', { enabled: true, rolloutPct: share });
    }
    const { page } = await world.open('/projects/shop/history');
    await page.getByText('created the project', { exact: true }).waitFor();
    expect(await page.getByRole('button', { name: 'Load older changes' }).count()).toBe(0);
  }, 60_000);

  test('a new change fetches only the newest page, and parts far from the screen are not rendered', async () => {
    for (let share = 1; share <= 99; share++)
      await world.management.putState('shop', 'staging', 'staircase', { enabled: true, rolloutPct: share });
    const { page, check } = await world.open('/projects/shop/history?target=staircase');
    await page.getByText(/made (99|100) changes to/).waitFor();
    await page.getByText('Live', { exact: true }).waitFor();
    await page.locator('main').evaluate((main) => main.scrollTo(0, 0));
    // One person's changes in quick succession are one line, which says what they did together.
    const burst = page.locator('[data-seq]').first();
    await burst.getByText('rollout 99 %').waitFor();
    await burst
      .getByRole('button', { name: /^Details/ })
      .first()
      .click();
    const rows = burst.locator('[data-seq]');
    const asked: string[] = [];
    page.on('request', (request) => request.url().includes('/api/audit') && asked.push(request.url()));
    await world.management.putState('shop', 'staging', 'staircase', { enabled: false });
    await rows.first().getByText('turned off').waitFor();
    await burst.getByText('off', { exact: true }).waitFor();
    expect(asked).toHaveLength(1);
    expect(asked[0]).not.toContain('cursor=');
    expect(await rows.count()).toBeLessThan(100);
    await check();
    // Nothing is lost: the oldest is there again at the end.
    await page.locator('main').evaluate((main) => main.scrollTo(0, main.scrollHeight));
    await rows.last().getByText('created the flag').first().waitFor();
  }, 60_000);

  test('a short answer is not taken for the end, and a list that stays short is not loaded endlessly', async () => {
    const { page, context } = await world.open(BLANK);
    // The server ends a long search early, and says where to continue.
    await context.route('**/api/audit?*', (route) =>
      route.continue({
        url: route
          .request()
          .url()
          .replace(/limit=\d+/, 'limit=2'),
      }),
    );
    await page.goto('/projects/shop/history?target=staircase');
    await page.getByText('made 22 changes to').waitFor();
    await page.getByRole('button', { name: 'Load older changes' }).click();
    await page.getByText('made 24 changes to').waitFor();
  }, 60_000);

  test('every possible author can be selected, and dates filter the history', async () => {
    await signUp(world, { email: 'grace@example.com', name: 'Grace Hopper', role: 'editor' });
    const { page, check } = await world.open('/projects/shop/history');
    // The authors of the first list stay selectable.
    await page.locator('[data-seq]').first().waitFor();
    const person = page.getByRole('combobox', { name: 'Person' });
    await person.fill('grace');
    await page.getByRole('option', { name: 'Grace Hopper' }).click();
    await page.getByText('No changes match these filters').waitFor();
    expect(await person.inputValue()).toBe('Grace Hopper');
    // The others can still be selected.
    await person.fill('');
    const list = page.getByRole('listbox', { name: 'People and tokens' });
    expect(await list.getByRole('option').allTextContents()).toEqual(
      expect.arrayContaining(['adaada@example.com', 'Grace Hoppergrace@example.com', 'token admin']),
    );
    await check();
    await person.fill('no such person');
    await person.blur();
    expect(await person.inputValue()).toBe('');
    await page.locator('[data-seq]').first().waitFor();
    await page.getByLabel('To date').fill('2020-01-31');
    await page.getByText('No changes match these filters').waitFor();
    await check();
    await page.reload();
    await page.getByText('No changes match these filters').waitFor();
    await page.getByLabel('To date').fill('');
    await page.getByLabel('From date').fill('2020-01-31');
    await page.locator('[data-seq]').first().waitFor();
    expect(await page.getByRole('link', { name: /Export/ }).getAttribute('href')).toContain(
      'since=2020-01-3',
    );
  }, 60_000);

  test('a change is one line that opens, and has an address of its own', async () => {
    const value = (limit: number) => ({
      provider: 'northwind',
      hosts: ['eu-1.example', 'eu-2.example'],
      limit,
    });
    await world.management.putState('shop', 'staging', 'limits', { enabled: false, value: value(5) });
    const headers = { 'x-change-note': 'Ticket 7' };
    const state = { enabled: true, value: value(6) };
    const { seq } = await world.management.putState('shop', 'staging', 'limits', state, { headers });
    const { page, check } = await world.open('/projects/shop/history?target=limits');
    const row = page.locator(`[data-seq="${seq}"]`);
    await row.getByText('turned on').waitFor();
    await row.getByText('value.limit 5 6').waitFor();
    const diff = row.getByRole('group', { name: 'Value before and after' });
    expect(await diff.count()).toBe(0);
    await row.getByRole('button', { name: `Details of change ${seq}` }).click();
    expect(await diff.getByRole('deletion').allTextContents()).toEqual(['  "limit": 5']);
    expect(await diff.getByRole('insertion').allTextContents()).toEqual(['  "limit": 6']);
    await diff.getByText('3 unchanged lines').waitFor();
    await check();
    await row.getByRole('link', { name: `Change ${seq}` }).click();
    await page.waitForURL(`**/history?change=${seq}`);
    await page.reload();
    await diff.waitFor();
    expect(await page.locator('[data-seq]').count()).toBe(1);
    await check();
    await page.getByRole('link', { name: 'All changes of that day' }).click();
    // It is still open where it was opened.
    await diff.waitFor({ state: 'detached' });
    await page.locator('[data-seq]').nth(1).waitFor();
  }, 60_000);

  test('texts are in English in every browser language', async () => {
    const { page } = await world.open('/projects/shop/history', { locale: 'de-DE' });
    await page.getByRole('heading', { name: /^Today, (Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day, / }).waitFor();
  }, 60_000);

  test('the audit log works in dark mode and on a narrow screen', async () => {
    // A copy signs in again, which is the newest entry.
    const { page, check } = await world.open('/audit', { theme: 'dark', width: 390, as: { ...ADMIN } });
    await page.getByText('signed in').first().waitFor();
    await check();
  }, 60_000);
});
