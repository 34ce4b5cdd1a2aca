import { beforeEach, describe, expect, test } from 'bun:test';
import { openSse } from '@halyard/testing';
import { messages as flagDialogs } from '../src/pages/flags/dialog-messages.ts';
import { messages as flagList } from '../src/pages/flags/messages.ts';
import { sharedWorld } from './support/world.ts';

const PATIENCE_MS = 60_000;
const FLAGS = '/projects/shop/flags';

let key: string;
const world = sharedWorld(async ({ management }) => {
  await management.createProject('shop');
  key = (await management.createKey('shop', ['development', 'production'])).key;
});

beforeEach(async () => {
  for (const environment of ['development', 'production']) {
    await world.management.putState('shop', environment, 'new-checkout', { enabled: false, value: 7 });
  }
});

function audit(): Promise<{ entries: { action: string; note?: string; after?: unknown; actor: string }[] }> {
  // The API's contract.
  return world.management.request('GET', '/api/audit?project=shop&target=new-checkout&limit=2') as never;
}

describe('a switch', () => {
  test(
    'reaches a reader of the stream, shows that it is saved and its delivery, and can be undone',
    async () => {
      const { page, check } = await world.open(FLAGS, { reducedMotion: 'no-preference' });
      const stream = await openSse(`${world.node.url}/v1/stream?env=development`, {
        headers: { 'X-Service-Key': key },
      });
      await stream.nextFrame();
      const control = page.getByRole('switch', { name: 'new-checkout in development' });
      await control.click();
      expect(JSON.parse((await stream.nextFrame()).data)).toMatchObject({
        'new-checkout': { enabled: true, value: 7 },
      });
      await page.getByText('new-checkout is on in development', { exact: true }).waitFor();
      await page.getByRole('img', { name: 'saved' }).waitFor();
      await page.getByText('Seen by 1 of 1 stream').waitFor();
      await check();

      await page.getByRole('button', { name: 'Undo' }).click();
      expect(JSON.parse((await stream.nextFrame()).data)).toMatchObject({
        'new-checkout': { enabled: false },
      });
      await page.getByText('new-checkout is off in development', { exact: true }).waitFor();
      expect(await control.isChecked()).toBe(false);
      const { entries } = await audit();
      expect(entries.map(({ note }) => note)).toEqual(['Undo', undefined]);
      expect(entries[0]?.actor).toContain('ada@example.com');
      stream.close();
    },
    PATIENCE_MS,
  );

  test(
    'in a protected environment asks first, and pauses asking on request',
    async () => {
      const { page, check } = await world.open(FLAGS);
      const control = page.getByRole('switch', { name: 'new-checkout in production' });
      await control.click();
      const dialog = page.getByRole('dialog', { name: 'Change new-checkout in production?' });
      await dialog
        .getByText('production is protected')
        .or(dialog.getByText('is protected.'))
        .first()
        .waitFor();
      await dialog.getByText('No client is connected').waitFor();
      await dialog.locator('del', { hasText: 'Off' }).waitFor();
      await dialog.locator('ins', { hasText: 'On' }).waitFor();
      await check();
      await page.keyboard.press('Escape');
      expect(await control.isChecked()).toBe(false);

      await control.click();
      await dialog.getByLabel("Don't ask again for 15 minutes").check();
      await dialog.getByRole('button', { name: 'Change production' }).click();
      await page.getByText('new-checkout is on in production', { exact: true }).waitFor();
      await control.click();
      await page.getByText('new-checkout is off in production', { exact: true }).waitFor();
      expect(await dialog.count()).toBe(0);
    },
    PATIENCE_MS,
  );

  test(
    'shows both versions if another person was faster, and overwrites theirs only on request',
    async () => {
      const { page, check } = await world.open(FLAGS, { expected: /412/ });
      const control = page.getByRole('switch', { name: 'new-checkout in development' });
      await control.waitFor();
      // Their change is committed while this page's write is on its way, and its event has not come.
      await page.route(
        '**/environments/development/flags/new-checkout',
        async (route) => {
          await world.management.putState('shop', 'development', 'new-checkout', {
            enabled: false,
            value: 8,
          });
          await route.continue();
        },
        { times: 1 },
      );
      await control.click();
      const dialog = page.getByRole('dialog', { name: 'There is a newer version' });
      await dialog.waitFor();
      const differences = dialog.getByRole('region', { name: 'Differences' });
      await differences.locator('del', { hasText: '8' }).waitFor();
      await differences.locator('ins', { hasText: 'On' }).waitFor();
      await check();
      await dialog.getByRole('button', { name: 'Cancel' }).click();
      await control.and(page.locator(':not(:checked)')).waitFor();
      const { flags } = await world.management.states('shop', 'development');
      expect(flags[0]?.state).toEqual({ enabled: false, value: 8 });
    },
    PATIENCE_MS,
  );

  test(
    'goes back when the server refuses',
    async () => {
      const { page } = await world.open(FLAGS, { expected: /403/ });
      const control = page.getByRole('switch', { name: 'new-checkout in development' });
      await control.waitFor();
      await page.route('**/environments/development/flags/new-checkout', (route) =>
        route.fulfill({
          status: 403,
          json: { error: 'forbidden', message: 'Not you.' },
        }),
      );
      await control.click();
      await page.getByText('new-checkout in development was not changed').waitFor();
      await page.getByText("don't have permission to do this").waitFor();
      await control.and(page.locator(':not(:checked)')).waitFor();
      await page.getByRole('img', { name: 'failed' }).waitFor();
    },
    PATIENCE_MS,
  );

  test(
    'changes in another browser immediately, and is highlighted there',
    async () => {
      const [mine, theirs] = await Promise.all([world.open(FLAGS), world.open(FLAGS)]);
      const control = theirs.page.getByRole('switch', { name: 'new-checkout in development' });
      await theirs.page.getByText('Live', { exact: true }).waitFor();
      await control.waitFor();
      const requests: string[] = [];
      theirs.page.on('request', (request) => requests.push(new URL(request.url()).pathname));
      const news = theirs.page.locator('[data-flag="new-checkout"] [data-news]').waitFor();
      await mine.page.getByRole('switch', { name: 'new-checkout in development' }).click();
      await news;
      expect(await control.isChecked()).toBe(true);
      expect(await mine.page.locator('[data-news]').count()).toBe(0);
      expect(requests).not.toContain('/api/projects/shop/flags'); // the list is not asked for again

      // A flag that is new to the list joins it.
      await world.management.putState('shop', 'development', 'from-elsewhere', { enabled: true });
      await theirs.page.getByRole('switch', { name: 'from-elsewhere in development' }).waitFor();
      expect(requests).not.toContain('/api/projects/shop/flags');
    },
    PATIENCE_MS,
  );
});

