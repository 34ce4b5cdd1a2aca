import { dirname, join, relative } from 'node:path';
import pino from 'pino';
import type { OpenApiDocument } from '../../packages/server/src/http/docs/api-reference.ts';
import { createDocs } from '../../packages/server/src/http/docs/docs.ts';
import { ERROR_PAGES, GUIDES } from '../../packages/server/src/http/docs/pages.ts';
import { readSections, type Section } from './sections.ts';

/** The files of the site by their paths in it. The first page is `index.html`. */
export type Site = ReadonlyMap<string, string>;

/** An address without a server: links that begin with it stay in the site. */
const ORIGIN = 'http://site';

/**
 * The documentation as a static site: the pages that every server shows at `/docs`, drawn by the same code, with a list of all pages and a
 * search beside them. It works from a folder as well as from a web server, and loads nothing from elsewhere.
 */
export async function buildSite(openApi: OpenApiDocument): Promise<Site> {
  const docs = createDocs({ docsUrl: '/docs', log: pino({ enabled: false }), openApi: async () => openApi });
  const get = async (path: string, accept: string) => {
    const answer = await docs(new Request(`${ORIGIN}${path}`, { headers: { Accept: accept } }));
    if (answer?.status !== 200) throw new Error(`${path} is not a page of the documentation.`);
    return answer.text();
  };
  const { markdown: index } = JSON.parse(await get('/docs', 'application/json'));
  const groups = [...readGroups(index, 'docs/'), ...readGroups(GUIDES.get('operations') ?? '', '')];

  const files = new Map<string, string>();
  const sections: Section[] = [];
  const errors = Object.keys(ERROR_PAGES).map((code) => `errors/${code}`);
  for (const name of ['', ...GUIDES.keys(), 'api', 'errors', ...errors]) {
    const path = name === '' ? '/docs' : `/docs/${name}`;
    const shown = await get(path, 'text/html');
    const html = relink(name === '' ? await introduce(shown) : shown, path);
    const file = fileOf(path);
    files.set(file, frame(html, file, groups));
    sections.push(...readSections(html, file));
  }

  files.set('docs.css', await get('/docs/docs.css', '*/*'));
  files.set('site.css', await Bun.file(join(import.meta.dir, 'site.css')).text());
  files.set('search.js', await bundleSearch());
  files.set('search-data.js', `globalThis.halyardSections = ${JSON.stringify(sections)};\n`);
  files.set('openapi.json', JSON.stringify(openApi));
  return files;
}

/** Puts the first words of the README above the list on the first page. Of its links, those to pages stay. */
async function introduce(html: string): Promise<string> {
  const [start = ''] = (await Bun.file(join(import.meta.dir, '../../README.md')).text()).split('\n## ');
  const words = start
    .replaceAll(/\]\((docs\/[^)#]+)\.md(#[^)]*)?\)/g, ']($1$2)')
    .replaceAll(/\[([^\]]+)\]\((?!docs\/|[a-z]+:)[^)]*\)/g, '$1');
  return new HTMLRewriter()
    .on('main h1', { element: (element) => void element.replace(Bun.markdown.html(words), { html: true }) })
    .transform(html);
}

/** The file of an address: pages end in `.html`, so that a folder needs no server. */
function fileOf(pathname: string): string {
  if (pathname === '/docs') return 'index.html';
  if (pathname === '/api/openapi.json') return 'openapi.json';
  const name = pathname.replace(/^\/docs\//, '');
  return name.endsWith('.css') ? name : `${name}.html`;
}

/** Leads the links of a page to files. */
function relink(html: string, path: string): string {
  const page = fileOf(path);
  return new HTMLRewriter()
    .on('[href]', {
      element(element) {
        const target = new URL(element.getAttribute('href') ?? '', ORIGIN + path);
        if (target.origin !== ORIGIN) return;
        const file = fileOf(target.pathname);
        element.setAttribute(
          'href',
          file === page && target.hash !== '' ? target.hash : way(page, file) + target.hash,
        );
      },
    })
    .transform(html);
}

/** The relative way from one file to another. */
function way(from: string, to: string): string {
  return relative(dirname(from), to);
}

/** Pages that belong together, with a heading. */
interface Group {
  readonly title: string;
  readonly pages: readonly { readonly title: string; readonly file: string }[];
}

/** The groups of a page that lists others. `prefix` is what its links begin with. */
function readGroups(markdown: string, prefix: string): Group[] {
  return markdown
    .split(/^## /m)
    .slice(1)
    .map((text) => ({
      title: text.slice(0, text.indexOf('\n')),
      pages: [...text.matchAll(/^- \[(.+)\]\((.+)\.md\)$/gm)].map(([, title = '', name = '']) => ({
        title,
        file: `${name.slice(prefix.length)}.html`,
      })),
    }));
}

/** Puts the search above a page and the list of all pages beside it. */
function frame(html: string, page: string, groups: readonly Group[]): string {
  const home = way(page, 'index.html');
  const header = `<a href="${home}"><strong>Halyard</strong></a>
<search><input id="search" type="search" placeholder="Search" aria-label="Search the documentation" autocomplete="off"
 data-root="${home.replace('index.html', '')}"><ol id="found" aria-label="Found" hidden></ol></search>
<a href="#pages" class="narrow">All pages</a>`;

  const list = groups.map(({ title, pages }) => {
    const links = pages.map(({ title: text, file }) => {
      const current = file === page ? ' aria-current="page"' : '';
      return `<li><a href="${way(page, file)}"${current}>${Bun.escapeHTML(text)}</a></li>`;
    });
    return `<h2>${Bun.escapeHTML(title)}</h2>\n<ul>${links.join('\n')}</ul>`;
  });

  return new HTMLRewriter()
    .on('head', {
      element(element) {
        element.append(`<link rel="stylesheet" href="${way(page, 'site.css')}">\n`, { html: true });
        element.append(`<script src="${way(page, 'search.js')}" defer></script>\n`, { html: true });
      },
    })
    .on('header', { element: (element) => void element.setInnerContent(header, { html: true }) })
    .on('main', {
      element(element) {
        element.after(`\n<nav id="pages" aria-label="All pages">\n${list.join('\n')}\n</nav>`, {
          html: true,
        });
      },
    })
    .transform(html);
}

async function bundleSearch(): Promise<string> {
  const { outputs } = await Bun.build({
    entrypoints: [join(import.meta.dir, 'search.ts')],
    target: 'browser',
    format: 'iife',
    minify: true,
  });
  const [script] = outputs;
  if (script === undefined) throw new Error('The search of the site cannot be bundled.');
  return script.text();
}
