import { describe, expect, test } from 'bun:test';
import { until } from '@halyard/testing';
import type { Page } from 'playwright-core';
import { BLANK } from './support/opened-page.ts';
import { visit } from './support/visit.ts';
import { sharedWorld } from './support/world.ts';

const PATIENCE_MS = 60_000;

const world = sharedWorld(async ({ management }) => {
  await management.createProject('shop');
  for (const environment of ['development', 'staging']) {
    const changes = Array.from({ length: 100 }, (_, index) => ({
      key: `flag-${String(index).padStart(3, '0')}`,
      state: { enabled: index % 2 === 0 },
    }));
    await management.change('shop', environment, changes);
  }
  // More changes than the history shows at first.
  for (let index = 0; index < 70; index++)
    await management.putState('shop', 'staging', `flag-0${10 + index}`, {
      enabled: index % 2 === 1,
      value: 1,
    });
});

/** The focused element: its name, link or text. */
function focused(page: Page): Promise<unknown> {
  return page.evaluate(`(() => {
    const { activeElement: element } = document;
    return element.getAttribute('aria-label') ?? element.getAttribute('href') ?? element.textContent;
  })()`);
}

function scrolled(page: Page, selector: string): Promise<unknown> {
  return page.evaluate(`document.querySelector('${selector}').scrollTop`);
}

test(
  'the first visit opens the oldest project, which the start command has named, not the first one by name',
  async () => {
    await world.management.createProject('a-later-one');
    const { page } = await world.open('/');
    await page.waitForURL('**/projects/shop/flags');
  },
  PATIENCE_MS,
);

describe('Back', () => {
  test.each([1280, 390])(
    'returns to the same place in the list, with its focus, %d px wide',
    async (width) => {
      const { page } = await world.open('/projects/shop/flags', { width });
      await page.locator('[data-row="0"]').waitFor();
      await page.evaluate(`document.querySelector('[data-scroller]').scrollTo(0, 2000)`);
      const link = page.getByRole('link', { name: width === 390 ? 'flag-012' : 'flag-040' });
      await link.click();
      await page.getByRole('heading', { name: 'flag-0' }).waitFor();
      await page.goBack();
      await page
        .locator(`a:focus[href="/projects/shop/flags/${width === 390 ? 'flag-012' : 'flag-040'}"]`)
        .waitFor();
      expect(await scrolled(page, '[data-scroller]')).toBe(2000);
    },
    PATIENCE_MS,
  );

  test(
    'returns to the same place in the history',
    async () => {
      const { page } = await world.open('/projects/shop/history');
      // The flags were created in one burst, which is one line until it is opened, and stays open.
      await page
        .getByRole('button', { name: /^Details of change/ })
        .first()
        .click();
      await until('the opened change is long enough to be scrolled', async () => {
        await page.evaluate(`document.querySelector('main').scrollTo(0, 1200)`);
        return (await scrolled(page, 'main')) === 1200;
      });
      const address = 'flag-050';
      const link = page.getByRole('link', { name: address });
      await link.scrollIntoViewIfNeeded();
      const top = await scrolled(page, 'main');
      await link.click();
      await page.getByRole('heading', { name: 'flag-0' }).waitFor();
      expect(await scrolled(page, 'main')).toBe(0);
      await page.goBack();
      await page.locator(`main a:focus[href$="${address}"]`).waitFor();
      expect(await scrolled(page, 'main')).toBe(top);
    },
    PATIENCE_MS,
  );

  test(
    'after opening a flag with the keyboard, restores the focus to its switch',
    async () => {
      const { page } = await world.open('/projects/shop/flags');
      await page.locator('[data-row="0"]').waitFor();
      for (const key of ['j', 'j', 'l', 'Enter']) await page.keyboard.press(key);
      await page.getByRole('heading', { name: 'flag-001' }).waitFor();
      await page.goBack();
      await page.locator('input:focus[aria-label="flag-001 in staging"]').waitFor();
      // The focus does not say which screen this is.
      await page.getByTestId('live-region').getByText('Flags · shop').waitFor({ state: 'attached' });
    },
    PATIENCE_MS,
  );
});

