import { expect, test } from 'bun:test';
import { until } from '@halyard/testing';
import { card, FLAG } from './support/flag-screen.ts';
import { visit } from './support/visit.ts';
import { sharedWorld } from './support/world.ts';

const world = sharedWorld(async ({ management }) => {
  await management.createProject('shop');
  for (const environment of ['development', 'production'])
    await management.putState('shop', environment, 'new-checkout', { enabled: true, value: 7 });
});

async function lastNote(): Promise<string | undefined> {
  const answer = await world.management.request('GET', '/api/audit?project=shop&target=new-checkout&limit=1');
  return (answer as { entries: readonly { note?: string }[] }).entries[0]?.note;
}

test('people set that every change needs a reason, and are asked for it wherever they make one', async () => {
  const { page, check } = await world.open('/projects/shop/environments', { expected: /428/ });
  await page.getByRole('button', { name: 'Edit development' }).click();
  const settings = page.getByRole('dialog', { name: 'Edit development' });
  await settings.getByLabel('Require a reason for every change').check();
  await check();
  await settings.getByRole('button', { name: 'Save' }).click();
  await page.getByText('reasons', { exact: true }).waitFor();

  // A switch in an environment without protection: the question is about the reason only.
  await visit(page, '/projects/shop/flags');
  await page.getByRole('switch', { name: 'new-checkout in development' }).click();
  const question = page.getByRole('dialog', { name: 'Change new-checkout in development?' });
  await question.getByRole('button', { name: 'Change development' }).click();
  await question.getByText('Say why: the history keeps it.').waitFor();
  await check();
  await question.getByLabel('Reason').fill('Too many complaints');
  await question.getByRole('button', { name: 'Change development' }).click();
  await question.waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Undo' }).click();

  // The screen knows no reason for the undoing: the server refuses it, and the person is asked.
  const why = page.getByRole('dialog', { name: 'Reason for the change' });
  await check();
  await why.getByLabel('Reason').fill('The wrong flag');
  await why.getByRole('button', { name: 'Continue' }).click();
  await why.waitFor({ state: 'detached' });
  await page.getByRole('switch', { name: 'new-checkout in development', checked: true }).waitFor();
  // The switch shows what is being written.
  await until('the undo has its reason', async () => (await lastNote()) === 'The wrong flag');

  const loosened = { body: { reasonRequired: false }, headers: { 'X-Change-Note': 'done' } };
  await world.management.request('PATCH', '/api/projects/shop/environments/development', loosened);
}, 60_000);

test('flags are archived with their reason, and restored with another', async () => {
  await world.management.createProject('depot');
  for (const key of ['old-1', 'old-2'])
    await world.management.putState('depot', 'production', key, { enabled: true });
  await world.management.request('PATCH', '/api/projects/depot/environments/production', {
    body: { reasonRequired: true },
  });
  const { page, check } = await world.open('/projects/depot/flags');
  await page.getByLabel('Select all listed flags').check();
  await page.getByRole('button', { name: 'Archive' }).click();
  const dialog = page.getByRole('dialog', { name: 'Archive 2 flags?' });
  await dialog.getByRole('button', { name: 'Archive' }).click();
  await dialog.getByText('Say why: the history keeps it.').waitFor();
  await check();
  await dialog.getByLabel('Reason').fill('Shipped');
  await dialog.getByRole('button', { name: 'Archive' }).click();
  await dialog.waitFor({ state: 'detached' });

  await page.getByRole('button', { name: 'Undo' }).click();
  const why = page.getByRole('dialog', { name: 'Reason for the change' });
  await why.getByLabel('Reason').fill('Too early');
  await why.getByRole('button', { name: 'Continue' }).click();
  await page.getByText('2 flags restored').waitFor();
  const answer = await world.management.request('GET', '/api/audit?project=depot&target=old-1&limit=4');
  const { entries } = answer as { entries: readonly { note?: string }[] };
  expect([...new Set(entries.map(({ note }) => note))]).toEqual(['Too early', 'Shipped', undefined]);
}, 60_000);

test('the bar of a draft does not cover the control that began it, and fills no low window', async () => {
  const { page, check } = await world.open(`${FLAG}?env=production`, { width: 390, height: 500 });
  const choice = card(page, 'production').getByRole('radio', { name: 'Percentage in production' });
  await choice.evaluate((radio) => radio.scrollIntoView({ block: 'end' }));
  await choice.press('Space');
  const bar = page.getByRole('form', { name: 'Unsaved change in production' });
  await bar.waitFor();
  const isSeen = () =>
    choice.evaluate((radio) => {
      const { left, top, width, height } = radio.getBoundingClientRect();
      return document.elementFromPoint(left + width / 2, top + height / 2) === radio;
    });
  await until('the control is above the bar', isSeen);
  await check();
  await page.setViewportSize({ width: 320, height: 256 });
  expect(await bar.evaluate((it) => getComputedStyle(it.parentElement ?? it).position)).toBe('static');
}, 60_000);

test('the bar of a draft stays at the foot of the window, and its reason is the only one', async () => {
  const { page, check } = await world.open(`${FLAG}?env=production`, { height: 640 });
  await card(page, 'production').getByRole('radio', { name: 'Percentage in production' }).check();
  const bar = page.getByRole('form', { name: 'Unsaved change in production' });
  const foot = async () => (await bar.boundingBox()) ?? { y: 0, height: 0 };

  for (const top of [0, 100_000]) {
    await page.evaluate(`document.querySelector('main').scrollTop = ${top}`);
    const { y, height } = await foot();
    expect(y).toBeGreaterThan(400);
    expect(y + height).toBeLessThanOrEqual(640);
  }
  await check();

  await bar.getByLabel('Reason for the change in production').fill('A trial');
  await bar.getByRole('button', { name: 'Save in production' }).click();
  const question = page.getByRole('dialog', { name: 'Change new-checkout in production?' });
  await question.getByText('A trial').waitFor();
  expect(await question.getByRole('textbox').count()).toBe(0);
  await check();
  await question.getByRole('button', { name: 'Change production' }).click();
  await bar.waitFor({ state: 'detached' });
  expect(await lastNote()).toBe('A trial');
}, 60_000);
