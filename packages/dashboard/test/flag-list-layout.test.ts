import { describe, expect, test } from 'bun:test';
import { until, within } from '@halyard/testing';
import type { Page } from 'playwright-core';
import { messages as flagPage } from '../src/pages/flag/messages.tsx';
import { BLANK } from './support/opened-page.ts';
import { visit } from './support/visit.ts';
import { sharedWorld, type World } from './support/world.ts';

const PATIENCE_MS = 60_000;
const LIST = '/projects/shop/flags';
const FLAGS = 100;
const LONG_VALUE = { title: 'a value that fits into no cell', limit: 100 };

const world = sharedWorld(async ({ management }) => {
  await management.createProject('shop');
  for (const environment of ['qa', 'preview', 'europe'])
    await management.createEnvironment('shop', environment);
  // All but the last two are set in `development` only: the other cells say "Not set".
  for (let index = 0; index < FLAGS; index++) {
    const state = { enabled: index % 2 === 0, rolloutPct: 33.333, value: LONG_VALUE };
    await management.request('POST', '/api/projects/shop/flags', {
      body: {
        key: `flag-${String(index).padStart(3, '0')}-with-a-key-as-they-are`,
        description: 'Switches the search to the new path; remove it when everybody has it.',
        tags: ['release', 'experiment', 'operations', 'permanent'],
        states: { development: state },
      },
    });
  }
});