test(
  'a new screen begins at its heading, whose focus reads it out, and nothing says it once more',
  async () => {
    const { page } = await world.open('/projects/shop/flags');
    await page.locator('[data-row="0"]').waitFor();
    expect(await page.title()).toBe('Flags · shop · Halyard');
    expect(await page.evaluate('document.activeElement === document.body')).toBe(true);
    for (const [key, name] of [
      ['h', 'History'],
      ['k', 'Keys'],
      ['e', 'Environments'],
      ['c', 'Compare'],
      ['f', 'Flags'],
    ] as const) {
      await page.keyboard.press('g');
      await page.keyboard.press(key);
      await page.locator('h1:focus', { hasText: name }).waitFor();
      expect(await page.title()).toBe(`${name} · shop · Halyard`);
      expect(await page.getByTestId('live-region').textContent()).toBe('');
    }

    // A busy page comes to a key later than it was pressed.
    await page.keyboard.press('g');
    const isBusy = page.evaluate('const end = performance.now() + 1600; while (performance.now() < end);');
    await page.keyboard.press('h');
    await isBusy;
    await page.locator('h1:focus', { hasText: 'History' }).waitFor();
    await page.getByRole('link', { name: 'Settings', exact: true }).click();
    await page.locator('h1:focus', { hasText: 'People' }).waitFor();
    await page
      .getByRole('navigation', { name: 'Settings', exact: true })
      .getByRole('link', { name: 'Access tokens' })
      .click();
    await page.locator('h1:focus', { hasText: 'Access tokens' }).waitFor();
    await page.keyboard.press('Control+k');
    await page.getByRole('dialog').getByRole('combobox').fill('audit log');
    await page.keyboard.press('Enter');
    await page.locator('h1:focus', { hasText: 'Audit log' }).waitFor();
  },
  PATIENCE_MS,
);

test(
  'the heading stands at one place on all screens, in line with the header',
  async () => {
    const { page } = await world.open('/projects/shop/flags');
    const places = new Map<number, Set<string>>([1280, 1920, 390].map((width) => [width, new Set()]));
    const screens = ['flags', 'compare', 'schedules', 'history', 'clients', 'keys', 'environments'];
    const addresses = [...screens.map((screen) => `/projects/shop/${screen}`), '/operators', '/audit'];
    for (const address of addresses) {
      if (address !== addresses[0]) await visit(page, address);
      const name = address.split('/').at(-1) ?? '';
      await page.locator('h1', { hasText: HEADINGS[name] ?? new RegExp(name, 'i') }).waitFor();
      for (const [width, found] of places) {
        await page.setViewportSize({ width, height: 800 });
        const place = await page.evaluate(`(() => {
          const range = document.createRange();
          range.selectNodeContents(document.querySelector('h1'));
          const { x, y, height } = range.getClientRects()[0];
          const header = document.querySelector('header');
          // In a project's settings the header has one row more.
          const below = y - header.getBoundingClientRect().bottom;
          return [x, below, height, x - header.querySelector('svg').getBoundingClientRect().x].map(Math.round);
        })()`);
        found.add(String(place));
      }
    }
    for (const found of places.values()) {
      expect(found.size).toBe(1);
      expect([...found].join()).toEndWith(',0');
    }
  },
  PATIENCE_MS,
);

const HEADINGS: Readonly<Record<string, RegExp>> = { operators: /People/, audit: /Audit log/ };

