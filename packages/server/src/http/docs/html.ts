import { readTitle } from './error-page.ts';

const HEADINGS = { headings: { ids: true } } as const;

/**
 * Renders one page of Markdown as a whole HTML document. `root` leads from the page to `/docs/` (`../` on a page of
 * an error code), so that the pages also work behind a proxy that serves them under a longer path.
 */
export function renderPage(markdown: string, root: string): string {
  const body = linkClauses(Bun.markdown.html(linkPages(markdown), HEADINGS));
  const title = readTitle(markdown);
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${Bun.escapeHTML(title)} · Halyard</title>
<link rel="stylesheet" href="${root}docs.css">
</head>
<body>
<header><nav aria-label="Documentation">
<a href="${root}../docs"><strong>Halyard</strong></a>
<a href="${root}getting-started">Start</a>
<a href="${root}client">Client</a>
<a href="${root}api">API</a>
<a href="${root}specification">Specification</a>
<a href="${root}errors">Errors</a>
<a href="${root}operations">Operations</a>
<a href="${root}architecture">Architecture</a>
<a href="${root}glossary">Glossary</a>
</nav></header>
<main>
${body}</main>
</body>
</html>
`;
}

/** Links between the files end in `.md`, the addresses they are served under do not. */
function linkPages(markdown: string): string {
  return markdown.replace(/\]\((?![a-z]+:)([^)#]+)\.md(#[^)]*)?\)/g, ']($1$2)');
}

/** Gives every numbered clause of the specification an address of its own: `specification#S4.2`. */
function linkClauses(html: string): string {
  return html.replace(/<strong>(S\d+\.\d+)<\/strong>/g, '<strong id="$1"><a href="#$1">$1</a></strong>');
}
