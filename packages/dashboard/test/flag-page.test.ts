import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import type { Page } from 'playwright-core';
import { startWorld, type World } from './support/world.ts';

const PATIENCE_MS = 60_000;
const FLAG = '/projects/shop/flags/new-checkout';
const STATE = '/api/projects/shop/environments/development/flags/new-checkout';
/** Nothing that `JSON.parse` and `JSON.stringify` would give back as it came. */
const AWKWARD = '{"b":1e3,"10":1.0,"2":12345678901234567890}';

let world: World;
beforeAll(async () => {
  world = await startWorld();
  await world.management.createProject('shop');
}, 120_000);
afterAll(() => world.close());

beforeEach(async () => {
  for (const environment of ['development', 'production']) {
    await world.management.putState('shop', environment, 'new-checkout', { enabled: true, value: 7 });
  }
});

/** The state as the server keeps it, as text. */
async function stateText(): Promise<string> {
  const headers = { authorization: `Bearer ${world.node.adminToken}` };
  return (await fetch(`${world.node.url}${STATE}`, { headers })).text();
}

async function writeRaw(state: string): Promise<void> {
  const headers = { authorization: `Bearer ${world.node.adminToken}`, 'content-type': 'application/json' };
  const response = await fetch(`${world.node.url}${STATE}`, { method: 'PUT', headers, body: state });
  if (!response.ok) throw new Error(await response.text());
}

function card(page: Page, environment = 'development') {
  return page.getByRole('region', { name: environment, exact: true });
}

/** The editor with colours, once it has taken the plain field's place. */
function editor(page: Page, environment = 'development') {
  return card(page, environment).locator('.cm-content');
}

/** Types over what stands in the editor. */
async function write(page: Page, text: string): Promise<void> {
  await editor(page).press('Control+A');
  await page.keyboard.insertText(text);
}