test(
  'the header searches, creates and helps, and the environment that it is limited to follows through the screens',
  async () => {
    const { page, check } = await world.open('/projects/shop/flags');
    await page.locator('[data-row="0"]').waitFor();
    await page.getByRole('button', { name: 'Search or jump to…' }).click();
    await page.getByRole('dialog').getByRole('combobox').fill('flag-042');
    await page.keyboard.press('Enter');
    await page.locator('h1:focus', { hasText: 'flag-042' }).waitFor();
    // A screen of that name exists, so Enter does not create a flag.
    await page.keyboard.press('Control+k');
    await page.getByRole('dialog').getByRole('combobox').fill('compare');
    await page.getByRole('option', { name: 'Create flag compare' }).waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Compare', exact: true }).waitFor();
    await page.getByRole('button', { name: 'Create', exact: true }).click();
    await check();
    await page.getByRole('menuitem', { name: 'New key' }).click();
    await page.getByRole('dialog', { name: 'New key' }).waitFor();
    await page.keyboard.press('Escape');
    await page.waitForURL(({ search }) => search === '');
    await page.getByRole('button', { name: 'Help' }).click();
    await page.getByText(/^Halyard \d+\.\d+\.\d+/).waitFor();
    await page.getByRole('menuitem', { name: 'Keyboard shortcuts' }).click();
    await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor();
    await page.keyboard.press('Escape');

    const filter = page.getByRole('banner').getByRole('combobox', { name: 'Environment filter' });
    await filter.selectOption('staging');
    await page.keyboard.press('g');
    await page.keyboard.press('f');
    await page.getByRole('columnheader', { name: 'staging' }).waitFor();
    expect(await page.getByRole('columnheader', { name: 'development' }).count()).toBe(0);
    await page.getByRole('link', { name: 'Clients' }).click();
    await page.getByRole('region', { name: 'staging' }).waitFor();
    expect(await page.getByRole('region', { name: 'production' }).count()).toBe(0);
    await page.getByRole('link', { name: 'History' }).click();
    await page.getByRole('link', { name: 'flag-079' }).first().waitFor();
    expect(await page.getByText('in development').count()).toBe(0);
    await page.reload();
    await page.getByRole('link', { name: 'flag-079' }).first().waitFor();
    expect(await filter.inputValue()).toBe('staging');
    await check();
    await filter.selectOption('');
    await page.getByRole('link', { name: 'Flags' }).click();
    await page.getByRole('columnheader', { name: 'development' }).waitFor();
  },
  PATIENCE_MS,
);

test(
  'a deep link takes four steps: the page, its scripts, what needs no session yet, and what the screen shows',
  async () => {
    const { page } = await world.open('/account');
    await page.getByRole('heading', { name: 'Account', exact: true }).waitFor();
    // What the page that is left asks for is over before the requests are counted.
    await page.goto(BLANK);
    const asked: string[] = [];
    page.on('request', (request) => asked.push(new URL(request.url()).pathname));
    /** Holds the answers at an address; resolves with the function that lets them go. */
    const hold = async (address: string) => {
      const { promise, resolve } = Promise.withResolvers<void>();
      await page.route(address, async (route) => {
        await promise;
        await route.continue();
      });
      return resolve;
    };
    const askedFor = (...addresses: string[]) =>
      until(`the page asks for ${addresses}`, async () => addresses.every((each) => asked.includes(each)));
    const [answerSession, answerFlag] = [
      await hold('**/api/session'),
      await hold('**/api/projects/shop/flags/flag-050'),
    ];
    await page.goto('/projects/shop/flags/flag-050?env=staging');
    await askedFor('/api/session', '/api/events', '/api/projects/shop');
    const chunks = () => asked.filter((path) => path.startsWith('/assets/chunk-')).length;
    await until('the page asks for its screen', async () => chunks() > 0);
    answerSession();
    await askedFor(
      '/api/projects/shop/flags/flag-050',
      '/api/audit',
      '/api/operators',
      '/api/projects/shop/deliveries',
      '/api/projects/shop/schedules',
    );
    answerFlag();
    await page.getByRole('region', { name: 'staging' }).locator('.cm-content').getByText('1').waitFor();
    // The values came with the flag.
    expect(asked.filter((path) => path.includes('/environments/'))).toEqual([]);
    for (const path of ['/api/session', '/api/projects/shop', '/api/events', '/api/audit'])
      expect([path, asked.filter((each) => each === path).length]).toEqual([path, 1]);
  },
  PATIENCE_MS,
);

