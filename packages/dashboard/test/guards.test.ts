import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test';
import { startWorld, type World } from './support/world.ts';

const PATIENCE_MS = 60_000;
const FLAGS = '/projects/shop/flags';

let world: World;
beforeAll(async () => {
  world = await startWorld();
  await world.management.createProject('shop');
}, 120_000);
afterAll(() => world.close());

beforeEach(async () => {
  await world.management.putState('shop', 'production', 'dark-mode', { enabled: false });
});

async function isOn(): Promise<boolean | undefined> {
  const { flags } = await world.management.states('shop', 'production');
  return flags.find(({ key }) => key === 'dark-mode')?.state.enabled;
}

test(
  'the key that opens the guard, pressed twice, does not confirm it',
  async () => {
    const { page } = await world.open(FLAGS);
    const control = page.getByRole('switch', { name: 'dark-mode in production' });
    const guard = page.getByRole('dialog', { name: 'Change dark-mode in production?' });
    await control.press('Space');
    await guard.waitFor();
    await page.keyboard.press('Space');
    await guard.waitFor({ state: 'detached' });
    expect(await isOn()).toBe(false);

    await control.press('Space');
    await guard.waitFor();
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.getByText('dark-mode is on in production', { exact: true }).waitFor();
    expect(await isOn()).toBe(true);
    await page.close();
  },
  PATIENCE_MS,
);
