import { beforeAll, describe, expect, test } from 'bun:test';
import { openSse } from '@halyard/testing';
import type { Page } from 'playwright-core';
import { BLANK } from './support/opened-page.ts';
import { signUp } from './support/people.ts';
import { visit } from './support/visit.ts';
import { sharedWorld, type World } from './support/world.ts';

const world = sharedWorld(async ({ management }) => {
  await management.createProject('shop');
  await management.putState('shop', 'production', 'new-checkout', { enabled: true });
});

describe('keys', () => {
  test('a new key is shown once, works, closes its streams when revoked, and stays in the list', async () => {
    const { page, check, complaints } = await world.open('/projects/shop/keys');
    await page.getByRole('heading', { name: 'No keys yet' }).waitFor();
    await check();
    const said: string[] = [];
    page.on('console', (message) => said.push(message.text()));

    await page.getByRole('button', { name: 'New key' }).click();
    await page.getByRole('button', { name: 'Create key' }).click();
    await page.getByText('Select at least one environment.').waitFor();
    await check();
    await page.getByLabel('Name').fill('website');
    await page.getByRole('checkbox', { name: 'production' }).check();
    await page.getByRole('button', { name: 'Create key' }).click();

    const dialog = page.getByRole('dialog', { name: 'Your new key “website”' });
    const secret = (await dialog.locator('[data-secret]').textContent()) ?? '';
    expect(secret).toMatch(/^proj_live_[0-9A-Za-z]{49}$/);
    expect(await dialog.getByRole('region', { name: 'Settings for .env' }).textContent()).toEndWith(
      `HALYARD_KEY=${secret}`,
    );
    expect(await dialog.getByRole('region', { name: 'curl command' }).textContent()).toContain(
      `X-Service-Key: ${secret}`,
    );
    await dialog.getByText('Waiting for the first connection…').waitFor();
    await check();
    // The command opens a stream, and the dialog notices.
    const command = await dialog.getByRole('region', { name: 'curl command' }).textContent();
    const address = /curl -N "([^"]+)"/.exec(command ?? '')?.[1] ?? '';
    const first = await openSse(address, { headers: { 'X-Service-Key': secret } });
    await dialog.getByText('Connected. Change a flag and watch it arrive.').waitFor();
    first.close();
    await check();
    await page.keyboard.press('Escape');
    await page.keyboard.press('Escape');
    await dialog.getByRole('button', { name: 'Close' }).click();
    await dialog.getByRole('alert').waitFor(); // it does not close by a slip
    await dialog.getByRole('button', { name: "Done, I've saved it" }).click();
    await dialog.waitFor({ state: 'detached' });
    expect(await placesWith(page, secret)).toEqual([]);
    expect(said.filter((text) => text.includes(secret))).toEqual([]);
    expect(await answersWith(world, secret)).toEqual([]);
    await page.reload();
    await page.getByRole('rowheader', { name: 'website' }).waitFor();
    expect(await placesWith(page, secret)).toEqual([]);

    const stream = await openSse(`${world.node.url}/v1/stream?env=production`, {
      headers: { 'X-Service-Key': secret },
    });
    const row = page.getByRole('row', { name: /website/ });
    await row.getByRole('cell', { name: '1', exact: true }).waitFor();
    await row.getByRole('button', { name: 'Revoke website' }).click();
    const question = page.getByRole('dialog', { name: 'Revoke website?' });
    await question.getByText('1 open stream is closed.').waitFor();
    const go = question.getByRole('button', { name: 'Revoke key' });
    await question.getByRole('textbox').fill('websit');
    await go.click();
    await question.getByText('Type “website” exactly.').waitFor();
    await question.getByRole('textbox').fill('website');
    await check();
    await go.click();

    expect((await stream.ended).how).not.toBe('left');
    await row.getByText('revoked', { exact: true }).waitFor();
    expect(await row.getByRole('button').count()).toBe(0);
    expect(complaints).toEqual([]);
  }, 60_000);
});

