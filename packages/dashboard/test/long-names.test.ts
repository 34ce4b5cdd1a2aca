import { expect, test } from 'bun:test';
import type { Locator } from 'playwright-core';
import { openSqlite } from '../../server/src/storage/engines/sqlite.ts';
import { databaseFile } from '../../server/src/storage/schema.ts';
import { visit } from './support/visit.ts';
import { sharedWorld } from './support/world.ts';

/** The longest name of an environment, and the end of it. */
const PLACE = `${'production-of-a-customer-in-'.repeat(3).slice(0, 60)}-eu1`;
const FLAG = `checkout.${'payment-provider-migration-'.repeat(3)}japan-of-2026`;
const PATIENCE_MS = 60_000;

// A test writes to the database itself.
const world = sharedWorld(
  async ({ management }) => {
    await management.createProject('shop');
    await management.createEnvironment('shop', PLACE);
    for (const key of [FLAG, 'other']) await management.putState('shop', PLACE, key, { enabled: true });
    await management.createKey('shop', ['development', 'staging', 'production', PLACE], {
      name: 'search-indexer-of-the-shop',
    });
    // Every kind of row, because each may be the widest.
    const inDays = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString();
    await management.createKey('shop', ['staging'], { name: 'mobile', expiresAt: inDays(13.5) });
    const { id } = await management.createKey('shop', ['staging', 'production'], { name: 'warehouse' });
    await management.request('POST', `/api/keys/${id}/replace`, { body: {} });
    await management.revokeKey((await management.createKey('shop', ['production'], { name: 'old' })).id);
    for (const days of [1, 20]) {
      const changes = [{ key: FLAG, state: { enabled: false } }];
      await management.request('POST', '/api/projects/shop/schedules', {
        body: { environment: PLACE, dueAt: inDays(days), changes, anyway: true },
      });
    }
  },
  { engine: 'SQLite' },
);

/** Whether the text of an element is shown without a cut. */
function isWhole(place: Locator): Promise<boolean> {
  return place.evaluate((element) => element.scrollWidth <= element.clientWidth);
}

test(
  'an environment’s name that is cut has the whole one as its title, and is whole on a phone',
  async () => {
    const { page, check } = await world.open('/projects/shop/flags');
    const head = page.getByRole('columnheader').getByTitle(PLACE);
    await head.waitFor();
    expect(await isWhole(head)).toBe(false);

    for (const path of ['clients', 'schedules', 'history', 'keys', 'environments', `flags/${FLAG}`]) {
      await page.setViewportSize({ width: 320, height: 800 });
      await visit(page, `/projects/shop/${path}`);
      const name = page.getByText(PLACE, { exact: true }).filter({ visible: true }).first();
      await name.waitFor();
      expect([path, await isWhole(name)]).toEqual([path, true]);
    }
    await check();
  },
  PATIENCE_MS,
);

test(
  'the switches of a new flag are inside its dialog, beside the longest name of an environment',
  async () => {
    const { page, check } = await world.open('/projects/shop/flags?new', { width: 390 });
    const dialog = page.getByRole('dialog', { name: 'New flag' });
    const control = dialog.getByRole('switch', { name: `Initial state in ${PLACE}` });
    await control.waitFor();
    const [inner, outer] = [await control.boundingBox(), await dialog.boundingBox()];
    const right = (box: typeof inner) => (box?.x ?? 0) + (box?.width ?? 0);
    expect(right(inner)).toBeLessThan(right(outer) - 10);
    await check();
  },
  PATIENCE_MS,
);

test.each([1024, 1280])(
  '%d px wide, no table is wider than its frame, which would hide its buttons',
  async (width) => {
    const { page } = await world.open('/account', { width });
    for (const path of ['keys', 'environments', 'compare', 'members', 'webhooks', 'clients', 'clean-up']) {
      await visit(page, `/projects/shop/${path}?from=staging&to=${PLACE}`);
      await page.getByRole('heading', { level: 1 }).waitFor();
      await page.locator('main').getByRole('status', { name: 'Loading' }).waitFor({ state: 'detached' });
      const wide = await page.evaluate(
        `[...document.querySelectorAll('main table')].filter((it) => it.offsetWidth > it.parentElement.clientWidth).length`,
      );
      expect([path, wide]).toEqual([path, 0]);
    }
  },
  PATIENCE_MS,
);

