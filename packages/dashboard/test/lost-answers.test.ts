import { expect, test } from 'bun:test';
import type { Page, Route } from 'playwright-core';
import { messages as changes } from '../src/changes/messages.ts';
import { messages as design } from '../src/components/messages.ts';
import { sharedWorld } from './support/world.ts';

const PATIENCE_MS = 60_000;
const FLAGS = '/projects/shop/flags';
const expected = /ERR_FAILED|ERR_CONNECTION|502|Failed to load resource/;

const world = sharedWorld(async ({ management }) => {
  await management.createProject('shop');
  for (const key of ['cut', 'gone', 'bad-gateway', 'away'])
    await management.putState('shop', 'staging', key, { enabled: false });
});

/** Breaks the answers to all writes: `after` the server has made them, or `before` they reach it. */
async function breakWrites(page: Page, when: 'before' | 'after', answer?: (route: Route) => Promise<void>) {
  await page.route('**/api/**', async (route) => {
    const isLookup = /\/api\/changes(\/close)?\?/.test(route.request().url());
    if (route.request().method() === 'GET' || isLookup) return route.fallback();
    if (when === 'after') await route.fetch();
    await (answer ?? ((each) => each.abort()))(route);
  });
}

async function isOn(key: string): Promise<boolean | undefined> {
  const { flags } = await world.management.states('shop', 'staging');
  return flags.find((each) => each.key === key)?.state.enabled;
}

const toggle = (page: Page, key: string) => page.getByRole('switch', { name: `${key} in staging` });

test(
  'a switch whose answer is lost after the write says that it was saved, and offers to undo it',
  async () => {
    const { page } = await world.open(FLAGS, { expected });
    await breakWrites(page, 'after');
    await toggle(page, 'cut').click();
    await page.getByText(changes.answerLost('cut in staging'), { exact: true }).first().waitFor();
    await page.getByText('cut is on in staging', { exact: true }).waitFor();
    expect(await page.getByText('was not changed').count()).toBe(0);
    expect([await isOn('cut'), await toggle(page, 'cut').isChecked()]).toEqual([true, true]);
    await page.unroute('**/api/**');
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.getByText('cut is off in staging', { exact: true }).waitFor();

    await breakWrites(page, 'after', (route) => route.fulfill({ status: 502, body: '<h1>Bad gateway</h1>' }));
    await toggle(page, 'bad-gateway').click();
    await page.getByText('bad-gateway is on in staging', { exact: true }).waitFor();
    expect(await page.getByText('was not changed').count()).toBe(0);
  },
  PATIENCE_MS,
);

test(
  'a switch whose request never arrives is unknown until that is certain, and then not saved',
  async () => {
    const { page } = await world.open(FLAGS, { expected });
    await toggle(page, 'gone').waitFor();
    await page.clock.install();
    await breakWrites(page, 'before');
    await toggle(page, 'gone').click();
    await page.getByText(changes.checking('gone in staging'), { exact: true }).first().waitFor();
    expect(await page.getByText('was not changed').count()).toBe(0);
    const failed = page.getByText('gone in staging was not changed', { exact: true });
    while (!(await failed.isVisible())) await page.clock.runFor(1_000);
    expect(await page.getByLabel('Messages').getByText('checking').count()).toBe(0);
    expect([await isOn('gone'), await toggle(page, 'gone').isChecked()]).toEqual([false, false]);
  },
  PATIENCE_MS,
);

test(
  'a switch stays unknown where the server cannot be certain, as during an upgrade',
  async () => {
    const { page } = await world.open(FLAGS, { expected });
    await toggle(page, 'gone').waitFor();
    await page.clock.install();
    const json = { changes: [], closed: false };
    await page.route('**/api/changes/close?*', (route) => route.fulfill({ json }));
    await breakWrites(page, 'before');
    await toggle(page, 'gone').click();
    const unknown = page.getByText(changes.outcomeUnknown('gone in staging'), { exact: true });
    while ((await unknown.count()) === 0) await page.clock.runFor(1_000);
    await page.getByText(changes.lookFirst, { exact: true }).waitFor();
    expect(await page.getByText('was not changed').count()).toBe(0);
  },
  PATIENCE_MS,
);

test(
  'while the server is away it is unknown, and resolves by itself once the server is back',
  async () => {
    const { page } = await world.open(FLAGS, { expected });
    await toggle(page, 'away').waitFor();
    const lookups = Promise.withResolvers<void>();
    await page.route('**/api/changes?*', (route) => {
      lookups.resolve();
      return route.abort();
    });
    await breakWrites(page, 'after');
    await toggle(page, 'away').click();
    await lookups.promise;
    await page.getByText(changes.checking('away in staging'), { exact: true }).first().waitFor();
    await page.unrouteAll({ behavior: 'wait' });
    await page.getByText('away is on in staging', { exact: true }).waitFor();
    expect(await page.getByLabel('Messages').getByText('checking').count()).toBe(0);
  },
  PATIENCE_MS,
);

test(
  'a form whose answer is lost cannot be submitted twice, and the list has what it made',
  async () => {
    const { page, check } = await world.open('/projects/shop/environments', { expected });
    await breakWrites(page, 'after');
    await page.getByRole('button', { name: 'New environment' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill('lost-one');
    await dialog.getByRole('button', { name: 'Create environment' }).click();
    await dialog.getByText(changes.answerLost(), { exact: true }).first().waitFor();
    expect(await dialog.getByRole('button').allTextContents()).toEqual(['', design.close]);
    await check().catch((error: unknown) => {
      if (!expected.test(String(error))) throw error;
    });
    await dialog.getByText(design.close).click();
    await page.getByRole('cell', { name: 'lost-one' }).or(page.getByText('lost-one')).first().waitFor();
  },
  PATIENCE_MS,
);

test(
  'a key whose answer is lost has lost its secret: the dialog says so and revokes it',
  async () => {
    const { page } = await world.open('/projects/shop/keys', { expected });
    await breakWrites(page, 'after');
    await page.getByRole('button', { name: 'New key' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill('website');
    await dialog.getByLabel('production').check();
    await dialog.getByRole('button', { name: 'Create key' }).click();
    await dialog.getByText(design.lostSecret.ofKind('key')).waitFor();
    await page.unroute('**/api/**');
    await dialog.getByRole('button', { name: design.lostSecret.revoke }).click();
    await dialog.waitFor({ state: 'detached' });
    await page.getByText(design.lostSecret.revoked, { exact: true }).first().waitFor();
    const { keys } = (await world.management.request('GET', '/api/projects/shop/keys')) as {
      keys: { revokedAt?: string }[];
    };
    expect(keys.map(({ revokedAt }) => revokedAt !== undefined)).toEqual([true]);
  },
  PATIENCE_MS,
);
