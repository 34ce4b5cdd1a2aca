import { expect, test } from 'bun:test';
import { sharedWorld } from './support/world.ts';

const world = sharedWorld(async ({ management }) => {
  await management.createProject('shop');
  await management.putState('shop', 'production', 'checkout', { enabled: false });
});

test('a plan is refused before sending, started with the guard, steered, interrupted by hand, and visible everywhere', async () => {
  const { page, check } = await world.open('/projects/shop/flags/checkout?env=production');
  const card = page.getByRole('region', { name: 'production', exact: true });
  await card.getByRole('button', { name: 'Roll out in steps' }).click();
  const dialog = page.getByRole('dialog', { name: 'Roll out checkout in steps' });
  await dialog.getByText('On for everyone by').waitFor();
  await check();

  // The same words as the server's, before anything is sent.
  await dialog.getByLabel('Percentage of step 2').fill('3');
  await dialog.getByRole('button', { name: 'Start plan' }).click();
  await dialog.getByText('Step 2 (3 %) must be higher than the 5 % of step 1.').waitFor();
  expect(await dialog.getByRole('radio', { name: 'My own' }).isChecked()).toBe(true);
  expect(await page.evaluate('document.activeElement.getAttribute("aria-label")')).toBe(
    'Percentage of step 2',
  );
  await dialog.getByRole('radio', { name: 'Usual' }).check();
  await dialog.getByLabel('Note').fill('New checkout');
  await dialog.getByRole('button', { name: 'Start plan' }).click();
  const guard = page.getByRole('dialog', { name: /^Change checkout in production/ });
  await guard.getByText('on, 5 %').waitFor();
  expect(await guard.getByLabel('Note').inputValue()).toBe('New checkout');
  await guard.getByRole('button', { name: 'Change production' }).click();

  const plan = card.getByRole('region', { name: 'Rollout plan' });
  const steps = plan.getByRole('list', { name: 'Steps' }).getByRole('listitem');
  await plan.getByText('Next: 25 %').waitFor();
  expect(await steps.count()).toBe(3);
  await card.getByText('5 %', { exact: true }).first().waitFor();
  await plan.getByText('“New checkout”').waitFor();

  await plan.getByRole('button', { name: 'Pause' }).click();
  await plan.getByText('paused', { exact: true }).waitFor();
  await plan.getByRole('button', { name: 'Go to 25 % now' }).click();
  await guard.getByRole('button', { name: 'Change production' }).click();
  await plan.getByText('Next: 100 %').waitFor();
  await plan.getByText('running', { exact: true }).waitFor();

  // Another person turns the flag off: the plan on the screen pauses by itself.
  await world.management.putState('shop', 'production', 'checkout', { enabled: false });
  await plan.getByText('The flag was changed outside the plan.').waitFor();
  await check();

  const { page: list } = await world.open('/projects/shop/flags');
  await list.getByRole('img', { name: 'Rollout plan 5 → 25 → 100 %, paused' }).waitFor();
  const { page: schedules, check: checkSchedules } = await world.open('/projects/shop/schedules');
  await schedules.getByRole('heading', { name: 'Rollout plans' }).waitFor();
  await checkSchedules();
  await schedules.getByRole('button', { name: 'Stop' }).click();
  await schedules.getByRole('button', { name: 'Stop plan' }).click();
  await schedules.getByRole('heading', { name: 'Rollout plans' }).waitFor({ state: 'detached' });
  // All other screens follow.
  await list.getByRole('img', { name: /^Rollout plan/ }).waitFor({ state: 'detached' });
  await plan.getByText('stopped', { exact: true }).waitFor();
  await card.getByRole('button', { name: 'Roll out in steps' }).waitFor();

  await page.getByRole('tab', { name: 'History' }).click();
  const history = page.getByRole('tabpanel', { name: 'History' });
  await history.getByText('step 2 of 3 of the plan by ada').waitFor();
  await history.getByText('stopped the rollout plan', { exact: true }).waitFor();
}, 90_000);
