import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';

const RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

/** As packed: half of what the package gives as its source, which each page has to parse. */
const AXE = readFileSync(Bun.resolveSync('axe-core/axe.min.js', import.meta.dir), 'utf8');

/** Menus are outside the landmarks of the page; the focus moves into them. */
const SET_ASIDE = { region: { enabled: false } };

interface Finding {
  readonly id: string;
  readonly help: string;
  readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[];
}

/** The accessibility problems that axe finds, one per line. */
export async function findBarriers(page: Page): Promise<string[]> {
  // The page's policy refuses scripts of others: the debugger, which is exempt from it, injects axe.
  if ((await page.evaluate('typeof axe')) === 'undefined') await page.evaluate(AXE);
  const options = { runOnly: RULES, rules: SET_ASIDE, resultTypes: ['violations'] };
  // Runs in the page: axe's own answer, of which these members are used.
  const findings = (await page.evaluate(
    `axe.run(document, ${JSON.stringify(options)}).then(({ violations }) => violations)`,
  )) as readonly Finding[];

  return findings.flatMap(({ id, help, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${help}: ${html.slice(0, 300)} ${failureSummary ?? ''}`),
  );
}
