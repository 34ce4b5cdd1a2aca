import { describe, expect, test } from 'bun:test';

import { visit } from './support/visit.ts';
import { sharedWorld } from './support/world.ts';

describe('schedules', () => {
  const world = sharedWorld(async ({ management }) => {
    await management.createProject('shop');
    await management.putState('shop', 'production', 'checkout', { enabled: false });
  });

  test('a schedule is created with the guard, listed and canceled', async () => {
    const { page, check } = await world.open('/projects/shop/schedules');
    await page.getByRole('heading', { name: 'No scheduled changes' }).waitFor();
    await check();
    await page.keyboard.press('n');
    const dialog = page.getByRole('dialog', { name: 'New schedule' });
    await dialog.getByLabel('Environment').and(page.locator(':focus')).waitFor();
    await dialog.getByLabel('Environment').selectOption('production');
    await dialog.getByRole('button', { name: 'Schedule', exact: true }).click();
    await dialog.getByText('Select a flag').waitFor();
    await check();
    await dialog.getByLabel('Flag 1', { exact: true }).fill('checkout');
    await dialog.getByLabel('Change of flag 1').selectOption('rollout');
    await dialog.getByLabel('Percentage of flag 1').fill('12.3456');
    await dialog.getByText('at most three decimals').waitFor();
    await dialog.getByLabel('Percentage of flag 1').fill('12,5');
    await dialog.getByLabel('Reason').fill('After the announcement');
    await dialog.getByRole('button', { name: 'Schedule', exact: true }).click();
    const guard = page.getByRole('dialog', { name: /^Schedule checkout in production for .+\?$/ });
    await guard.locator('ins', { hasText: '12.5 %' }).waitFor();
    await guard.getByRole('button', { name: 'Schedule for production' }).click();

    const upcoming = page.getByRole('region', { name: 'Next seven days' });
    const line = upcoming.getByRole('button', {
      name: /^checkout in production .*12\.5 %, .*planned by ada/,
    });
    await line.focus();
    await page.keyboard.press('Tab');
    await page.keyboard.press('Shift+Tab');
    const why = page.getByRole('tooltip');
    await why.getByText('“After the announcement”').waitFor();
    await check();
    await page.keyboard.press('Escape');
    await why.waitFor({ state: 'detached' });
    await page.keyboard.press('Enter');
    const item = page.getByRole('listitem').filter({ hasText: '“After the announcement”' }).last();
    await item.getByText('turns on, rolls out to 12.5 %').waitFor();
    await item.getByText('pending').waitFor();
    await check();
    await item.getByRole('button', { name: /^Cancel/ }).click();
    await page.getByRole('button', { name: 'Cancel schedule' }).click();
    const past = page.getByRole('region', { name: 'Past changes' });
    await past.getByText('canceled').first().waitFor();
    expect(await past.getByRole('listitem').first().getByRole('button').count()).toBe(0);
  }, 60_000);

  test('every flag of a large project can be found, and a rollout can be set without turning the flag on', async () => {
    const keys = Array.from({ length: 600 }, (_, index) => `flag-${String(index).padStart(3, '0')}`);
    await world.management.createProject('large');
    await world.management.change(
      'large',
      'development',
      keys.map((key) => ({ key, state: { enabled: false } })),
    );
    const { page } = await world.open('/projects/large/schedules');
    await page.getByRole('heading', { name: 'No scheduled changes' }).waitFor();
    await page.keyboard.press('n');
    const dialog = page.getByRole('dialog', { name: 'New schedule' });
    await dialog.getByLabel('Flag 1', { exact: true }).fill('599');
    await page.getByRole('option', { name: 'flag-599' }).waitFor();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    expect(await dialog.getByLabel('Flag 1', { exact: true }).inputValue()).toBe('flag-599');
    await dialog.getByLabel('Environment').selectOption('development');
    await dialog.getByLabel('Change of flag 1').selectOption('only set rollout to');
    await dialog.getByLabel('Percentage of flag 1').fill('25');
    await dialog.getByRole('button', { name: 'Schedule', exact: true }).click();
    await page.getByRole('button', { name: /^flag-599 in development 25 %, / }).click();
    await page.getByText('rolls out to 25 %', { exact: true }).waitFor();
    const { schedules } = (await world.management.request('GET', '/api/projects/large/schedules')) as {
      schedules: { changes: unknown }[];
    };
    expect(schedules[0]?.changes).toEqual([{ key: 'flag-599', patch: { rolloutPct: 25 } }]);

    const changes = ['flag-001', 'flag-002'].map((key) => ({ key, patch: { enabled: true } }));
    const dueAt = new Date(Date.now() + 86_400_000).toISOString();
    await world.management.request('POST', '/api/projects/large/schedules', {
      body: { environment: 'development', dueAt, changes },
    });
    const line = page.getByRole('button', { name: /^flag-001, flag-002 in development/ });
    await line.getByText('+1', { exact: true }).waitFor();
  }, 60_000);

  test('a schedule of a deleted environment is shown as canceled', async () => {
    await world.management.createEnvironment('shop', 'preview');
    await world.management.request('POST', '/api/projects/shop/schedules', {
      body: {
        environment: 'preview',
        dueAt: new Date(Date.now() + 86_400_000).toISOString(),
        changes: [{ key: 'checkout', patch: { enabled: true } }],
        note: 'For the preview',
      },
    });
    await world.management.deleteEnvironment('shop', 'preview');
    const { page } = await world.open('/projects/shop/schedules');
    const item = page.getByRole('listitem').filter({ hasText: 'For the preview' });
    await item.getByText('canceled').first().waitFor();
    await item.getByText('a deleted environment').waitFor();
    await item.getByText('The environment "preview" was deleted.').waitFor();
    expect(await item.getByRole('button').count()).toBe(0);
  }, 60_000);

  test('a schedule that runs is shown as done', async () => {
    await world.management.request('POST', '/api/projects/shop/schedules', {
      body: {
        environment: 'production',
        dueAt: new Date(Date.now() + 4_000).toISOString(),
        changes: [{ key: 'checkout', patch: { enabled: true } }],
        note: 'In a moment',
      },
    });
    const { page } = await world.open('/projects/shop/schedules');
    const item = page.getByRole('listitem').filter({ hasText: 'In a moment' });
    await page.getByRole('region', { name: 'Past changes' }).waitFor();
    await item.getByText('done').first().waitFor();
    const { flags } = await world.management.states('shop', 'production');
    expect(flags.find(({ key }) => key === 'checkout')?.state.enabled).toBe(true);
    await page.getByRole('button', { name: /^failed/ }).click();
    await page.getByText('No failed schedules.').waitFor();
    expect(page.url()).toContain('status=failed');
    await visit(page, '/projects/shop/history');
    await page.getByText('“Scheduled: In a moment”').waitFor();
  }, 60_000);

  test('a step that the rollout has passed outside the plan is shown as skipped at once', async () => {
    await world.management.createProject('skips');
    await world.management.putState('skips', 'staging', 'checkout', { enabled: false });
    const steps = [
      { rolloutPct: 5 },
      { rolloutPct: 75, waitMinutes: 60 },
      { rolloutPct: 100, waitMinutes: 60 },
    ];
    const body = { flag: 'checkout', environment: 'staging', steps };
    await world.management.request('POST', '/api/projects/skips/rollouts', { body });
    await world.management.putState('skips', 'staging', 'checkout', { enabled: true, rolloutPct: 80 });
    const { page } = await world.open('/projects/skips/flags/checkout?env=staging');
    const shown = page.getByRole('region', { name: 'Rollout plan' }).getByRole('list', { name: 'Steps' });
    await shown.locator('[data-step="skipped"]', { hasText: '75 %' }).waitFor();
    await shown.locator('[data-step="next"]', { hasText: '100 %' }).waitFor();
    await page.getByRole('button', { name: 'Go to 100 % now' }).waitFor();
  }, 60_000);

  test('a second press of the button that went to a step does not go to the one after it', async () => {
    await world.management.createProject('presses');
    await world.management.putState('presses', 'staging', 'checkout', { enabled: false });
    const steps = [5, 25, 100].map((rolloutPct) => ({
      rolloutPct,
      ...(rolloutPct > 5 && { waitMinutes: 60 }),
    }));
    const body = { flag: 'checkout', environment: 'staging', steps };
    await world.management.request('POST', '/api/projects/presses/rollouts', { body });
    const { page } = await world.open('/projects/presses/flags/checkout?env=staging');
    const go = page.getByRole('button', { name: /^Go to/ });
    await go.click();
    await page.getByRole('button', { name: 'Go to 100 % now' }).waitFor();
    await page.keyboard.press('Enter');
    await page.locator('button:enabled', { hasText: 'Go to 100 % now' }).waitFor();
    const { flags } = await world.management.states('presses', 'staging');
    expect(flags.map(({ state }) => state.rolloutPct)).toEqual([25]);
    await go.click();
    await page.getByText('done', { exact: true }).first().waitFor();
  }, 60_000);

  test('a plan is refused before sending, started with the guard, steered, interrupted by hand, and visible everywhere', async () => {
    await world.management.createProject('plans');
    await world.management.putState('plans', 'production', 'checkout', { enabled: false });
    const { page, check } = await world.open('/projects/plans/flags/checkout?env=production', {
      expected: /409/,
    });
    const card = page.getByRole('region', { name: 'production', exact: true });
    await card.getByRole('button', { name: 'Roll out in steps' }).click();
    const dialog = page.getByRole('dialog', { name: 'Roll out checkout in steps' });
    await dialog.getByText('On for everyone by').waitFor();
    await dialog.getByText('The flag is off. The first step turns it on.').waitFor();
    await check();

    // The same words as the server's, before anything is sent.
    await dialog.getByLabel('Percentage of step 2').fill('3');
    await dialog.getByRole('button', { name: 'Start plan' }).click();
    await dialog.getByText('Step 2 (3 %) must be higher than the 5 % of step 1.').waitFor();
    expect(await dialog.getByRole('radio', { name: 'Custom' }).isChecked()).toBe(true);
    expect(await page.evaluate('document.activeElement.getAttribute("aria-label")')).toBe(
      'Percentage of step 2',
    );
    await dialog.getByRole('radio', { name: 'Usual' }).check();
    await dialog.getByLabel('Reason').fill('New checkout');
    await dialog.getByRole('button', { name: 'Start plan' }).click();
    const guard = page.getByRole('dialog', { name: /^Change checkout in production/ });
    const listed = guard.getByRole('region', { name: 'Steps of the plan of checkout' });
    await listed.getByText('now off').waitFor();
    expect(await listed.getByRole('listitem').allInnerTexts()).toEqual([
      ...[expect.stringMatching(/^5 %\s+now$/), expect.stringMatching(/^25 %\s+\S+ \d/)],
      expect.stringMatching(/^Everyone\s+\S+ \d/),
    ]);
    await guard.getByText('New checkout').waitFor();
    await guard.getByRole('button', { name: 'Change production' }).click();

    const plan = card.getByRole('region', { name: 'Rollout plan' });
    const steps = plan.getByRole('list', { name: 'Steps' }).getByRole('listitem');
    await plan.getByText('Next: 25 %').waitFor();
    expect(await steps.count()).toBe(3);
    await card.getByText('5 %', { exact: true }).first().waitFor();
    await plan.getByText('“New checkout”').waitFor();
    const scheduled = page.getByRole('region', { name: 'Scheduled', exact: true });
    await scheduled.getByText('Rollout plan: goes to 25 %').waitFor();
    expect(await scheduled.getByText('No scheduled changes').count()).toBe(0);

    // The history finds the note, shows the step once, and says what a revert does to the plan.
    const { page: past, check: checkPast } = await world.open('/projects/plans/history?q=new%20checkout');
    const start = past.locator('[data-seq]').filter({ hasText: 'started a rollout plan for' });
    await start.getByText('“New checkout”').waitFor();
    await start.getByRole('button', { name: /^Details/ }).click();
    await start.getByText('step 1 of 3', { exact: true }).waitFor();
    expect(await start.getByText('5 %', { exact: true }).count()).toBe(1);
    await start.getByRole('button', { name: /^Revert/ }).click();
    const revert = past.getByRole('dialog', { name: /^Revert change/ });
    await revert.getByText('This pauses the rollout plan of checkout in production.').waitFor();
    await checkPast();
    await past.close();

    await plan.getByRole('button', { name: 'Pause' }).click();
    await plan.getByText('paused', { exact: true }).waitFor();
    await plan.getByRole('button', { name: 'Go to 25 % now' }).click();
    await guard.getByRole('button', { name: 'Change production' }).click();
    await plan.getByText('Next: 100 %').waitFor();
    await plan.getByText('running', { exact: true }).waitFor();

    // A change by hand says what it does to the plan, and a second schedule is refused unless it is meant.
    await card.getByRole('switch', { name: 'checkout in production' }).click();
    const byHand = page.getByRole('dialog', { name: 'Change checkout in production?' });
    await byHand.getByText('This pauses the rollout plan of checkout.').waitFor();
    await check();
    await byHand.getByRole('button', { name: 'Cancel' }).click();
    await card.getByRole('button', { name: 'More for production' }).click();
    await page.getByRole('menuitem', { name: 'Schedule a change…' }).click();
    const change = page.getByRole('dialog', { name: 'Schedule a change of checkout' });
    const planned = page.getByRole('dialog', { name: /^Schedule checkout in production/ });
    for (const isMeant of [false, true]) {
      if (isMeant) await change.getByLabel('Do it anyway').check();
      await change.getByRole('button', { name: 'Schedule', exact: true }).click();
      await planned.getByRole('button', { name: 'Schedule for production' }).click();
      if (!isMeant) await change.getByText('This flag has a rollout plan there').waitFor();
    }
    await change.waitFor({ state: 'detached' });
    await scheduled.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('button', { name: 'Cancel schedule' }).click();
    await page.getByText('Schedule canceled').first().waitFor();

    // Another person turns the flag off: the plan on the screen pauses by itself.
    await world.management.putState('plans', 'production', 'checkout', { enabled: false });
    await plan.getByText('The flag was changed outside the plan.').waitFor();
    await card.getByText('Everyone when on').waitFor();
    await check();

    const { page: list } = await world.open('/projects/plans/flags');
    await list.getByRole('img', { name: 'Rollout plan 5, 25, 100 %, paused' }).waitFor();
    const { page: schedules, check: checkSchedules } = await world.open('/projects/plans/schedules');
    const line = schedules.getByRole('button', { name: /^checkout in production.*paused/ });
    await schedules.getByText('canceled').first().waitFor();
    await line.click();
    await checkSchedules();
    await schedules.getByRole('button', { name: 'Stop' }).click();
    await schedules.getByRole('button', { name: 'Stop plan' }).click();
    await line.waitFor({ state: 'detached' });
    // All other screens follow.
    await list.getByRole('img', { name: /^Rollout plan/ }).waitFor({ state: 'detached' });
    await plan.getByText('stopped', { exact: true }).waitFor();
    await card.getByRole('button', { name: 'Roll out in steps' }).waitFor();

    await page.getByRole('tab', { name: 'History' }).click();
    const history = page.getByRole('tabpanel', { name: 'History' });
    await history.getByText('step 2 of 3', { exact: true }).waitFor();
    await history.getByText('stopped the rollout plan', { exact: true }).waitFor();
  }, 90_000);
});