describe('viewers, and the list', () => {
  beforeAll(async () => {
    const { management } = world;
    await management.createProject('list');
    for (const name of ['one', 'two', 'three', 'four', 'five']) {
      await management.createKey('list', ['staging'], { name });
    }
    await management.createKey('list', ['development', 'staging', 'production'], { name: 'website' });
    const { id } = await management.createKey('list', ['production'], { name: 'laptop' });
    await management.revokeKey(id);
  });

  test('a viewer sees the keys, why there are no buttons, and filters in the address', async () => {
    const as = await signUp(world, { email: 'vera@example.com', role: 'viewer' });
    const { page, check } = await world.open('/projects/list/keys?status=revoked', {
      as,
      theme: 'dark',
      width: 390,
    });
    await page.getByText('requires an administrator. Your role is viewer').waitFor();
    await page.getByText('1 of 7').waitFor();
    expect(await page.getByRole('button', { name: /New key|Revoke/ }).count()).toBe(0);
    await check();
    await page.getByRole('button', { name: 'Clear' }).click();
    await page.getByRole('searchbox').fill('web');
    await page.getByText('1 of 7').waitFor();
    expect(new URL(page.url()).search).toBe('?q=web');
    expect(await page.getByRole('rowheader').allTextContents()).toEqual([expect.stringContaining('website')]);
    // In the project's order.
    const row = page.getByRole('row', { name: /website/ });
    expect(await row.getByRole('listitem').allTextContents()).toEqual([
      'development',
      'staging',
      'production',
    ]);
  }, 60_000);

  test('a key is replaced: both work, on one row, until the old one is ended', async () => {
    const { id, key: old } = await world.management.createKey('list', ['production'], { name: 'app' });
    const stream = (key: string) =>
      openSse(`${world.node.url}/v1/stream?env=production`, { headers: { 'X-Service-Key': key } });
    const first = await stream(old);
    const { page, check } = await world.open('/projects/list/keys?q=app', { theme: 'dark' });
    await page.getByRole('button', { name: 'Replace app' }).click();
    const dialog = page.getByRole('dialog', { name: 'Replace app' });
    await dialog.getByLabel(`The old key …${old.slice(-4)} ends`).selectOption('In 3 days');
    await check();
    await dialog.getByRole('button', { name: 'Replace key' }).click();

    const shown = page.getByRole('dialog', { name: 'Your new key “app”' });
    const made = (await shown.locator('[data-secret]').textContent()) ?? '';
    const second = await stream(made);
    await shown.getByText('Connected. Change a flag').waitFor();
    await shown.getByRole('button', { name: "Done, I've saved it" }).click();
    const row = page.getByRole('row', { name: /app/ });
    await row.getByText('new: 1 stream', { exact: true }).waitFor();
    await row.getByText(/^old ….{4}: 1 stream, (last used .*, )?ends in 3 days$/).waitFor();
    expect(await row.count()).toBe(1);
    await check();

    await row.getByRole('button', { name: /^End now/ }).click();
    const question = page.getByRole('dialog', { name: 'End the old key of app?' });
    await question.getByText('1 open stream is closed.').waitFor();
    await question.getByRole('button', { name: 'End old key' }).click();
    expect((await first.ended).how).not.toBe('left');
    await row.nth(1).getByText('revoked', { exact: true }).waitFor();
    expect(await placesWith(page, made)).toEqual([]);
    expect(await world.management.request('GET', `/api/keys/${id}`)).toMatchObject({ status: 'revoked' });
    // The history says so in one line, although it is a new key as well.
    await visit(page, '/projects/list/history');
    await page
      .locator('[data-seq]')
      .filter({ hasText: /replaced the project key\s*app/ })
      .waitFor();
    second.close();
  }, 60_000);
});

test('a key no longer shows an environment that another person deletes, nor a new one of that name', async () => {
  await world.management.createProject('gone');
  await world.management.createKey('gone', ['staging', 'development'], { name: 'website' });
  const { page } = await world.open('/projects/gone/keys');
  const row = page.getByRole('row', { name: /website/ });
  await row.getByText('staging').waitFor();
  await page.getByText('Live', { exact: true }).waitFor();

  await world.management.deleteEnvironment('gone', 'staging');
  await world.management.createEnvironment('gone', 'staging');
  await row.getByText('staging').waitFor({ state: 'detached' });
  await row.getByText('development').waitFor();
}, 60_000);

test('a key that expires while it is on the screen is shown as expired', async () => {
  await world.management.createProject('trial');
  const expiresAt = new Date(Date.now() + 120_000).toISOString();
  await world.management.request('POST', '/api/projects/trial/keys', {
    body: { name: 'trial', environments: ['staging'], expiresAt },
  });
  const { page } = await world.open(BLANK);
  await page.clock.install();
  await page.goto('/projects/trial/keys');
  const row = page.getByRole('row', { name: /trial/ });
  await row.getByText(/^expires in/).waitFor();
  await page.clock.fastForward(180_000);
  await row.getByText('expired', { exact: true }).waitFor();
}, 60_000);

/** Where a page that is open keeps a text: its document, address, history and storage. */
async function placesWith(page: Page, text: string): Promise<string[]> {
  const places = (await page.evaluate(`({
    document: document.documentElement.outerHTML,
    fields: [...document.querySelectorAll('input, textarea')].map(({ value }) => value).join(),
    address: location.href,
    history: JSON.stringify(history.state),
    local: JSON.stringify({ ...localStorage }),
    session: JSON.stringify({ ...sessionStorage }),
    cookies: document.cookie,
  })`)) as Record<string, string>;
  return Object.keys(places).filter((place) => places[place]?.includes(text));
}

/** The addresses of the management API whose answer has a text in it: every GET that ends, with real parameters. */
async function answersWith({ node, management }: World, text: string): Promise<string[]> {
  const { paths } = (await management.request('GET', '/api/openapi.json')) as {
    paths: Record<string, Record<string, unknown>>;
  };
  const { keys } = (await management.request('GET', '/api/projects/shop/keys')) as { keys: { id: string }[] };
  const id = keys[0]?.id ?? '';
  const values: Record<string, string> = { project: 'shop', environment: 'production', key: 'new-checkout' };
  const addresses = Object.keys(paths)
    .filter((path) => path.startsWith('/api') && 'get' in (paths[path] ?? {}) && !/stream|events/.test(path))
    .map((path) =>
      path.replaceAll(/\{(\w+)\}/g, (_, name: string) => values[name] ?? (name === 'id' ? id : '1')),
    );
  expect(addresses.length).toBeGreaterThan(15);
  const found: string[] = [];
  for (const address of addresses) {
    const answer = await fetch(node.url + address, {
      headers: { Authorization: `Bearer ${node.adminToken}` },
    });
    if ((await answer.text()).includes(text)) found.push(address);
  }
  return found;
}
