import { afterAll, beforeAll, expect, test } from 'bun:test';
import { startTcpProxy } from '@halyard/testing';
import { startWorld, type World } from './support/world.ts';

const PATIENCE_MS = 60_000;

let world: World;
beforeAll(async () => {
  world = await startWorld();
  await world.management.createProject('shop');
  await world.management.putState('shop', 'development', 'new-checkout', { enabled: false });
}, 120_000);
afterAll(() => world.close());

test(
  'a screen that lost its connection says so, finds it again, and shows what it missed',
  async () => {
    const proxy = await startTcpProxy({ port: Number(new URL(world.node.url).port) });
    const address = `http://127.0.0.1:${proxy.port}/projects/shop/flags`;
    const { page } = await world.open(address, { expected: /ERR_/ });
    const control = page.getByRole('switch', { name: 'new-checkout in development' });
    await page.getByText('Live', { exact: true }).waitFor();
    await control.waitFor();
    proxy.refuse();
    await page.getByText('Offline', { exact: true }).waitFor();
    await world.management.putState('shop', 'development', 'new-checkout', { enabled: true });
    expect(await control.isChecked()).toBe(false);
    proxy.restore();
    await page.getByText('Live', { exact: true }).waitFor();
    await page.locator('[aria-label="new-checkout in development"]:checked').waitFor();
    await page.close();
    await proxy.close();
  },
  PATIENCE_MS,
);