describe('the value', () => {
  test(
    'is shown, edited, saved and undone in its own notation, with a note',
    async () => {
      await writeRaw(`{"enabled":true,"value":${AWKWARD}}`);
      const { page, check } = await world.open(FLAG);
      await card(page).getByText('1e3').waitFor();
      expect(await editor(page).textContent()).toContain('12345678901234567890');

      await write(page, '{"b":2.50,"10":1.0}');
      await card(page).getByLabel('Why, for development').fill('Half of it was too much');
      await check();
      await card(page).getByRole('button', { name: 'Save in development' }).click();
      await page.getByText('new-checkout is on, value').first().waitFor();
      expect(await stateText()).toContain('"value":{"b":2.50,"10":1.0}');
      await card(page).getByText('“Half of it was too much”').waitFor();
      // Formatted when the field was left; what is saved is clean again.
      await card(page).getByRole('button', { name: 'Save in development' }).waitFor({ state: 'detached' });
      expect(await editor(page).textContent()).toContain('{  "b": 2.50,  "10": 1.0}');

      await page.getByRole('button', { name: 'Undo' }).click();
      await card(page).getByText('1e3').waitFor();
      expect(await stateText()).toContain(`"value":${AWKWARD}`);
      await page.close();
    },
    PATIENCE_MS,
  );

  test(
    'keeps its notation when only the rollout is edited, also before its exact text has arrived',
    async () => {
      await writeRaw(`{"enabled":true,"value":${AWKWARD}}`);
      const { page } = await world.open('/projects/shop/flags');
      const release = Promise.withResolvers<void>();
      await page.route(`**${STATE}`, async (route) => {
        if (route.request().method() === 'GET') await release.promise;
        await route.continue();
      });
      await page.getByRole('link', { name: 'new-checkout' }).click();
      await card(page).getByRole('radio', { name: 'A share in development' }).check();
      await card(page).getByRole('button', { name: '25 % in development' }).click();
      release.resolve();
      await card(page).getByText('12345678901234567890').waitFor();
      await card(page).getByRole('button', { name: 'Save in development' }).click();
      await page.getByText('new-checkout is on, 25 %').first().waitFor();
      expect(await stateText()).toContain(`"value":${AWKWARD}`);
      await page.close();
    },
    PATIENCE_MS,
  );

  test(
    'that was just saved or flipped here is known exactly, and not taken for somebody else’s',
    async () => {
      const { page } = await world.open(FLAG);
      await editor(page).waitFor();
      await write(page, '8.0');
      const release = Promise.withResolvers<void>();
      await page.route(`**${STATE}`, async (route) => {
        if (route.request().method() === 'GET') await release.promise;
        await route.continue();
      });
      await page.getByRole('button', { name: 'Save in development' }).click();
      await page.getByText('new-checkout is on, value 8 in development').first().waitFor();
      expect(await page.getByText('while you were editing').count()).toBe(0);
      expect(await editor(page).textContent()).toBe('8.0');
      await page.getByRole('switch', { name: 'new-checkout in development' }).click();
      await page.getByText('new-checkout is off in development').first().waitFor();
      expect(await editor(page).textContent()).toBe('8.0');
      release.resolve();
      await page.close();
    },
    PATIENCE_MS,
  );

  test(
    'may be typed on while it is being saved: what was saved is not taken for somebody else’s',
    async () => {
      const { page } = await world.open(FLAG);
      await write(page, '8');
      const release = Promise.withResolvers<void>();
      await page.route(`**${STATE}`, async (route) => {
        if (route.request().method() === 'PATCH') await release.promise;
        await route.continue();
      });
      const saving = page.waitForRequest((request) => request.method() === 'PATCH');
      await page.keyboard.press('Control+Enter');
      await saving;
      await page.keyboard.type('9');
      release.resolve();
      await page.getByText('new-checkout is on, value 8 in development').first().waitFor();
      await card(page).getByRole('button', { name: 'Save in development' }).click();
      await page.getByText('new-checkout is on, value 89 in development').first().waitFor();
      expect(await page.getByText('while you were editing').count()).toBe(0);
      expect(await stateText()).toContain('"value":89');
      await page.close();
    },
    PATIENCE_MS,
  );

  test(
    'says where it is no JSON, and warns before its kind changes',
    async () => {
      const { page } = await world.open(FLAG);
      await editor(page).press('Control+z');
      expect(await editor(page).textContent()).toBe('7');
      await write(page, '{\n  "a" 1\n}');
      await card(page).getByText('Line 2, column 7: A colon is missing here.').waitFor();
      const save = card(page).getByRole('button', { name: 'Save in development' });
      expect(await save.isDisabled()).toBe(true);

      await write(page, '"seven"');
      await card(page).getByText('code that reads a number gets its default instead').waitFor();
      expect(await save.isEnabled()).toBe(true);
      await card(page).getByRole('button', { name: 'Discard' }).click();
      expect(await editor(page).textContent()).toBe('7');
      await page.close();
    },
    PATIENCE_MS,
  );

  test(
    'is typed letter by letter: the keys of the page do not take any of them',
    async () => {
      const { page } = await world.open(FLAG);
      await editor(page).press('Control+A');
      await page.keyboard.type('"go/no go?');
      expect(await editor(page).textContent()).toBe('"go/no go?');
      expect(await page.getByRole('dialog').count()).toBe(0);
      await page.close();
    },
    PATIENCE_MS,
  );

  test(
    'is a plain field where the editor cannot be loaded, and saves with Ctrl and Enter',
    async () => {
      const { page, context } = await world.open('/projects/shop/flags', { expected: /ERR_FAILED/ });
      await context.route('**/assets/chunk-*', async (route) => {
        const response = await route.fetch();
        if ((await response.text()).includes('cm-content')) return route.abort();
        return route.fulfill({ response });
      });
      await page.getByRole('link', { name: 'new-checkout' }).first().click();
      const field = card(page).getByRole('textbox', { name: 'Value in development' });
      await field.fill('  8 ');
      await field.press('Control+Enter');
      await page.getByText('new-checkout is on, value 8 in development').first().waitFor();
      expect(await stateText()).toContain('"value":8');
      expect(await card(page).locator('textarea').count()).toBe(1);
      await page.close();
    },
    PATIENCE_MS,
  );

  test(
    'from somebody malicious stays text, wherever it is shown',
    async () => {
      const value = '<img src=x onerror="document.title=1">';
      await world.management.putState('shop', 'development', 'new-checkout', { enabled: true, value });
      const { page, check } = await world.open(FLAG);
      await page.getByLabel('Evaluate for this targeting key').fill('user-1');
      await card(page).getByText('onerror').waitFor();
      await page.locator('[data-evaluation=development]').getByText('onerror').waitFor();
      expect(await page.locator('img[src="x"]').count()).toBe(0);
      expect(await page.title()).toBe('new-checkout · Halyard');
      await check();
      await page.close();
    },
    PATIENCE_MS,
  );
});

