import { expect, test } from 'bun:test';
import { openTestApp } from '../../packages/server/src/management/api/test-app.ts';
import { ENGINES } from '../../packages/server/src/storage/test-engines.ts';
import { buildSite } from './site.ts';

const [engine] = ENGINES;
if (engine === undefined) throw new Error('the tests have no engine');
const app = await openTestApp(engine);
const site = await buildSite((await app.call('GET', '/api/openapi.json', { token: null })).json);
await app.close();

const pages = [...site].filter(([name]) => name.endsWith('.html'));

test('every link of the site leads to a file and a heading that are there, from a folder too', () => {
  const problems: string[] = [];
  let checked = 0;
  for (const [name, html] of pages) {
    for (const [, target = ''] of html.matchAll(/(?:href|src)="([^"]*)"/g)) {
      if (/^https?:/.test(target)) continue;
      const url = new URL(target.replaceAll('&amp;', '&'), `file:///${name}`);
      const file = site.get(url.pathname.slice(1));
      const anchor = decodeURIComponent(url.hash.slice(1));
      if (file === undefined || (anchor !== '' && !file.includes(` id="${anchor}"`)))
        problems.push(`${name}: ${target}`);
      checked++;
    }
  }
  expect(problems).toEqual([]);
  expect(checked).toBeGreaterThan(pages.length * 50);
});

test('the search has every heading, with an address that is there and the words below it', () => {
  const sections = JSON.parse(
    (site.get('search-data.js') ?? '').replace(/^globalThis\.halyardSections = |;\n$/g, ''),
  );
  for (const { id, title } of sections) {
    const [file = '', anchor] = id.split('#');
    const html = site.get(file) ?? '';
    expect([id, title !== '', anchor === undefined || html.includes(` id="${anchor}"`)]).toEqual([
      id,
      true,
      true,
    ]);
  }
  expect(new Set(sections.map(({ id }: { id: string }) => id)).size).toBe(sections.length);
  const restore = sections.find(({ id }: { id: string }) => id === 'operations/backup.html');
  expect(restore.title).toBe('How do I back up and restore?');
  expect(restore.text).toContain('halyard backup');
});

test('the same sources give the same site, which loads nothing from elsewhere', () => {
  for (const [name, html] of pages) {
    expect([name, html.match(/(?:src|<link[^>]* href)="https?:[^"]*"/g)]).toEqual([name, null]);
    expect(html.match(/<script/g)).toHaveLength(1);
  }
  expect(site.get('search.js')).not.toContain('http');
});
