import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { Page } from 'playwright-core';
import { startWorld, type World } from './support/world.ts';

const PATIENCE_MS = 60_000;
const FLAGS = 100;
const LONG_VALUE = { title: 'a value that fits into no cell', limit: 100 };

let world: World;
beforeAll(async () => {
  world = await startWorld();
  const { management } = world;
  await management.createProject('shop');
  for (const environment of ['qa', 'preview', 'europe'])
    await management.createEnvironment('shop', environment);
  // All but the last two are set in `development` only: the other cells say "Not set".
  for (let index = 0; index < FLAGS; index++) {
    const state = { enabled: index % 2 === 0, rolloutPct: 33.333, value: LONG_VALUE };
    await management.request('POST', '/api/projects/shop/flags', {
      body: {
        key: `flag-${String(index).padStart(3, '0')}-with-a-long-key`,
        description: 'Switches the search to the new path; remove it when everybody has it.',
        tags: ['release', 'experiment', 'operations', 'permanent'],
        states: { development: state },
      },
    });
  }
}, 120_000);
afterAll(() => world.close());

async function openList(options?: Parameters<World['open']>[1]) {
  const opened = await world.open('/projects/shop/flags', options);
  await opened.page.locator('[data-row="0"]').waitFor();
  return opened;
}

/** How far an element can be scrolled, down and sideways, in pixels. */
async function slack(page: Page, selector: string): Promise<readonly [down: number, sideways: number]> {
  const [down, sideways] = (await page.evaluate(`(() => {
    const element = document.querySelector(${JSON.stringify(selector)});
    return [element.scrollHeight - element.clientHeight, element.scrollWidth - element.clientWidth];
  })()`)) as [number, number];
  return [down, sideways];
}

describe('the screen itself never scrolls, only its list', () => {
  test.each([1280, 1024, 768, 390])(
    '%d px wide',
    async (width) => {
      const { page } = await openList({ width });
      expect(await slack(page, 'main')).toEqual([0, 0]);
      await page.evaluate(
        `document.querySelector('[data-row]').closest('div').scrollTo({ top: 1e6, left: 1e6 })`,
      );
      await page.locator(`[data-row="${FLAGS - 1}"]`).waitFor();
      expect(await slack(page, 'main')).toEqual([0, 0]);
      await page.close();
    },
    PATIENCE_MS,
  );
});