test(
  'the rollout is chosen by marks, arrow keys and typing, and goes back to everyone',
  async () => {
    const { page, check } = await world.open(FLAG);
    await card(page).getByRole('radio', { name: 'A share in development' }).check();
    await card(page).getByRole('button', { name: '25 % in development' }).click();
    const slider = card(page).getByRole('slider', { name: 'Rollout in development' });
    await slider.press('ArrowRight');
    await slider.press('Shift+ArrowRight');
    const box = card(page).getByRole('spinbutton');
    expect(await box.inputValue()).toBe('26.001');
    await box.press('ArrowDown');
    expect(await box.inputValue()).toBe('26');
    await box.fill('101');
    await card(page).getByText('Give a number from 0 to 100').waitFor();
    await box.fill('12.345');
    await check();
    await box.press('Enter');
    await page.getByText('new-checkout is on, 12.345 %, value 7 in development').first().waitFor();
    expect(await stateText()).toContain('"rolloutPct":12.345');

    await card(page).getByRole('radio', { name: 'Everyone in development' }).check();
    await card(page).getByRole('button', { name: 'Save in development' }).click();
    await page.getByText('new-checkout is on, value 7 in development').first().waitFor();
    expect(await stateText()).not.toContain('rolloutPct');
    await page.close();
  },
  PATIENCE_MS,
);

test(
  'a protected environment asks before the switch, naming old and new, and keeps what it has until then',
  async () => {
    const { page, check } = await world.open(FLAG);
    const control = page.getByRole('switch', { name: 'new-checkout in production' });
    await control.press('Space');
    const dialog = page.getByRole('dialog', { name: 'Change new-checkout in production?' });
    await dialog.getByText('on, value 7').waitFor();
    await dialog.getByText('off, value 7').waitFor();
    await check();
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    expect(await control.isChecked()).toBe(true);
    await control.press('Space');
    await dialog.getByRole('button', { name: 'Change production' }).click();
    await page.getByText('new-checkout is off in production').first().waitFor();
    await page.close();
  },
  PATIENCE_MS,
);

test(
  'of two people who edit the same, the second is told, sees both versions, and nothing is lost without a choice',
  async () => {
    const ada = await world.open(FLAG, { expected: /412/ });
    const bob = await world.open(FLAG);
    await write(ada.page, '8');
    await write(bob.page, '9');
    await card(bob.page).getByRole('button', { name: 'Save in development' }).click();

    const banner = card(ada.page).getByRole('alert');
    await banner.getByText('changed this while you were editing').waitFor();
    expect(await editor(ada.page).textContent()).toBe('8');
    await ada.check();
    await card(ada.page).getByRole('button', { name: 'Save in development' }).click();
    const dialog = ada.page.getByRole('dialog', { name: 'This was changed meanwhile' });
    await dialog.getByRole('region', { name: 'In effect now' }).getByText('9').waitFor();
    await dialog.getByRole('region', { name: 'Yours' }).getByText('8').waitFor();
    await ada.check();
    await dialog.getByRole('button', { name: 'Write mine over it' }).click();
    await ada.page.getByText('new-checkout is on, value 8 in development').first().waitFor();
    expect(await stateText()).toContain('"value":8');
    // Bob was not editing any more: the new version is there at once, highlighted.
    await card(bob.page).locator('.cm-content', { hasText: '8' }).waitFor();

    await write(ada.page, '10');
    await world.management.putState('shop', 'development', 'new-checkout', { enabled: true, value: 11 });
    await banner.getByRole('button', { name: 'Show theirs' }).click();
    expect(await editor(ada.page).textContent()).toBe('11');
    await ada.page.close();
    await bob.page.close();
  },
  PATIENCE_MS,
);

test(
  'an undo of what oneself has changed since does not speak of somebody else',
  async () => {
    const { page, check } = await world.open(FLAG, { expected: /412/ });
    const control = page.getByRole('switch', { name: 'new-checkout in development' });
    await control.click();
    await page.getByText('new-checkout is off in development').first().waitFor();
    await control.click();
    await page.getByText('new-checkout is on in development').first().waitFor();
    await page.getByRole('button', { name: 'Undo' }).first().click();
    const dialog = page.getByRole('dialog', { name: 'This was changed meanwhile' });
    await dialog.getByRole('region', { name: 'In effect now' }).waitFor();
    await check();
    await dialog.getByRole('button', { name: 'Keep it' }).click();
    expect(await control.isChecked()).toBe(true);
    await page.close();
  },
  PATIENCE_MS,
);

