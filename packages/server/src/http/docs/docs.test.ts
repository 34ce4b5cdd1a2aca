import { describe, expect, test } from 'bun:test';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ERROR_CODES, ERROR_STATUS } from '@halyard/protocol';
import pino from 'pino';
import { openTestApp } from '../../management/api/test-app.ts';
import { ENGINES } from '../../storage/test-engines.ts';
import type { OpenApiDocument } from './api-reference.ts';
import { createDocs } from './docs.ts';
import { ERROR_PAGES, GUIDES } from './pages.ts';

const ERRORS_FOLDER = join(import.meta.dir, '../../../../../docs/errors');
const JSON_ONLY = { headers: { Accept: 'application/json' } };
const BROWSER = { headers: { Accept: 'text/html,application/xhtml+xml,application/json;q=0.9,*/*;q=0.8' } };

const openApi = await ownDocument();
const docs = createDocs({
  docsUrl: 'https://flags.example.com/docs',
  log: pino({ enabled: false }),
  openApi: async () => openApi,
});

/** The document of the real management interface. */
async function ownDocument(): Promise<OpenApiDocument> {
  const [engine] = ENGINES;
  if (engine === undefined) throw new Error('the tests have no engine');
  const app = await openTestApp(engine);
  const { json } = await app.call('GET', '/api/openapi.json', { token: null });
  await app.close();
  return json;
}

async function get(path: string, init: RequestInit = BROWSER): Promise<Response> {
  const response = await docs(new Request(`http://localhost${path}`, init));
  if (response === undefined) throw new Error(`${path} is not the documentation's`);
  return response;
}

describe('the pages of the error codes', () => {
  test('every code has a page, and every page has a code', () => {
    const files = readdirSync(ERRORS_FOLDER).map((file) => file.replace(/\.md$/, ''));
    expect(files.sort()).toEqual([...ERROR_CODES].sort());
  });

  for (const code of ERROR_CODES) {
    test(`${code}: the page names the status that the server answers with`, () => {
      expect(ERROR_PAGES[code]).toBe(readFileSync(join(ERRORS_FOLDER, `${code}.md`), 'utf8'));
      expect(ERROR_PAGES[code]).toStartWith(`# \`${code}\`: `);
      expect(ERROR_PAGES[code]).toContain(`**HTTP status ${ERROR_STATUS[code]}**`);
    });

    test(`${code}: the example body is one the server could send`, () => {
      const body = /```json\n([\s\S]*?)```/.exec(ERROR_PAGES[code])?.[1] ?? '';
      expect(JSON.parse(body)).toEqual({
        error: code,
        message: expect.any(String),
        docs: `https://flags.example.com/docs/errors/${code}`,
      });
    });

    test(`${code}: browsers get HTML, programs get the sections as JSON`, async () => {
      const html = await get(`/docs/errors/${code}`);
      expect(html.status).toBe(200);
      expect(html.headers.get('Content-Type')).toBe('text/html; charset=utf-8');
      expect(await html.text()).toContain(`HTTP status ${ERROR_STATUS[code]}`);
      const json = await get(`/docs/errors/${code}`, JSON_ONLY);
      expect(json.status).toBe(200);
      expect(await json.json()).toEqual({
        error: code,
        status: ERROR_STATUS[code],
        title: expect.stringContaining(code),
        cause: expect.any(String),
        fix: expect.any(String),
        example: expect.stringContaining('curl'),
        client: expect.any(String),
      });
    });
  }

  for (const code of ['no_such_code', 'constructor', '__proto__', 'Invalid_Api_Key', '%20', 'a/b']) {
    test(`an unknown code (${code}) answers 404 with the list of codes`, async () => {
      const html = await get(`/docs/errors/${code}`);
      expect(html.status).toBe(404);
      const text = await html.text();
      for (const known of ERROR_CODES) expect(text).toContain(`errors/${known}"`);
      const json = await get(`/docs/errors/${code}`, JSON_ONLY);
      expect(json.status).toBe(404);
      expect(await json.json()).toEqual({
        error: 'not_found',
        message: expect.stringContaining('invalid_api_key'),
        docs: 'https://flags.example.com/docs/errors/not_found',
      });
    });
  }
});

describe('the guides', () => {
  test('each is served as HTML and as JSON', async () => {
    for (const [name, markdown] of GUIDES) {
      expect((await (await get(`/docs/${name}`)).text()).toLowerCase()).toStartWith('<!doctype html>');
      expect(await (await get(`/docs/${name}`, JSON_ONLY)).json()).toMatchObject({
        title: expect.any(String),
        markdown,
      });
    }
  });

  test('each question about operations is listed as the title of its page', () => {
    const files = readdirSync(join(ERRORS_FOLDER, '../operations')).map((file) => file.replace(/\.md$/, ''));
    const questions = [
      ...(GUIDES.get('operations') ?? '').matchAll(/^- \[(.+)\]\(operations\/(.+)\.md\)$/gm),
    ];
    expect(questions.map(([, , name]) => name).sort()).toEqual(files.sort() as (string | undefined)[]);
    for (const [, question, name] of questions) {
      expect(GUIDES.get(`operations/${name}`)).toStartWith(`# ${question}\n`);
    }
  });

  test('every clause of the specification has an address', async () => {
    const html = await (await get('/docs/specification')).text();
    const clauses = [...(GUIDES.get('specification') ?? '').matchAll(/\*\*(S\d+\.\d+)\*\*/g)].map(
      ([, id]) => id,
    );
    expect(clauses.length).toBeGreaterThan(80);
    for (const clause of clauses) expect(html).toContain(`id="${clause}"`);
  });
});

