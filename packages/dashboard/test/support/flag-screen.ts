import type { Page } from 'playwright-core';
import type { World } from './world.ts';

/** The address of the flag’s page, in the project that the test creates. */
export const FLAG = '/projects/shop/flags/new-checkout';

/** Its state in development, in the API. */
export const STATE = '/api/projects/shop/environments/development/flags/new-checkout';

/** JSON that `JSON.parse` and `JSON.stringify` would change. */
export const AWKWARD = '{"b":1e3,"10":1.0,"2":12345678901234567890}';

/** Sets the flag to its state at the beginning of a test: on, with the value 7. */
export async function resetFlag({ management }: World): Promise<void> {
  for (const environment of ['development', 'production']) {
    await management.putState('shop', environment, 'new-checkout', { enabled: true, value: 7 });
  }
}

/** The state as the server keeps it, as text. */
export async function stateText({ node }: World): Promise<string> {
  const headers = { authorization: `Bearer ${node.adminToken}` };
  return (await fetch(`${node.url}${STATE}`, { headers })).text();
}

/** Writes a state in a notation of the test's own. */
export async function writeRaw({ node }: World, state: string): Promise<void> {
  const headers = { authorization: `Bearer ${node.adminToken}`, 'content-type': 'application/json' };
  const response = await fetch(`${node.url}${STATE}`, { method: 'PUT', headers, body: state });
  if (!response.ok) throw new Error(await response.text());
}

/** The card of an environment. */
export function card(page: Page, environment = 'development') {
  return page.getByRole('region', { name: environment, exact: true });
}

/** The code editor, which replaces the plain field. */
export function editor(page: Page, environment = 'development') {
  return card(page, environment).locator('.cm-content');
}

/** Replaces the text in the editor. */
export async function write(page: Page, text: string): Promise<void> {
  await editor(page).press('Control+A');
  await page.keyboard.insertText(text);
}