async function openList(options?: Parameters<World['open']>[1]) {
  const opened = await world.open(LIST, options);
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

test(
  'the screen itself never scrolls, only its list, in windows of every width',
  async () => {
    const { page } = await openList();
    for (const width of [1280, 1024, 768, 390]) {
      await page.setViewportSize({ width, height: 800 });
      await scrollList(page, 0);
      await page.locator('[data-row="0"]').waitFor();
      expect([width, ...(await slack(page, 'main'))]).toEqual([width, 0, 0]);
      await scrollList(page, 1e6);
      await page.locator(`[data-row="${FLAGS - 1}"]`).waitFor();
      expect([width, ...(await slack(page, 'main'))]).toEqual([width, 0, 0]);
    }
  },
  PATIENCE_MS,
);

/** Scrolls the list to a place, in pixels down and sideways. */
function scrollList(page: Page, place: number): Promise<unknown> {
  return page.evaluate(
    `document.querySelector('[data-row]').closest('div').scrollTo({ top: ${place}, left: ${place} })`,
  );
}

test.each([
  [1280, 'no-preference'],
  [390, 'reduce'],
] as const)(
  'a new flag far down the list is scrolled to and marked, %d px wide, also without motion: %s',
  async (width, reducedMotion) => {
    const { page, check } = await openList({ width, reducedMotion });
    await page.getByRole('button', { name: 'New flag' }).click();
    const key = `zebra-${width}`;
    await page.getByRole('textbox', { name: 'Key' }).fill(key);
    const marked = page.locator(`[data-flag="${key}"][data-marked]`).waitFor();
    await page.getByRole('button', { name: 'Create flag' }).click();
    const row = page.locator(`[data-flag="${key}"]`);
    await marked;
    await until('the new row is inside the window', async () => {
      const box = await row.boundingBox();
      return box !== null && box.y > 0 && box.y + box.height <= 800;
    });
    const message = await page.getByLabel('Messages').locator('p').first().boundingBox();
    const found = await row.boundingBox();
    expect((found?.y ?? Infinity) + (found?.height ?? 0)).toBeLessThanOrEqual(message?.y ?? 0);
    await page.locator(`[data-flag="${key}"]:not([data-marked])`).waitFor();
    await check();
    await world.management.request('POST', `/api/projects/shop/flags/${key}/archive`);
  },
  PATIENCE_MS,
);

describe('a row', () => {
  test(
    'shows the whole key however many tags and environments there are, in windows of every width',
    async () => {
      const { page } = await openList();
      const link = page.getByRole('link', { name: 'flag-000-with-a-key-as-they-are' });
      for (const width of [1280, 1920, 390]) {
        await page.setViewportSize({ width, height: 800 });
        // Cards for narrow windows take the place of the table.
        await page.locator(width === 390 ? 'main:not(:has(table))' : 'main table').waitFor();
        expect([width, (await slack(page, '[data-row="0"] a span'))[1]]).toEqual([width, 0]);
        expect((await link.boundingBox())?.width).toBeGreaterThanOrEqual(160);
      }
    },
    PATIENCE_MS,
  );

  test(
    'in compact density, gives its room to the key first and to the tags second',
    async () => {
      const { page } = await world.open(BLANK);
      await page.evaluate(`localStorage.setItem('halyard.density', 'compact')`);
      await page.goto(LIST);
      const link = page.getByRole('link', { name: 'flag-000-with-a-key-as-they-are' });
      expect((await link.boundingBox())?.width).toBeGreaterThanOrEqual(160);
    },
    PATIENCE_MS,
  );

  test.each([1280, 390])(
    'opens its flag when it is clicked, but not when a control in it is, %d px wide',
    async (width) => {
      const { page } = await openList({ width });
      const row = page.locator('[data-row="1"]');
      await row.getByRole('checkbox').click();
      await page.getByText('1 selected').waitFor();
      const control = row.getByRole('switch', { name: 'in staging' });
      const box = await control.boundingBox();
      // Just beside the switch: such a click was meant for the switch.
      await page.mouse.click((box?.x ?? 0) - 4, (box?.y ?? 0) + 12);
      expect(new URL(page.url()).pathname).toBe('/projects/shop/flags');
      await row
        .getByText(width === 390 ? 'by ' : 'Switches the search')
        .first()
        .click();
      await page.getByRole('heading', { name: 'flag-001-with-a-key-as-they-are' }).waitFor();
    },
    PATIENCE_MS,
  );

  test(
    'opens its flag in a new tab with Ctrl, and keeps a selection of its text',
    async () => {
      const { page, context } = await openList();
      const text = page.locator('[data-row="1"]').getByText('Switches the search');
      const [opened] = await Promise.all([
        within('Ctrl and a click open a new tab', context.waitForEvent('page')),
        text.click({ modifiers: ['Control'] }),
      ]);
      await opened.getByRole('heading', { name: 'flag-001-with-a-key-as-they-are' }).waitFor();
      await opened.close();
      const box = await text.boundingBox();
      if (box === null) throw new Error('the text has no box');
      await page.mouse.move(box.x + 2, box.y + box.height / 2);
      await page.mouse.down();
      await page.mouse.move(box.x + 80, box.y + box.height / 2);
      await page.mouse.up();
      expect(await page.evaluate('getSelection().toString()')).not.toBe('');
      expect(new URL(page.url()).pathname).toBe('/projects/shop/flags');
    },
    PATIENCE_MS,
  );

  test(
    'shows a value beside its rollout or below it, a meaningful piece at least, and mutes the rollout of a flag that is off',
    async () => {
      const { page, check } = await openList();
      const widths = (await page.evaluate(`[...document.querySelectorAll('[data-row] code')].map((code) => {
        const box = code.parentElement.getBoundingClientRect();
        return code.getBoundingClientRect().top >= box.bottom ? 0 : code.clientWidth;
      })`)) as number[];
      expect(widths.filter((width) => width < 36)).toEqual([]);
      expect(widths.length).toBeGreaterThan(10);
      const background = (selector: string) =>
        page.evaluate(`getComputedStyle(document.querySelector('${selector}')).backgroundColor`);
      const badgeOf = (row: number) => `[data-row="${row}"] [data-column="0"] [data-rollout]`;
      expect(await background(badgeOf(1))).not.toBe(await background(badgeOf(0)));
      await page.getByLabel('Select flag-000-with-a-key-as-they-are').check();
      expect(await background(badgeOf(0))).not.toBe(await background('[data-row="0"]'));
      await check();
    },
    PATIENCE_MS,
  );
});

describe('many environments', () => {
  const COUNT = 60;
  const name = (index: number) => `customer-${String(index).padStart(3, '0')}`;

  test(
    'are drawn as they come into view, hidden, pinned, and reached with the keys',
    async () => {
      const { management } = world;
      await management.createProject('fleet');
      for (let index = 0; index < COUNT; index++) await management.createEnvironment('fleet', name(index));
      for (let index = 0; index < 30; index++)
        await management.putState('fleet', 'staging', `flag-${index}`, { enabled: true });
      const { page, check } = await world.open('/projects/fleet/flags', { width: 1280 });
      await page.locator('[data-row="0"]').waitFor();
      expect(await page.locator('thead th').count()).toBeLessThan(20);
      expect(await page.getByRole('table').getAttribute('aria-colcount')).toBe(String(COUNT + 3 + 3));
      await page.evaluate(`document.querySelector('[data-scroller]').scrollTo({ left: 1e6 })`);
      await page.getByRole('columnheader', { name: name(COUNT - 1) }).waitFor();
      expect(await page.locator('thead th').count()).toBeLessThan(20);
      expect(await slack(page, 'main')).toEqual([0, 0]);
      const key = await page.locator('[data-row="0"] a').boundingBox();
      expect(key?.x ?? -1).toBeGreaterThan(0);
      await check();

      await page.getByRole('button', { name: 'Columns', exact: true }).click();
      await page.getByRole('searchbox', { name: 'Find' }).fill('customer-05');
      await check();
      await page.getByRole('button', { name: `Pin ${name(59)}` }).click();
      await page.getByRole('checkbox', { name: name(58) }).uncheck();
      await page.keyboard.press('Escape');
      const pinned = page.getByRole('columnheader', { name: name(59) });
      const place = await pinned.boundingBox();
      await page.evaluate(`document.querySelector('[data-scroller]').scrollTo({ left: 0 })`);
      await page.getByRole('columnheader', { name: 'development' }).waitFor();
      await until(
        'the pinned column is where it was',
        async () => (await pinned.boundingBox())?.x === place?.x,
      );
      await page.reload();
      await pinned.waitFor();
      await page.getByRole('button', { name: 'Columns: 1 hidden', exact: true }).waitFor();
      await page.locator('[data-row="0"]').waitFor();

      await page.keyboard.press('j');
      await page.locator('[data-row="0"] :focus, [data-row="0"]:focus').waitFor();
      for (let step = 0; step < 20; step++) await page.keyboard.press('l');
      await page.locator(`input:focus[aria-label="flag-0 in ${name(16)}"]`).waitFor();

      // On the page of a flag only some are listed at first, and all can be found.
      await visit(page, '/projects/fleet/flags/flag-0');
      const rows = page.locator('[data-environment]');
      await page.getByRole('switch', { name: `flag-0 in ${name(0)}` }).waitFor();
      expect(await rows.count()).toBeLessThan(30);
      await page.getByRole('searchbox', { name: 'Find an environment' }).fill(name(59));
      await page.getByRole('button', { name: name(59), exact: true }).click();
      await page
        .getByRole('region', { name: name(59) })
        .getByText(flagPage.card.missing(name(59)))
        .waitFor();
      expect(await rows.count()).toBe(1);
      await page.getByRole('searchbox').fill('');
      await page.getByRole('button', { name: flagPage.matrix.showAll(COUNT + 3) }).click();
      expect(await rows.count()).toBe(COUNT + 3);
      await check();
    },
    PATIENCE_MS,
  );

  test(
    'show the first ones on a phone, and say how many more there are',
    async () => {
      const { page, check } = await world.open('/projects/fleet/flags', { width: 390 });
      await page.getByRole('link', { name: 'and 55 more environments' }).first().waitFor();
      await check();
    },
    PATIENCE_MS,
  );
});

test(
  'a message about a switch at the foot of the window leaves it free',
  async () => {
    const { page } = await openList();
    const used = page.locator('[data-column="4"] [role="switch"]');
    const boxes = await Promise.all(Array.from({ length: 9 }, (_, row) => used.nth(row).boundingBox()));
    const row = boxes.findLastIndex((box) => box !== null && box.y < 760);
    await used.nth(row).click();
    const message = page.getByLabel('Messages').locator('div').first();
    await message.waitFor();
    const { y = 0, height = 0 } = (await message.boundingBox()) ?? {};
    expect(y + height).toBeLessThanOrEqual(boxes[row]?.y ?? 0);
  },
  PATIENCE_MS,
);

test(
  'one environment on a phone shows eight flags at once, with their switches',
  async () => {
    const { page, check } = await openList({ width: 390, height: 844 });
    await page.getByLabel('Environment').selectOption('staging');
    const rows = page.locator('[data-row]').filter({ has: page.getByRole('switch', { name: 'in staging' }) });
    const eighth = await rows.nth(7).boundingBox();
    expect((eighth?.y ?? Infinity) + (eighth?.height ?? 0)).toBeLessThanOrEqual(844);
    await rows.nth(7).getByRole('switch').click();
    await page
      .getByLabel('Messages')
      .getByText(/ is (on|off).* in staging$/)
      .waitFor();
    await check();
  },
  PATIENCE_MS,
);

/** Counts the components that React renders: in each commit, those that have run and are not the ones of before. */
const COUNT_RENDERS = `
  globalThis.renders = 0;
  globalThis.__REACT_DEVTOOLS_GLOBAL_HOOK__ = {
    supportsFiber: true, isDisabled: false, inject: () => 1, checkDCE: () => {}, onCommitFiberUnmount: () => {},
    onPostCommitFiberRoot: () => {}, onScheduleFiberRoot: () => {},
    onCommitFiberRoot: (_, root) => {
      const COMPONENTS = new Set([0, 1, 11, 14, 15]);
      const visit = (fiber) => {
        for (let each = fiber; each !== null; each = each.sibling) {
          const before = each.alternate;
          const isNew = before === null || before.memoizedProps !== each.memoizedProps
            || before.memoizedState !== each.memoizedState || before.ref !== each.ref;
          if (COMPONENTS.has(each.tag) && isNew && (each.flags & 1) !== 0) globalThis.renders++;
          if (before === null || each.child !== before.child) visit(each.child);
        }
      };
      visit(root.current.child);
    },
  };
`;

/** Waits until nothing is rendered for a moment, as once all parts have come, and counts from there. */
async function untilStill(page: Page): Promise<void> {
  await until('nothing more is rendered', async () => {
    await page.evaluate('renders = 0');
    await Bun.sleep(300);
    return (await page.evaluate('renders')) === 0;
  });
}

test(
  'a change by another person renders only its cell and what counts, not the list',
  async () => {
    const { page } = await world.open(BLANK);
    await page.addInitScript(COUNT_RENDERS);
    await page.goto(LIST);
    await page.locator('[data-row="0"]').waitFor();
    await page.getByText('Live', { exact: true }).waitFor();
    expect(Number(await page.evaluate('renders'))).toBeGreaterThan(300);
    const changed = 'flag-003-with-a-key-as-they-are';
    await page.locator(`[data-flag="${changed}"]`).waitFor();
    await untilStill(page);
    const news = page.locator(`[data-flag="${changed}"] [data-news]`).waitFor();
    await world.management.putState('shop', 'staging', changed, { enabled: true });
    await news;
    await page.locator(`[aria-label="${changed} in staging"]:checked`).waitFor();
    const renders = Number(await page.evaluate('renders'));
    expect(renders).toBeGreaterThan(0);
    expect(renders).toBeLessThanOrEqual(60);
  },
  PATIENCE_MS,
);

test(
  'a new change is added to the history without rendering the rows below it',
  async () => {
    const { management } = world;
    await management.createProject('busy');
    // A change with a note is never part of a burst, so each has a row.
    const put = (value: number) =>
      management.request('PUT', '/api/projects/busy/environments/staging/flags/rate-limit', {
        body: { enabled: true, value },
        headers: { 'x-change-note': `Step ${value}` },
      });
    for (let value = 0; value < 30; value++) await put(value);
    const { page } = await world.open(BLANK);
    await page.addInitScript(COUNT_RENDERS);
    for (const [address, rows] of [
      ['/projects/busy/history', 31],
      ['/projects/busy/flags/rate-limit?tab=history', 20],
    ] as const) {
      await page.goto(address);
      await page.getByText('Live', { exact: true }).waitFor();
      const row = page.locator('[data-seq]');
      await row.nth(rows - 1).waitFor();
      await untilStill(page);
      await put(100 + rows);
      await page.getByText(`“Step ${100 + rows}”`).waitFor();
      const renders = Number(await page.evaluate('renders'));
      expect(renders).toBeGreaterThan(0);
      // The new row itself, and what shows the newest change. Each row below it would add about forty.
      expect([address, renders]).toEqual([address, Math.min(renders, MOST_FOR_A_ROW)]);
    }
  },
  PATIENCE_MS,
);

/** How many components may be rendered for a row that is added. */
const MOST_FOR_A_ROW = 160;