describe('the API reference', () => {
  const operations = Object.entries(openApi.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  );

  test('has every operation of the OpenAPI document, with an address of its own', async () => {
    const html = await (await get('/docs/api')).text();
    expect(operations.length).toBeGreaterThan(60);
    for (const { method, path, operation } of operations) {
      expect(html).toContain(`<code>${method} ${path}</code>`);
      expect(html.split(` id="${operation.operationId}"`)).toHaveLength(2);
      for (const { name } of operation.parameters ?? []) {
        expect(html).toContain(`<code>${name}</code>`);
      }
    }
    for (const tag of new Set(operations.map(({ operation }) => operation.tags[0] ?? ''))) {
      expect(html).toContain(`${tag}</h2>`);
    }
  });

  test('links schemas, and the codes of refusals to their pages', async () => {
    const html = await (await get('/docs/api')).text();
    expect(html).toContain('<a href="./errors/flag_archived"><code>flag_archived</code></a>');
    for (const name of Object.keys(openApi.components.schemas)) {
      expect(html.split(` id="${name}"`)).toHaveLength(2);
    }
    expect(html).not.toMatch(/undefined|\[object|NaN/);
  });

  test('gives a program the document itself', async () => {
    expect(await (await get('/docs/api', JSON_ONLY)).json()).toEqual(JSON.parse(JSON.stringify(openApi)));
  });
});

describe('every page', () => {
  const paths = [
    '/docs',
    '/docs/errors',
    '/docs/api',
    ...[...GUIDES.keys()].map((name) => `/docs/${name}`),
    ...ERROR_CODES.map((code) => `/docs/errors/${code}`),
  ];

  const ELSEWHERE =
    /^https:\/\/(bun\.sh|developer\.mozilla\.org|github\.com\/open-feature|openfeature\.dev|semver\.org|flags-sdk\.dev|www\.standardwebhooks\.com)(\/|$)/;

  test('links only to pages and headings that exist, and loads nothing from other hosts', async () => {
    for (const path of paths) {
      const html = await (await get(path)).text();
      expect(html).not.toMatch(/<(script|img|iframe|style)|style=|url\(/);
      for (const [, target = ''] of html.matchAll(/(?:href|src)="([^"]+)"/g)) {
        // Links that people may follow; nothing is loaded from there.
        if (ELSEWHERE.test(target) && html.includes(`<a href="${target}"`)) continue;
        const url = new URL(target.replaceAll('&amp;', '&'), `http://localhost${path}`);
        expect(url.origin).toBe('http://localhost');
        if (path === '/docs/api' && url.pathname === '/api/openapi.json') continue;
        const linked = await get(url.pathname);
        expect({ path, target, status: linked.status }).toEqual({ path, target, status: 200 });
        if (url.hash !== '') expect(await linked.text()).toContain(`id="${url.hash.slice(1)}"`);
      }
    }
  });

  test('is served under a policy that forbids scripts and foreign content', async () => {
    for (const path of [...paths, '/docs/docs.css', '/docs/none']) {
      const policy = (await get(path)).headers.get('Content-Security-Policy');
      expect(policy).toStartWith("default-src 'none'; style-src 'self'");
      expect((await get(path)).headers.get('X-Content-Type-Options')).toBe('nosniff');
    }
  });

  test('is also found with a trailing slash', async () => {
    for (const path of paths) {
      const response = await get(`${path}/`);
      expect(response.status).toBe(308);
      const location = new URL(response.headers.get('Location') ?? '', `http://localhost${path}/`);
      expect(location.pathname).toBe(path);
    }
  });
});

test('the stylesheet is served as such', async () => {
  const response = await get('/docs/docs.css');
  expect(response.headers.get('Content-Type')).toBe('text/css; charset=utf-8');
  expect(await response.text()).toContain('prefers-color-scheme: dark');
});

test('other methods are rejected with the allowed ones', async () => {
  const response = await get('/docs/errors', { method: 'POST' });
  expect(response.status).toBe(405);
  expect(response.headers.get('Allow')).toBe('GET, HEAD');
  expect(await response.json()).toMatchObject({ error: 'method_not_allowed' });
});

test('leaves paths outside the documentation to other handlers', () => {
  for (const path of ['/', '/doc', '/docsx', '/v1/docs']) {
    expect(docs(new Request(`http://localhost${path}`))).toBeUndefined();
  }
});
