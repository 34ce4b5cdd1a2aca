import { beforeAll, expect, test } from 'bun:test';
import { join } from 'node:path';
import { buildDashboard } from '../../../scripts/dashboard/build.ts';
import { type AssetPack, readAssetPack } from '../../server/src/http/dashboard/assets.ts';

const BUDGET_BYTES = 180 * 1024;

let pack: AssetPack;
beforeAll(async () => {
  await buildDashboard();
  pack = readAssetPack(await Bun.file(join(import.meta.dir, '../dist/dashboard.pack')).bytes());
}, 60_000);

function textOf(path: string): string {
  return new TextDecoder().decode(pack.get(path)?.forms.get('identity'));
}

/** The files that a browser fetches before it shows the list of flags: those of the page, and their static imports. */
function filesOfFirstLoad(): Set<string> {
  const found = new Set(['/']);
  for (const file of found) {
    const text = textOf(file);
    const named = file === '/' ? text.matchAll(/(?:src|href)="([^"]+)"/g) : text.matchAll(STATIC_IMPORT);
    for (const [, path = ''] of named) found.add(path);
  }
  return found;
}

const STATIC_IMPORT = /(?:from|import)\s*"(\/assets\/[^"]+)"/g;

test('the first load is at most 180 KB in at most eight files, and a screen is one file and the shared one', () => {
  const files = filesOfFirstLoad();
  expect(files.size).toBeGreaterThan(4);
  expect(files.size).toBeLessThanOrEqual(8);
  let bytes = 0;
  for (const file of files) {
    const forms = pack.get(file)?.forms;
    expect([file, forms !== undefined]).toEqual([file, true]);
    bytes += (forms?.get('br') ?? forms?.get('identity'))?.length ?? 0;
  }
  expect(bytes).toBeLessThan(BUDGET_BYTES);

  const scripts = [...pack.keys()].filter((path) => path.endsWith('.js'));
  const isCommon = (path: string) => /\/(main|shared|theme-boot)-/.test(path);
  expect(scripts.filter(isCommon)).toHaveLength(3);
  for (const path of scripts) {
    const imports = [...textOf(path).matchAll(STATIC_IMPORT)].map(([, other = '']) => other);
    expect([path, imports.filter((other) => !isCommon(other))]).toEqual([path, []]);
  }
  // Nothing names a file that the build does not have.
  for (const path of scripts)
    for (const [named] of textOf(path).matchAll(/\/assets\/[\w-]+\.js/g)) expect(pack.has(named)).toBeTrue();
});

test('the page holds nothing inline, and no file refers to another server', () => {
  const page = textOf('/');
  expect(page).not.toMatch(/<style|\sstyle=|\son\w+=|javascript:/i);
  expect([...page.matchAll(/<script\b[^>]*>([^<]*)<\/script>/g)].map(([, inside]) => inside)).toEqual([
    '',
    '',
  ]);
  for (const file of pack.keys()) {
    if (!file.endsWith('.css')) continue;
    const named = [...textOf(file).matchAll(/(?:@import|url\()\s*["']?([^"')]{0,12})/g)];
    expect(
      named.map(([, start = '']) => start).filter((start) => !/^(data:|\/assets\/)/.test(start)),
    ).toEqual([]);
  }
});

test('a font has the name of its content, as every file that browsers keep for ever', () => {
  const fonts = [...pack].filter(([path]) => path.endsWith('.woff2'));
  expect(fonts).toHaveLength(2);
  for (const [path, { forms }] of fonts) {
    const hash = new Bun.CryptoHasher('sha256').update(forms.get('identity') ?? '').digest('hex');
    expect(path).toContain(`-${hash.slice(0, 8)}.woff2`);
  }
});

test('no source map and no file without a compressed form is shipped', () => {
  for (const [path, { forms }] of pack) {
    expect(path).not.toEndWith('.map');
    if (path.endsWith('.woff2')) expect([path, [...forms.keys()]]).toEqual([path, ['identity']]);
    else if ((forms.get('identity')?.length ?? 0) > 1024)
      expect([path, [...forms.keys()]]).toEqual([path, ['br', 'gzip', 'identity']]);
  }
});
