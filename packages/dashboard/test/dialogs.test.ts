import { expect, test } from 'bun:test';
import { sharedWorld } from './support/world.ts';

const PATIENCE_MS = 60_000;
const FLAGS = '/projects/shop/flags';

const world = sharedWorld(async ({ management }) => {
  await management.createProject('shop');
  await management.putState('shop', 'development', 'new-checkout', { enabled: true, value: 7 });
});

test.each([1280, 390])(
  'a dialog in which something was typed asks before Escape, × or a click outside discards it, %d px wide',
  async (width) => {
    const { page, check } = await world.open(FLAGS, { width });
    await page.getByRole('switch').first().waitFor();
    await page.keyboard.press('n');
    const dialog = page.getByRole('dialog', { name: 'New flag' });
    const description = dialog.getByLabel('Description');
    await description.fill('A long description that nobody wants to write again.');
    const question = page.getByRole('alertdialog', { name: 'Discard what you entered?' });
    const waysOut = [
      () => page.keyboard.press('Escape'),
      () => dialog.getByRole('button', { name: 'Close' }).click(),
      () => page.mouse.click(4, 4),
    ];
    for (const leave of waysOut) {
      await leave();
      await question.waitFor();
      await question.getByRole('button', { name: 'Keep editing' }).click();
      await question.waitFor({ state: 'detached' });
      expect(await description.inputValue()).toContain('A long description');
    }
    // Escape answers the question with no as well, however often it is pressed.
    for (let times = 0; times < 4; times++) await page.keyboard.press('Escape');
    expect(await description.inputValue()).toContain('A long description');
    await page.keyboard.press('Escape');
    await question.waitFor();
    await check();
    await question.getByRole('button', { name: 'Discard' }).click();
    await dialog.waitFor({ state: 'detached' });
    await page.close();
  },
  PATIENCE_MS,
);

test(
  'an untouched dialog closes immediately on Escape and on a click outside, but not when text is selected out of it',
  async () => {
    const { page } = await world.open(FLAGS);
    await page.getByRole('switch').first().waitFor();
    const dialog = page.getByRole('dialog', { name: 'New flag' });
    const waysOut = [() => page.keyboard.press('Escape'), () => page.mouse.click(4, 4)];
    for (const leave of waysOut) {
      await page.keyboard.press('n');
      await dialog.waitFor();
      await leave();
      await dialog.waitFor({ state: 'detached' });
    }
    await page.keyboard.press('n');
    const box = await dialog.getByLabel('Description').boundingBox();
    if (box === null) throw new Error('the field has no box');
    await page.mouse.move(box.x + 20, box.y + 10);
    await page.mouse.down();
    await page.mouse.move(4, 4);
    await page.mouse.up();
    await dialog.waitFor();
    await page.close();
  },
  PATIENCE_MS,
);