test(
  'who was told of somebody else’s version still is after flipping the switch, and does not write over it unasked',
  async () => {
    const { page } = await world.open(FLAG, { expected: /412/ });
    await write(page, '8');
    await writeRaw('{"enabled":true,"value":9}');
    const banner = card(page).getByRole('alert').getByText('changed this while you were editing');
    await banner.waitFor();
    await page.getByRole('switch', { name: 'new-checkout in development' }).press('Space');
    await page.getByText('new-checkout is off in development').first().waitFor();
    await banner.waitFor();
    const save = card(page).getByRole('button', { name: 'Save in development' });
    await save.click();
    await page.getByRole('button', { name: 'Write mine over it' }).click();
    await page.getByText('new-checkout is off, value 8 in development').first().waitFor();
    await save.waitFor({ state: 'detached' });
    expect(await banner.count()).toBe(0);
    expect(await stateText()).toContain('"value":8');
    await page.close();
  },
  PATIENCE_MS,
);

test(
  'who edits a state that somebody else removes is told so',
  async () => {
    const { page } = await world.open(FLAG);
    await write(page, '8');
    await world.management.request('DELETE', STATE);
    await card(page).getByRole('alert').getByText('while you were editing').waitFor();
    expect(await editor(page).textContent()).toBe('8');
    await page.close();
  },
  PATIENCE_MS,
);

test(
  'whoever writes over somebody else’s version can undo it, and theirs is there again to the letter',
  async () => {
    const { page } = await world.open(FLAG, { expected: /412/ });
    await write(page, '8');
    await writeRaw(`{"enabled":true,"value":${AWKWARD}}`);
    await card(page).getByRole('alert').waitFor();
    await card(page).getByRole('button', { name: 'Save in development' }).click();
    await page.getByRole('button', { name: 'Write mine over it' }).click();
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.getByText('new-checkout is on, value {').first().waitFor();
    expect(await stateText()).toContain(`"value":${AWKWARD}`);
    await page.close();
  },
  PATIENCE_MS,
);

test(
  'what is not saved is not left without a question: by a link, and by going back',
  async () => {
    const { page, check } = await world.open('/projects/shop/flags');
    await page.getByRole('link', { name: 'new-checkout' }).first().click();
    await write(page, '8');
    const dialog = page.getByRole('dialog', { name: 'Leave without saving?' });
    await page.getByRole('link', { name: 'History', exact: true }).click();
    await dialog.waitFor();
    await check();
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    expect(new URL(page.url()).pathname).toBe(FLAG);

    await page.goBack();
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    expect(new URL(page.url()).pathname).toBe(FLAG);
    expect(await editor(page).textContent()).toBe('8');
    await page.goBack();
    await dialog.getByRole('button', { name: 'Leave' }).click();
    await page.waitForURL('**/projects/shop/flags');
    await page.close();
  },
  PATIENCE_MS,
);

test(
  'what somebody types is kept when the flag is archived meanwhile, and saved once it is restored',
  async () => {
    await world.management.putState('shop', 'development', 'put-away', { enabled: true, value: 7 });
    const { page, check } = await world.open('/projects/shop/flags/put-away');
    await write(page, '8');
    await world.management.request('POST', '/api/projects/shop/flags/put-away/archive');
    await page.getByRole('heading', { name: 'Out of use' }).waitFor();
    await card(page).getByRole('alert').getByText('archived while you were editing').waitFor();
    expect(await editor(page).textContent()).toBe('8');
    expect(await editor(page).getAttribute('contenteditable')).toBe('false');
    expect(await card(page, 'production').count()).toBe(0);
    expect(await page.getByRole('button', { name: 'Save in development' }).count()).toBe(0);
    await check();
    await page.getByRole('link', { name: 'History', exact: true }).click();
    const dialog = page.getByRole('dialog', { name: 'Leave without saving?' });
    await dialog.getByRole('button', { name: 'Cancel' }).click();

    await world.management.request('POST', '/api/projects/shop/flags/put-away/restore');
    await page.getByRole('button', { name: 'Save in development' }).click();
    await page.getByText('put-away is on, value 8 in development').first().waitFor();

    await write(page, '9');
    await world.management.request('POST', '/api/projects/shop/flags/put-away/archive');
    await card(page).getByRole('alert').getByText('archived while you were editing').waitFor();
    await card(page).getByRole('button', { name: 'Discard' }).click();
    await card(page).waitFor({ state: 'detached' });
    await page.close();
  },
  PATIENCE_MS,
);

