import { afterAll, expect, test } from 'bun:test';
import { launchBrowser } from './browser.ts';

const browser = await launchBrowser();

afterAll(() => browser.close());

test('a page has text, in a regular and in a bold font, whatever fonts the machine has', async () => {
  const page = await browser.newPage();
  await page.setContent('<span>Fair winds</span> <b>Fair winds</b>');
  const widths = await Promise.all(['span', 'b'].map((name) => page.locator(name).boundingBox()));
  const [regular, bold] = widths.map((box) => box?.width ?? 0);
  expect(regular).toBeGreaterThan(0);
  expect(bold).toBeGreaterThan(regular ?? 0);
});
