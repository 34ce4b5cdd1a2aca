import type { Page } from 'playwright-core';

/**
 * Goes to another screen as a link does: the page stays, which takes a third of the time of loading it. Resolves when the
 * screen before is gone. Within one screen, such as to another filter of a list, load the page instead.
 */
export async function visit(page: Page, path: string): Promise<void> {
  await page.locator('#screen h1').first().waitFor();
  await page.evaluate(`
    document.querySelector('#screen').firstElementChild.dataset.left = '';
    history.pushState(null, '', ${JSON.stringify(path)});
  `);
  await page.locator('[data-left]').waitFor({ state: 'detached' });
}
