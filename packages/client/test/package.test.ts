import { beforeAll, describe, expect, test } from 'bun:test';
import { mkdir, readdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { brotliCompressSync } from 'node:zlib';
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core';
import { publint } from 'publint';
import { ENTRIES } from '../scripts/public-manifest.ts';
import { type BuiltPackage, builtPackage } from './support/built-package.ts';

let built: BuiltPackage;
beforeAll(async () => {
  built = await builtPackage();
});

/** Packs the package as it is published; gives the path of the tarball. */
async function pack(): Promise<string> {
  const tarball = join(built.application, 'package.tgz');
  const command = [process.execPath, 'pm', 'pack', '--filename', tarball, '--quiet'];
  expect(await Bun.spawn(command, { cwd: built.folder, stdout: 'ignore', stderr: 'pipe' }).exited).toBe(0);
  return tarball;
}

test('publint has nothing to say', async () => {
  const { messages } = await publint({ pkgDir: built.folder, level: 'suggestion', strict: true });
  expect(messages).toEqual([]);
});

test('the types resolve for everyone who can load the package', async () => {
  const tarball = await pack();
  const result = await checkPackage(createPackageFromTarballData(await Bun.file(tarball).bytes()));
  const problems = 'problems' in result ? result.problems : ['no types'];
  // Modules only, and no resolution from before `exports`: Node 22.12 requires and imports modules alike.
  const isMeant = (problem: object): boolean =>
    ('resolutionKind' in problem && problem.resolutionKind === 'node10') ||
    ('kind' in problem && problem.kind === 'CJSResolvesToESM');
  expect(problems.filter((problem) => typeof problem === 'string' || !isMeant(problem))).toEqual([]);
}, 60_000);

test('no file imports anything but its neighbours and the peers', async () => {
  const foreign = new Set<string>();
  for (const file of await readdir(built.folder, { recursive: true })) {
    if (!/\.(js|d\.ts)$/.test(file)) continue;
    const text = await Bun.file(join(built.folder, file)).text();
    for (const [, specifier = ''] of text.matchAll(/(?:from|import)\s*\(?["']([\w@./-]+)["']/g))
      if (!specifier.startsWith('.')) foreign.add(specifier);
  }
  expect([...foreign].sort()).toEqual([
    '@openfeature/core',
    '@openfeature/server-sdk',
    '@openfeature/web-sdk',
    'react',
  ]);
});

test('importing any entry has no effect', async () => {
  const entry = join(built.application, 'effects.ts');
  await Bun.write(
    entry,
    Object.keys(ENTRIES)
      .map((subpath) => `import '@halyard/client${subpath.slice(1)}';`)
      .join('\n'),
  );
  const result = await Bun.build({
    entrypoints: [entry],
    minify: true,
    external: ['react', '@openfeature/*'],
  });
  expect((await result.outputs[0]?.text())?.replaceAll(/import"[^"]+";?/g, '').trim()).toBe('');
});

test('errors and functions have the names in the code that they have in the documentation', async () => {
  const { FlagsError, createClient } = await import(join(built.folder, 'index.js'));
  expect([FlagsError.name, createClient.name]).toEqual(['FlagsError', 'createClient']);
  for (const file of await readdir(built.folder, { recursive: true }))
    if (file.endsWith('.js'))
      expect(await Bun.file(join(built.folder, file)).text()).not.toMatch(/\b[a-zA-Z]{3,}2\b/);
});

test('the React entry is marked as code of pages', async () => {
  expect(await Bun.file(join(built.folder, 'react.js')).text()).toStartWith("'use client';\n");
});

describe('size, minified and compressed with brotli, without the peers', () => {
  const CORE = "export { createClient, FlagsError } from '@halyard/client';";
  test.each([
    ['the core', CORE, '', 6.5 * 1024],
    ['react, beside the core', `${CORE} export * from '@halyard/client/react';`, CORE, 1024],
    [
      'openfeature/server, beside the core',
      `${CORE} export * from '@halyard/client/openfeature/server';`,
      CORE,
      2 * 1024,
    ],
    [
      'openfeature/web, beside the core',
      `${CORE} export * from '@halyard/client/openfeature/web';`,
      CORE,
      2 * 1024,
    ],
    ['override, beside the core', `${CORE} export * from '@halyard/client/override';`, CORE, 2 * 1024],
    ['published, beside the core', `${CORE} export * from '@halyard/client/published';`, CORE, 2 * 1024],
    ['handler, beside the core', `${CORE} export * from '@halyard/client/handler';`, CORE, 5 * 1024],
  ])('%s', async (_, source, baseline, limit) => {
    const size = (await compressedSize(source)) - (baseline === '' ? 0 : await compressedSize(baseline));
    expect(size).toBeLessThanOrEqual(limit);
  });

  async function compressedSize(source: string): Promise<number> {
    const entry = join(built.application, 'size.ts');
    await Bun.write(entry, source);
    const result = await Bun.build({
      entrypoints: [entry],
      minify: true,
      target: 'browser',
      external: ['react', '@openfeature/*'],
      // The part that only pages load, and only to follow a stream, is a file of its own.
      splitting: true,
      modulePreload: false,
      // Its hash is made of paths, and cost up to 25 bytes more in one folder than in another.
      naming: { chunk: '[name]-0a1b2c3d.js' },
    });
    const loaded = result.outputs.find(({ kind }) => kind === 'entry-point');
    return brotliCompressSync((await loaded?.text()) ?? '').length;
  }
});

describe('types', () => {
  const COMPILER = resolve(import.meta.dir, '../../../node_modules/.bin/tsc');

  async function compile(
    files: Record<string, string>,
    lib: string[],
    { folder = built.application, options = [] as string[] } = {},
  ): Promise<string> {
    for (const [name, text] of Object.entries(files)) await Bun.write(join(folder, name), text);
    const flags = [
      '--noEmit',
      '--strict',
      '--target',
      'es2022',
      '--lib',
      lib.join(),
      '--module',
      'nodenext',
      '--types',
      '',
      ...options,
    ];
    const compiler = Bun.spawn(
      [process.execPath, COMPILER, '--ignoreConfig', ...flags, ...Object.keys(files)],
      {
        cwd: folder,
        stdout: 'pipe',
      },
    );
    return await new Response(compiler.stdout).text();
  }

  const USE = `
    import { createClient, type FlagsClient } from '@halyard/client';
    interface Limits { rows: number }
    const limits: Limits = { rows: 5 };
    const client: FlagsClient = createClient({ apiKey: 'k', environment: 'production' });
    export const on: boolean = client.isEnabled('x');
    export let size = client.getValue('size', 10); size = 20;
    export let name = client.getValue('name', 'a'); name = 'b';
    export let flag = client.getValue('flag', true); flag = false;
    export const list: readonly unknown[] = client.getValue('list', []);
    export const rows: number = client.getValue('limits', limits).rows;
    const anything = client.getValue('anything', null);
    export const length: number = typeof anything === 'string' ? anything.length : 0;
    export const something = client.evaluate('anything', undefined).value === 5;
  `;

  test('work in a page whose settings are old, without skipping the library check', async () => {
    expect(await compile({ 'page.ts': USE }, ['es2022', 'dom'])).toBe('');
  }, 60_000);

  test('of every entry of the tarball pass the strictest settings, the library check included', async () => {
    const folder = join(built.application, 'strict');
    const own = join(folder, 'node_modules/@halyard/client');
    await mkdir(own, { recursive: true });
    const unpack = Bun.spawn(['tar', 'xzf', await pack(), '-C', own, '--strip-components', '1']);
    expect(await unpack.exited).toBe(0);
    await Bun.write(join(folder, 'package.json'), '{"type":"module"}');
    const names = Object.keys(ENTRIES).map((subpath) => `@halyard/client${subpath.slice(1)}`);
    const everything = names.map((name, i) => `import * as entry${i} from '${name}';\nvoid entry${i};`);
    const use = `
      import { createClient, evaluateAll, observeReads } from '@halyard/client';
      import { createFlagsHandler } from '@halyard/client/handler';
      const client = createClient({ apiKey: 'k', environment: 'production', logger: console });
      const seen: unknown[] = [];
      export const flags = observeReads(client, (read) => seen.push(read.key, read.targetingKey));
      export const on: boolean = flags.isEnabled('x', { fallback: true, targetingKey: 'ana' });
      export const page = createClient({ apiKey: false, environment: 'production', bootstrap: evaluateAll(client, 'ana') });
      export const handler = createFlagsHandler({ client, authorize: async (request) => request.method === 'POST' });
    `;
    const options = ['--exactOptionalPropertyTypes', '--noUncheckedIndexedAccess', '--skipLibCheck', 'false'];
    const files = { 'everything.ts': everything.join('\n'), 'strict.ts': use };
    const said = await compile(files, ['es2022', 'dom', 'dom.iterable'], { folder, options });
    // OpenFeature's server SDK needs the types of Node, and does not fit the newest ones.
    const ours = said.split('\n').filter((line) => !line.includes('node_modules/@openfeature/server-sdk/'));
    expect(ours.join('\n')).toBe('');
  }, 60_000);

  test('know the registered flags', async () => {
    const registered = `
      import '@halyard/client';
      declare module '@halyard/client' {
        interface Register { flags: { 'new-checkout': boolean; limit: number; theme: 'dark' | 'light' } }
      }
    `;
    const use = `
      import { createClient } from '@halyard/client';
      const client = createClient({ apiKey: 'k', environment: 'production' });
      export const on: boolean = client.isEnabled('new-checkout');
      export const limit: number = client.getValue('limit', 10);
      export const theme: 'dark' | 'light' = client.getValue('theme', 'dark');
      // @ts-expect-error: not registered
      client.isEnabled('new-chekout');
      // @ts-expect-error: another type
      client.getValue('limit', 'ten');
    `;
    expect(await compile({ 'register.ts': registered, 'typed.ts': use }, ['es2022', 'dom'])).toBe('');
  }, 60_000);
});