test(
  'leaving the history immediately does not lead back to it',
  async () => {
    const { page } = await world.open('/projects/shop/flags');
    await page.locator('[data-row="0"]').waitFor();
    await page.clock.install();
    for (const key of ['g', 'h', 'g', 'k']) await page.keyboard.press(key);
    await page.clock.runFor(1_000);
    await page.getByRole('heading', { name: 'Keys', exact: true }).waitFor();
  },
  PATIENCE_MS,
);

/** Whether the link of the screen is inside its navigation, which scrolls. */
const IS_LINK_IN_VIEW = `(() => {
  const here = document.querySelector('header [aria-current]');
  const [link, nav] = [here, here.closest('nav')].map((each) => each.getBoundingClientRect());
  return link.left >= nav.left && link.right <= nav.right + 1;
})()`;

test.each([1280, 390])(
  'the first Tab reaches the skip link on every screen, %d px wide',
  async (width) => {
    const { page } = await world.open(BLANK, { width });
    for (const screen of ['flags', 'clients', 'environments']) {
      await page.goto(`/projects/shop/${screen}`);
      await page.getByRole('heading', { level: 1 }).waitFor();
      // It comes later than the links, and takes their space.
      if (screen !== 'environments') await page.locator('header select').waitFor();
      await until(`the link of ${screen} is in view`, () => page.evaluate(IS_LINK_IN_VIEW));
      await page.keyboard.press('Tab');
      expect([screen, await focused(page)]).toEqual([screen, '#screen']);
    }
  },
  PATIENCE_MS,
);

test(
  'an unknown address shows that it does not exist, and a project’s address opens its flags',
  async () => {
    const { page, check } = await world.open('/projects/shop/flagz', { expected: /404/ });
    await page.getByRole('heading', { name: 'Page not found' }).waitFor();
    await check();
    await page.getByRole('link', { name: 'All projects' }).click();
    await page.getByRole('heading', { name: 'Projects' }).waitFor();
    await page.goto('/projects/shop');
    await page.locator('[data-row="0"]').waitFor();
    expect(new URL(page.url()).pathname).toBe('/projects/shop/flags');
    await page.goto('/projects');
    await page.getByRole('heading', { name: 'Projects' }).waitFor();
    // Every screen of a project says so.
    await page.goto('/projects/nope/keys');
    await page.getByRole('heading', { name: 'Project “nope” does not exist' }).waitFor();
    const icons = page.getByRole('main').locator('svg');
    expect(await icons.count()).toBe(1);
    await page.goto('/projects/shop/flags/nope');
    await page.getByRole('heading', { name: 'Flag does not exist' }).waitFor();
    expect(await icons.count()).toBe(1);
  },
  PATIENCE_MS,
);

test(
  'the list of projects shows what each has and what happened last, and keeps starred ones on top',
  async () => {
    await world.management.createProject('a-first-by-name');
    const { page, check } = await world.open('/?projects');
    const row = page.getByRole('row', { name: /^shop/ });
    await row.getByRole('cell', { name: '100', exact: true }).waitFor();
    await row.getByText(/turned on flag-079 in staging/).waitFor();
    const names = page.getByRole('rowheader');
    await names.first().getByRole('link', { name: 'a-first-by-name' }).waitFor();

    await row.getByRole('button', { name: 'Star shop' }).click();
    await names.first().getByRole('link', { name: 'shop' }).waitFor();
    await check();
    await page.reload();
    await names.first().getByRole('link', { name: 'shop' }).waitFor();
    await page.setViewportSize({ width: 390, height: 800 });
    await check();
  },
  PATIENCE_MS,
);