test(
  'a description that is not saved is not left without a question',
  async () => {
    const { page } = await world.open(FLAG);
    await page.getByRole('button', { name: 'Edit: Description' }).click();
    const field = page.getByRole('textbox', { name: 'Description' });
    await field.fill('A long story');
    await page.getByRole('link', { name: 'History', exact: true }).click();
    const dialog = page.getByRole('dialog', { name: 'Leave without saving?' });
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    expect(await field.inputValue()).toBe('A long story');
    await field.press('Control+Enter');
    await field.waitFor({ state: 'detached' });
    await page.getByRole('link', { name: 'History', exact: true }).click();
    await page.waitForURL('**/projects/shop/history');
    await page.close();
  },
  PATIENCE_MS,
);

test(
  'what is typed for a flag does not come to the flag of the same key in another project',
  async () => {
    await world.management.createProject('deck');
    await world.management.putState('deck', 'development', 'new-checkout', { enabled: true, value: 1 });
    const { page } = await world.open('/projects/deck/flags/new-checkout');
    await editor(page).waitFor();
    const goTo = async (project: string) => {
      await page.keyboard.press('Control+k');
      await page.getByRole('combobox', { name: 'Commands' }).fill('new-checkout');
      await page.getByRole('option', { name: `new-checkout in ${project}` }).click();
    };
    await goTo('shop');
    await editor(page).getByText('7').waitFor();
    await write(page, '555');
    await goTo('deck');
    await page
      .getByRole('dialog', { name: 'Leave without saving?' })
      .getByRole('button', { name: 'Leave' })
      .click();
    await page.waitForURL('**/projects/deck/flags/new-checkout');
    await editor(page).getByText('1').waitFor();
    expect(await page.getByRole('button', { name: 'Save in development' }).count()).toBe(0);
    await page.close();
  },
  PATIENCE_MS,
);

test(
  'what somebody else changes while a schedule is being made is not part of it',
  async () => {
    const { page } = await world.open(FLAG);
    await editor(page).waitFor();
    await card(page).getByRole('button', { name: 'More for development' }).click();
    await page.getByRole('menuitem', { name: 'Schedule a change…' }).click();
    const dialog = page.getByRole('dialog', { name: 'Schedule a change of new-checkout' });
    await dialog.getByText('turns off').waitFor();
    const state = { enabled: true, value: 7, rolloutPct: 50 };
    await world.management.putState('shop', 'development', 'new-checkout', state);
    await card(page)
      .getByRole('radio', { name: 'A share in development', checked: true, includeHidden: true })
      .waitFor();
    const made = page.waitForRequest('**/api/projects/shop/schedules');
    await dialog.getByRole('button', { name: 'Schedule', exact: true }).click();
    // What is sent is JSON of the API's contract.
    const { changes } = (await made).postDataJSON() as { readonly changes: unknown };
    expect(changes).toEqual([{ key: 'new-checkout', patch: { enabled: false } }]);
    await page.getByText('new-checkout is scheduled').waitFor();
    await page.close();
  },
  PATIENCE_MS,
);

test(
  'the Escape of an input method closes no text that is being edited',
  async () => {
    const { page } = await world.open(FLAG);
    await page.getByRole('button', { name: 'Edit: Description' }).click();
    const field = page.getByRole('textbox', { name: 'Description' });
    await field.fill('half of it');
    await field.dispatchEvent('keydown', { key: 'Escape', isComposing: true });
    await field.press('End');
    expect(await field.inputValue()).toBe('half of it');
    await field.press('Escape');
    await field.waitFor({ state: 'detached' });
    await page.close();
  },
  PATIENCE_MS,
);

