import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';

const RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

/**
 * Runs in every page, and lets `findBarriers` start axe there. The browser keeps what it has compiled of such a script for
 * the next page; of one that a test injects it keeps nothing, which costs 50 ms.
 */
export const AXE_AHEAD = `globalThis.startAxe = () => {
  if (typeof axe === 'undefined') {${readFileSync(Bun.resolveSync('axe-core/axe.min.js', import.meta.dir), 'utf8')}}
}`;

/** Menus are outside the landmarks of the page; the focus moves into them. */
const SET_ASIDE = { region: { enabled: false } };

interface Finding {
  readonly id: string;
  readonly help: string;
  readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[];
}

/** What can be used now. Behind an open question the page waits, and was looked at before. */
const IN_USE = `(() => {
  const dialogs = document.querySelectorAll('dialog:modal');
  return dialogs.length > 0 ? [...dialogs] : document;
})()`;

/** The accessibility problems that axe finds, one per line, in a page that has {@link AXE_AHEAD}. */
export async function findBarriers(page: Page): Promise<string[]> {
  const options = { runOnly: RULES, rules: SET_ASIDE, resultTypes: ['violations'] };
  // Runs in the page: axe's own answer, of which these members are used.
  const findings = (await page.evaluate(
    `startAxe(), axe.run(${IN_USE}, ${JSON.stringify(options)}).then(({ violations }) => violations)`,
  )) as readonly Finding[];

  return findings.flatMap(({ id, help, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${help}: ${html.slice(0, 300)} ${failureSummary ?? ''}`),
  );
}