test(
  'the reads of an environment stand beside its name, however long',
  async () => {
    await world.management.request('PATCH', '/api/projects/shop', { body: { usage: true } });
    const database = await openSqlite({ path: databaseFile(world.node.dataFolder) });
    await database.query(
      `INSERT INTO flag_last_reads (environment_id, flag_key, hour) SELECT id, 'other', $1 FROM environments WHERE name = $2`,
      [Math.floor(Date.now() / 3_600_000) * 3_600_000, PLACE],
    );
    await database.close();

    const { page, check } = await world.open('/projects/shop/flags/other');
    const row = page.locator(`[data-usage="${PLACE}"]`);
    const name = await row.getByTitle(PLACE).boundingBox();
    const reads = await row.getByRole('cell').first().boundingBox();
    expect((name?.x ?? 0) + (name?.width ?? 0)).toBeLessThanOrEqual(reads?.x ?? 0);
    await check();
  },
  PATIENCE_MS,
);

test(
  'a key that is cut shows that it is, and the names of records are not squeezed by the columns beside them',
  async () => {
    const { page } = await world.open('/projects/shop/schedules', { width: 1024 });
    const keys = page.getByTitle(FLAG);
    await keys.first().waitFor();
    expect(await keys.count()).toBe(2);
    for (const key of await keys.all()) {
      const begin = key.locator('.truncate');
      // Three characters and the ellipsis.
      expect(
        await begin.evaluate((it) => it.clientWidth / Number.parseFloat(getComputedStyle(it).fontSize)),
      ).toBeGreaterThan(2);
      const [own, box] = [await key.boundingBox(), await begin.boundingBox()];
      expect(box?.x ?? 0).toBeGreaterThanOrEqual(own?.x ?? Number.POSITIVE_INFINITY);
    }

    await page.setViewportSize({ width: 1280, height: 800 });
    await visit(page, '/projects/shop/keys');
    const name = page.getByText('search-indexer-of-the-shop', { exact: true });
    expect((await name.boundingBox())?.height).toBeLessThan(45);
    const places = ['development', 'staging'].map((place) =>
      page.getByRole('row', { name: /search-indexer/ }).getByText(place, { exact: true }),
    );
    const tops = await Promise.all(places.map(async (place) => (await place.boundingBox())?.y));
    expect(new Set(tops).size).toBe(1);
  },
  PATIENCE_MS,
);

test(
  'in the history a reason is in view beside the longest names, and the audit log says of which project a change is',
  async () => {
    await world.management.putState(
      'shop',
      PLACE,
      FLAG,
      { enabled: false },
      { headers: { 'X-Change-Note': 'INC-812' } },
    );
    const { page, check } = await world.open('/projects/shop/history');
    const reason = page.getByText('“INC-812”');
    expect(await isWhole(reason)).toBe(true);
    expect((await reason.boundingBox())?.width).toBeGreaterThan(40);
    await check();

    await visit(page, '/audit');
    const row = page.locator('[data-seq]').filter({ hasText: 'INC-812' });
    await row.getByTitle('Project shop').waitFor();
    await check();
  },
  PATIENCE_MS,
);

test.each([900, 820])(
  'a key of usual length is whole beside a long value in the history, %d px wide',
  async (width) => {
    const { management, node } = world;
    const project = `texts-${width}`;
    await management.createProject(project);
    const state = { enabled: true, value: 'Free shipping this week' };
    await management.putState(project, 'staging', 'banner-text', state);
    const { page, context, check } = await world.open('/account', { width });
    // By another author, so that it has a line of its own.
    await context.request.patch(`/api/projects/${project}/environments/staging/flags/banner-text`, {
      data: { value: 'Free shipping until Sunday' },
      headers: { origin: node.url },
    });
    await visit(page, `/projects/${project}/history`);
    const row = page.getByRole('main').getByRole('listitem').filter({ hasText: 'ada' });
    const link = row.getByRole('link', { name: 'banner-text' }).first();
    await link.waitFor();
    expect(await link.evaluate((it) => it.scrollWidth - it.clientWidth)).toBeLessThanOrEqual(0);
    await check();
  },
  PATIENCE_MS,
);