test(
  'everything is done with the keyboard alone: the switch, the editor, the rollout, the save',
  async () => {
    const { page } = await world.open(FLAG);
    await editor(page).waitFor();
    await page.getByRole('switch', { name: 'new-checkout in development' }).focus();
    await page.keyboard.press('Tab');
    await page.keyboard.press('Control+A');
    await page.keyboard.type('41');
    await page.keyboard.press('Tab');
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('Tab');
    await page.keyboard.press('PageDown');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.getByText('new-checkout is on, 90 %, value 41 in development').first().waitFor();
    expect(await stateText()).toContain('"value":41,"rolloutPct":90');
    await page.close();
  },
  PATIENCE_MS,
);

test(
  'what is refused goes back to what the server has: a switch at once, a save when it is discarded',
  async () => {
    const { page } = await world.open(FLAG, { expected: /500/ });
    const control = page.getByRole('switch', { name: 'new-checkout in development' });
    await editor(page).waitFor();
    const refusal = { error: 'internal_error', message: 'The log is out of reach.' };
    await page.route(`**${STATE}`, (route) =>
      route.request().method() === 'PATCH' ? route.fulfill({ status: 500, json: refusal }) : route.continue(),
    );
    await control.click();
    await page.getByText('The log is out of reach.').waitFor();
    expect(await control.isChecked()).toBe(true);

    await write(page, '8');
    const save = page.getByRole('button', { name: 'Save in development' });
    await save.click();
    await page.getByText('The log is out of reach.').nth(1).waitFor();
    expect(await editor(page).textContent()).toBe('8');
    await page.unroute(`**${STATE}`);
    await save.click();
    await page.getByText('new-checkout is on, value 8 in development').first().waitFor();
    expect(await stateText()).toContain('"value":8');
    await page.close();
  },
  PATIENCE_MS,
);

test(
  'a refused save keeps what was typed, also where the exact text of the value has not arrived',
  async () => {
    const { page } = await world.open('/projects/shop/flags', { expected: /500|ERR_FAILED/ });
    const refusal = { error: 'internal_error', message: 'The log is out of reach.' };
    await page.route(`**${STATE}`, (route) =>
      route.request().method() === 'PATCH' ? route.fulfill({ status: 500, json: refusal }) : route.abort(),
    );
    await page.getByRole('link', { name: 'new-checkout' }).click();
    await editor(page).waitFor();
    await write(page, '8');
    await page.getByRole('button', { name: 'Save in development' }).click();
    await page.getByText('The log is out of reach.').waitFor();
    expect(await editor(page).textContent()).toBe('8');
    await page.getByRole('button', { name: 'Discard' }).click();
    expect(await editor(page).textContent()).toBe('7');
    await page.close();
  },
  PATIENCE_MS,
);

test(
  'a viewer sees everything and is told why nothing can be changed',
  async () => {
    // The answer's shape is the API's contract.
    const invited = (await world.management.request('POST', '/api/invitations', {
      body: { email: 'vera@example.com', role: 'viewer', canChangeProtected: false },
    })) as { readonly token: string };
    const viewer = { email: 'vera@example.com', password: 'another correct horse' };
    await fetch(`${world.node.url}/api/invitations/accept`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', origin: world.node.url },
      body: JSON.stringify({ token: invited.token, name: 'Vera', password: viewer.password }),
    });
    const { page, check } = await world.open(FLAG, { as: viewer, theme: 'dark' });
    await card(page).getByText('Your role is viewer').waitFor();
    expect(await page.getByRole('switch', { name: 'new-checkout in development' }).isDisabled()).toBe(true);
    await editor(page).waitFor();
    expect(await editor(page).getAttribute('contenteditable')).toBe('false');
    expect(await page.getByRole('button', { name: /^(Edit|Revert|More)/ }).count()).toBe(0);
    await check();
    await page.close();
  },
  PATIENCE_MS,
);

test(
  'who is signed out while editing and leaves comes to the sign-in, without a question that has no answer',
  async () => {
    const { page, context } = await world.open(FLAG, { expected: /401/ });
    await write(page, '8');
    await context.request.delete('/api/session', { headers: { origin: world.node.url } });
    await page.getByRole('dialog', { name: 'Sign in again' }).getByRole('button', { name: 'Leave' }).click();
    await page.waitForURL('**/sign-in?from=*');
    expect(await page.getByRole('dialog').count()).toBe(0);
    await page.close();
  },
  PATIENCE_MS,
);