test(
  'a flag is created from a search without results, and texts are shown as text',
  async () => {
    const evil = '<img src=x onerror="document.title=1">';
    const { page, check } = await world.open(`${FLAGS}?q=winter+sale`);
    await page.getByRole('button', { name: 'Create “winter-sale”' }).click();
    const dialog = page.getByRole('dialog', { name: 'New flag' });
    expect(await dialog.getByLabel('Key').inputValue()).toBe('winter-sale');
    await dialog.getByLabel('Key').fill('new-checkout');
    await dialog.getByText(flagDialogs.create.keyTaken).waitFor();
    await dialog.getByLabel('Key').fill('-x');
    await dialog.getByText(flagDialogs.create.keyRule).waitFor();
    await dialog.getByLabel('Key').fill('Wínter  Sale!');
    await dialog.getByRole('button', { name: 'Use winter-sale' }).click();
    expect(await dialog.getByLabel('Key').inputValue()).toBe('winter-sale');
    await dialog.getByLabel('Description').fill(evil);
    await dialog.getByLabel('Tags').fill(`season, ${evil}, season`);
    await dialog.getByLabel('Owner').fill(evil);
    await dialog.getByRole('switch', { name: 'Initial state in development' }).check();
    await check();
    await dialog.getByRole('button', { name: 'Create flag' }).click();
    await page.getByText('winter-sale created').waitFor();
    await page.getByLabel('Search flags').fill('winter-sale');
    expect(await page.getByRole('switch', { name: 'winter-sale in development' }).isChecked()).toBe(true);
    expect(await page.getByRole('switch', { name: 'winter-sale in production' }).isChecked()).toBe(false);
    await page.getByRole('rowheader', { name: 'winter-sale' }).getByText(evil).first().waitFor();
    expect(await page.locator('img[src="x"]').count()).toBe(0);
    await check();
  },
  PATIENCE_MS,
);

test(
  'filters are kept in the URL, so that a link shows the same list',
  async () => {
    await world.management.putState('shop', 'staging', 'rolling', { enabled: true, rolloutPct: 12.5 });
    const { page } = await world.open(FLAGS);
    await page.getByLabel('State').selectOption('staging:rollout');
    await page.getByRole('switch', { name: 'new-checkout in staging' }).waitFor({ state: 'detached' });
    await page.getByRole('switch', { name: 'rolling in staging' }).waitFor();
    await page.getByText('12.5 %').waitFor();
    expect(new URL(page.url()).searchParams.get('state')).toBe('staging:rollout');
    await page.reload();
    await page.getByRole('switch', { name: 'rolling in staging' }).waitFor();
    expect(await page.getByRole('switch', { name: 'new-checkout in staging' }).count()).toBe(0);
    await page.getByRole('button', { name: 'Clear' }).click();
    await page.getByRole('switch', { name: 'new-checkout in staging' }).waitFor();
    expect(new URL(page.url()).search).toBe('');
  },
  PATIENCE_MS,
);

