import { Management, startNode } from '@halyard/testing';
import { buildDashboard } from '../../scripts/dashboard/build.ts';
import { Firefox, KEYS } from './bidi.ts';

const ADMIN = { email: 'ada@example.com', password: 'correct horse battery' } as const;

/** Keys of up to this many characters are shown whole. */
const UNCUT = 24;

/** Their ends differ, so a key that is cut is not found again. */
const FLAGS = 120;
const FOUND = 'checkout-088';

const SCREENS = [
  'flags',
  'compare',
  'schedules',
  'history',
  'clients',
  'clean-up',
  'proposals',
  'settings',
  'environments',
  'keys',
  'webhooks',
  'members',
  `flags/${FOUND}`,
].map((screen) => `/projects/harbour/${screen}`);

/** What was seen, or why nothing was. */
type Outcome = { readonly version: string; readonly steps: readonly string[] } | string;

/**
 * Drives the dashboard in a real Firefox: signs in, finds a flag, flips it, uses the palette, and opens every screen wide and
 * narrow. Gives the version and what was seen, or why it was skipped. Rejects with what is wrong.
 */
export async function tryFirefox(): Promise<Outcome> {
  const program = process.env.HALYARD_FIREFOX || (Bun.which('firefox-esr') ?? Bun.which('firefox'));
  if (program === null)
    return 'no Firefox here: install one (apt-get install firefox-esr), or name it in HALYARD_FIREFOX';

  await buildDashboard();
  const env = { HALYARD_ADMIN_EMAIL: ADMIN.email, HALYARD_ADMIN_PASSWORD: ADMIN.password };
  const node = await startNode({ env });
  try {
    const management = new Management(node);
    await management.createProject('harbour');
    const changes = Array.from({ length: FLAGS }, (_, index) => ({
      key: `checkout-${String(index).padStart(3, '0')}`,
      state: { enabled: false, value: { limit: index } },
    }));
    // Keys of every length that is never cut, first in the list.
    const short = Array.from({ length: UNCUT }, (_, index) => ({
      key: `a${'m'.repeat(index)}`,
      state: { enabled: true },
    }));
    await management.change('harbour', 'staging', [...short, ...changes]);

    await using firefox = await Firefox.start(program);
    const steps = await drive(firefox, node.url);
    const agent = String(await firefox.evaluate('navigator.userAgent'));
    return { version: /Firefox\/\S+/.exec(agent)?.[0] ?? agent, steps };
  } finally {
    await node.stop();
  }
}

async function drive(firefox: Firefox, url: string): Promise<readonly string[]> {
  const steps: string[] = [];

  await firefox.open(`${url}/projects/harbour/flags`);
  await firefox.until('the form to sign in', `document.querySelector('input[name=email]')`);
  // A visitor is refused once; that is how the screen finds out.
  await firefox.evaluate(`document.querySelector('input[name=email]').focus()`);
  await firefox.press(ADMIN.email);
  if ((await firefox.evaluate(`document.querySelector('input[type=password]') === null`)) === true) {
    await firefox.press([KEYS.enter]);
    await firefox.until('the field for the password', `document.querySelector('input[type=password]')`);
  }
  await firefox.evaluate(`document.querySelector('input[type=password]').focus()`);
  await firefox.press([...ADMIN.password, KEYS.enter]);
  await firefox.until('the flags', `document.querySelector('[data-row]')`);
  firefox.complaints.length = 0;
  steps.push('signed in');

  await requireWhole(firefox);
  await firefox.press('/');
  await firefox.press(FOUND);
  const link = `document.querySelector('[data-row] a[aria-label="${FOUND}"]')`;
  await firefox.until(
    'the flag that was searched for alone',
    `${link} && document.querySelectorAll('[data-row]').length === 1`,
  );
  await requireWhole(firefox);
  steps.push('found a flag, and its whole key');

  const isOn = `document.querySelector('input[role=switch][aria-label="${FOUND} in staging"]')`;
  await firefox.evaluate(`${isOn}.click()`);
  await firefox.until(
    'the flipped switch',
    `${isOn}.checked && document.body.textContent.includes('${FOUND} is on')`,
  );
  steps.push('flipped it');

  await firefox.press('k', [KEYS.control]);
  await firefox.until('the palette', `document.querySelector('dialog[open] input')`);
  await firefox.press([...'history', KEYS.enter]);
  await firefox.until('the history', `location.pathname.endsWith('/history')`);
  await firefox.until('the flip in the history', `document.body.textContent.includes('${FOUND}')`);
  steps.push('went to the history by the palette');

  for (const width of [1280, 390]) {
    for (const screen of SCREENS) {
      await firefox.open(url + screen, { width });
      await firefox.until(`the heading of ${screen}`, `document.querySelector('main h1')`);
      await firefox.until(`all of ${screen}`, `document.querySelector('main [aria-label=Loading]') === null`);
      const excess = await firefox.evaluate(
        'document.documentElement.scrollWidth - document.documentElement.clientWidth',
      );
      if (excess !== 0) throw new Error(`${screen} is ${excess} px too wide at ${width} px`);
    }
    steps.push(`${SCREENS.length} screens at ${width} px`);
  }

  if (firefox.complaints.length > 0)
    throw new Error(`the console has errors:\n${firefox.complaints.join('\n')}`);
  return [...steps, 'no error in the console'];
}

/** Rejects when a short key is cut, although there is room. A text that is cut is wider than its box. */
async function requireWhole(firefox: Firefox): Promise<void> {
  const cut = await firefox.evaluate(`[...document.querySelectorAll('[data-row] a[aria-label]')]
    .filter((link) => link.getAttribute('aria-label').length <= ${UNCUT})
    .filter((link) => [...link.querySelectorAll('.truncate')].some((each) => {
      const range = document.createRange();
      range.selectNodeContents(each);
      return range.getBoundingClientRect().width > each.getBoundingClientRect().width + 0.5;
    }))
    .map((link) => link.getAttribute('aria-label')).join(' ')`);
  if (cut !== '') throw new Error(`keys are cut although there is room: ${cut}`);
}
