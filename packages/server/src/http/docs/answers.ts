import { ERROR_CODES, ERROR_STATUS, type ErrorCode, isErrorCode } from '@halyard/protocol';
import { ServiceError } from '../../domain/errors.ts';
import { errorResponse, refuseMethod } from '../errors.ts';
import { pathOf, requestIdOf } from '../request.ts';
import { describeApi, type OpenApiDocument } from './api-reference.ts';
import stylesheet from './docs.css' with { type: 'text' };
import type { DocsOptions } from './docs.ts';
import { ERROR_PAGES, GUIDES, readErrorPage, readTitle } from './pages.ts';

/** A page as it can be answered: HTML for people, an object for programs. */
interface Page {
  readonly html: (root: string) => string;
  readonly data: object;
}

const HEADERS = {
  // Nothing but our own stylesheet may load or run on these pages.
  'Content-Security-Policy':
    "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Cache-Control': 'public, max-age=300',
  Vary: 'Accept',
} as const;

/** Answers every request under `/docs`. */
export function docsAnswers(options: DocsOptions): (request: Request) => Response | Promise<Response> {
  const rendered = new Map<string, string>();

  /** Pages never change while the process runs: each is rendered when it is first asked for. */
  function html(path: string, page: Page): string {
    const document = rendered.get(path) ?? page.html(rootFrom(path));
    rendered.set(path, document);
    return document;
  }

  return (request) => {
    const path = pathOf(request);
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      return refuseMethod(request.method, ['GET', 'HEAD'], contextOf(request, options));
    }
    if (path === '/docs/docs.css') return answer(200, 'text/css; charset=utf-8', stylesheet);
    if (path === '/docs/api' && options.openApi !== undefined)
      return referencePage(options.openApi).then((page) => show(request, page));
    if (path.endsWith('/') && (path === '/docs/api/' || findPage(path.slice(0, -1))))
      return withoutSlash(path);
    return show(request, findPage(path));
  };

  function show(request: Request, page: Page | undefined): Response {
    const path = pathOf(request);
    const wantsJson = acceptsOnlyJson(request.headers.get('Accept') ?? '');
    if (page === undefined) {
      if (wantsJson) return errorResponse(missingPage(), contextOf(request, options));
      return answer(
        404,
        'text/html; charset=utf-8',
        renderPage(missingPageText(rootFrom(path)), rootFrom(path)),
      );
    }
    if (wantsJson) return json(200, page.data);
    return answer(200, 'text/html; charset=utf-8', html(path, page));
  }
}

async function referencePage(openApi: () => Promise<OpenApiDocument>): Promise<Page> {
  const document = await openApi();
  return { html: (root) => renderPage(describeApi(document, root), root), data: document };
}

function findPage(path: string): Page | undefined {
  if (path === '/docs') return describe(indexText());
  if (path === '/docs/errors') return written(errorListText(), { errors: ERROR_CODES.map(summarize) });
  const code = /^\/docs\/errors\/([^/]+)$/.exec(path)?.[1];
  if (code !== undefined) return findErrorPage(code);
  const guide = GUIDES.get(path.slice('/docs/'.length));
  return guide === undefined ? undefined : describe(guide);
}

function findErrorPage(code: string): Page | undefined {
  if (!isErrorCode(code)) return undefined;
  return written(ERROR_PAGES[code], readErrorPage(code, ERROR_PAGES[code]));
}

function describe(markdown: string): Page {
  return written(markdown, { title: readTitle(markdown), markdown });
}

function written(markdown: string, data: object): Page {
  return { html: (root) => renderPage(markdown, root), data };
}

function summarize(code: ErrorCode): { error: ErrorCode; status: number; title: string } {
  const { error, status, title } = readErrorPage(code, ERROR_PAGES[code]);
  return { error, status, title };
}

/** The pages in groups, as the index lists them. */
const INDEX: Readonly<Record<string, readonly string[]>> = {
  'Use flags': [
    'getting-started',
    'languages',
    'moving',
    'client',
    'client-guide',
    'client-python',
    'client-go',
    'client-java',
  ],
  'Run a server': ['operations', 'growing', 'performance', 'architecture'],
  'Rely on it': ['support', 'security'],
  'Look things up': ['specification', 'client-api', 'api', 'errors', 'glossary'],
};

function indexText(): string {
  const groups = Object.entries(INDEX).map(
    ([group, names]) =>
      `## ${group}\n\n${names.map((name) => `- [${titleOf(name)}](docs/${name}.md)\n`).join('')}`,
  );
  return `# Documentation\n\n${groups.join('\n')}`;
}

function titleOf(name: string): string {
  const guide = GUIDES.get(name);
  if (guide !== undefined) return readTitle(guide);
  return name === 'api' ? 'API reference' : 'Error codes';
}

function errorListText(): string {
  return `# Error codes\n\n${errorTable('./')}`;
}

function missingPageText(root: string): string {
  return `# Page not found\n\nThese error codes have a page.\n\n${errorTable(root)}`;
}

function errorTable(root: string): string {
  const rows = ERROR_CODES.map((code) => {
    const title = readTitle(ERROR_PAGES[code]).replace(`${code}: `, '');
    return `| [\`${code}\`](${root}errors/${code}.md) | ${ERROR_STATUS[code]} | ${title} |`;
  });
  return `| Code | Status | Meaning |\n|---|---|---|\n${rows.join('\n')}\n`;
}

function missingPage(): ServiceError {
  return new ServiceError(
    'not_found',
    `This page does not exist. Error codes with a page: ${ERROR_CODES.join(', ')}.`,
  );
}

function contextOf(request: Request, options: DocsOptions) {
  return { ...options, requestId: requestIdOf(request) };
}

/** Redirects an address with a slash at the end: relative links on the page would break. */
function withoutSlash(path: string): Response {
  const name = path.split('/').at(-2) ?? 'docs';
  return new Response(null, { status: 308, headers: { Location: `../${name}` } });
}

/** The relative way from a page back to `/docs/`. */
function rootFrom(path: string): string {
  const depth = path.split('/').length - 2;
  return depth === 0 ? 'docs/' : depth === 1 ? './' : '../'.repeat(depth - 1);
}

/** Whether the caller is a program: it accepts JSON and does not also accept HTML, as every browser does. */
function acceptsOnlyJson(accept: string): boolean {
  return accept.includes('application/json') && !accept.includes('text/html');
}

function json(status: number, body: object): Response {
  return answer(status, 'application/json', JSON.stringify(body));
}

function answer(status: number, contentType: string, body: string): Response {
  return new Response(body, { status, headers: { ...HEADERS, 'Content-Type': contentType } });
}

const HEADINGS = { headings: { ids: true } } as const;

/**
 * Renders one page of Markdown as a whole HTML document. `root` leads from the page to `/docs/` (`../` on a page of
 * an error code), so that the pages also work behind a proxy that serves them under a longer path.
 */
function renderPage(markdown: string, root: string): string {
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
<a href="${root}languages">Languages</a>
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

/** Adds an address to every numbered clause of the specification: `specification#S4.2`. */
function linkClauses(html: string): string {
  return html.replace(/<strong>(S\d+\.\d+)<\/strong>/g, '<strong id="$1"><a href="#$1">$1</a></strong>');
}