test(
  'the list works with the keyboard alone',
  async () => {
    const { page } = await world.open(`${FLAGS}?q=new-checkout`);
    const control = page.getByRole('switch', { name: 'new-checkout in development' });
    await control.waitFor();
    const focused = () => page.evaluate('document.activeElement?.getAttribute("aria-label")');
    await page.keyboard.press('j');
    expect(await focused()).toBe('new-checkout in development');
    await page.keyboard.press('Space');
    await page.getByText('new-checkout is on in development', { exact: true }).waitFor();
    expect(await focused()).toBe('new-checkout in development'); // a write does not take the focus away
    await page.keyboard.press('l');
    expect(await focused()).toBe('new-checkout in staging');
    await page.keyboard.press('h');
    expect(await focused()).toBe('new-checkout in development');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: /new-checkout/ }).waitFor();
    await page.goBack();
    await control.waitFor();
    await page.keyboard.press('/');
    expect(await focused()).toBe('Search flags');
    await page.keyboard.press('Tab');
    await page.getByLabel('State').press('n');
    await page.getByRole('heading', { name: 'Flags', exact: true }).click();
    await page.keyboard.press('n');
    await page.getByRole('dialog', { name: 'New flag' }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
  },
  PATIENCE_MS,
);

test(
  'many flags are switched as one change, and archived with a result for each',
  async () => {
    for (const name of ['bulk-a', 'bulk-b', 'bulk-c'])
      await world.management.putState('shop', 'development', name, { enabled: name === 'bulk-c', value: 1 });
    const before = (await world.management.states('shop', 'development')).revision;
    const { page, check } = await world.open(`${FLAGS}?q=bulk`);
    await page.getByRole('switch', { name: 'bulk-a in development' }).waitFor();
    await page.getByLabel(flagList.list.selectAll).check();
    await page.getByText('3 selected').waitFor();
    await check();
    await page.getByRole('button', { name: 'Turn on in' }).click();
    await page.getByRole('menuitem', { name: 'development' }).click();
    await page.getByText('2 flags are on in development', { exact: true }).waitFor();
    const after = await world.management.states('shop', 'development');
    expect(after.revision).toBe(before + 1);
    expect(after.flags.find((flag) => flag.key === 'bulk-a')?.state).toEqual({ enabled: true, value: 1 });

    await page.getByLabel('Select bulk-a').check();
    await page.getByLabel('Select bulk-b').check();
    await page.getByRole('button', { name: 'Archive' }).click();
    const dialog = page.getByRole('dialog', { name: 'Archive 2 flags?' });
    await dialog.getByRole('button', { name: 'Archive' }).click();
    await page.getByRole('region', { name: 'Messages' }).getByText('2 flags archived').waitFor();
    await page.getByRole('switch', { name: 'bulk-a in development' }).waitFor({ state: 'detached' });
    await page.getByLabel('Which flags').selectOption('archived');
    await page.getByRole('rowheader', { name: 'bulk-a' }).waitFor();
    // Nothing to switch, but when it was archived.
    await page
      .getByRole('row', { name: /bulk-a/ })
      .getByText('Archived just now')
      .waitFor();
    expect(await page.getByRole('switch').count()).toBe(0);
    expect(await page.getByLabel('State').count()).toBe(0);
    await check();
  },
  PATIENCE_MS,
);

test(
  'active and archived flags have separate selections',
  async () => {
    const { page } = await world.open(FLAGS);
    const which = page.getByRole('combobox', { name: 'Which flags' });
    const archived = page.getByRole('heading', { name: 'Archived flags' });
    await which.selectOption('archived');
    await archived.waitFor();
    await which.selectOption('');
    await page.getByLabel('Select new-checkout', { exact: true }).check();
    const bar = page.getByRole('region', { name: 'Selected flags' });
    await bar.getByText('1 selected').waitFor();
    await which.selectOption('archived');
    await archived.waitFor();
    expect(await bar.count()).toBe(0);
  },
  PATIENCE_MS,
);

test(
  'when another person archives the selected flags, the selection is empty',
  async () => {
    await world.management.putState('shop', 'development', 'goes-away', { enabled: false });
    const { page } = await world.open(FLAGS);
    await page.getByLabel('Select goes-away', { exact: true }).check();
    const bar = page.getByRole('region', { name: 'Selected flags' });
    await bar.getByText('1 selected').waitFor();
    await world.management.request('POST', '/api/projects/shop/flags/goes-away/archive');
    await page.getByRole('switch', { name: 'goes-away in development' }).waitFor({ state: 'detached' });
    await bar.waitFor({ state: 'detached' });
  },
  PATIENCE_MS,
);

test(
  'Escape in an input method does not clear the search',
  async () => {
    const { page } = await world.open(FLAGS);
    const search = page.getByLabel('Search flags');
    await search.fill('new');
    await search.dispatchEvent('keydown', { key: 'Escape', isComposing: true });
    await page.getByText('1 of ').waitFor();
    expect(await search.inputValue()).toBe('new');
  },
  PATIENCE_MS,
);

test.each(['light', 'dark'] as const)(
  'the list has no accessibility problems and fits a phone: %s',
  async (theme) => {
    const { page, check } = await world.open(FLAGS, { theme });
    const control = page.getByRole('switch', { name: 'new-checkout in production' });
    await control.waitFor();
    await check();
    await page.setViewportSize({ width: 390, height: 800 });
    await page.locator('main:not(:has(table))').waitFor();
    await control
      .or(page.getByRole('switch', { name: 'in production' }))
      .first()
      .waitFor();
    await check();
  },
  PATIENCE_MS,
);
