import { expect, test } from 'bun:test';
import { join, resolve } from 'node:path';
import { temporaryFolder } from '@halyard/testing';
import { formatTypesFile, type TypedFlag } from './types.ts';

const FLAGS: readonly TypedFlag[] = [
  { key: 'new-checkout', description: 'The checkout of 2026.\nAsk */ Ana.', values: [] },
  { key: 'limit', values: [10, 25] },
  { key: 'theme', values: ['dark', 'light'] },
  { key: 'mixed', values: ['x', 5] },
  { key: 'config', values: [{ rows: 5, tags: ['a', 1], nested: { on: true, none: null } }, { rows: 6 }] },
  { key: 'it\'s "odd" \\ `x`\n', values: [[]] },
  { key: '__proto__', values: [true] },
];

test('every flag is a key with the type of its values, sorted, with its description', () => {
  const text = formatTypesFile('shop', FLAGS);
  expect(text).toContain("/** The checkout of 2026. Ask * / Ana. */\n      'new-checkout': boolean;");
  expect(text).toContain("'limit': number;");
  expect(text).toContain("'mixed': number | string;");
  expect(text).toContain(
    "'config': { readonly 'rows': number } | { readonly 'rows': number; readonly 'tags': readonly (number | string)[]; readonly 'nested': { readonly 'on': boolean; readonly 'none': null } };",
  );
  expect(text).not.toContain('openfeature');
  expect(text.indexOf("'config'")).toBeLessThan(text.indexOf("'limit'"));
  expect(formatTypesFile('shop', [...FLAGS].reverse())).toBe(text);
});

test('a project without flags registers none', () => {
  const text = formatTypesFile('shop', []);
  expect(text).toContain('flags: Record<never, never>;');
  expect(formatTypesFile('shop', [], { openFeature: true })).toContain('export type StringFlagKey = never;');
});

test('OpenFeature has the keys by kind', () => {
  const text = formatTypesFile('shop', FLAGS, { openFeature: true });
  expect(text).toContain("export type BooleanFlagKey = '__proto__' | 'new-checkout';");
  expect(text).toContain("export type NumberFlagKey = 'limit';");
});

const USE_CLIENT = `import './flags.d.ts';
  import { createClient } from '@halyard/client';
  const client = createClient({ apiKey: 'k', environment: 'production' });
  export const on: boolean = client.isEnabled('new-checkout');
  export const limit: number = client.getValue('limit', 10);
  export const rows: number = client.getValue('config', { rows: 1 }).rows;
  // @ts-expect-error: no such flag
  client.isEnabled('new-chekout');
  // @ts-expect-error: another type
  client.getValue('limit', 'ten');`;

const USE_OPENFEATURE = `import './flags.d.ts';
  import { OpenFeature } from '@openfeature/server-sdk';
  export const theme: Promise<string> = OpenFeature.getClient().getStringValue('theme', 'dark');
  // @ts-expect-error: not a flag of strings
  OpenFeature.getClient().getStringValue('limit', 'dark');`;

/** The compiler's output for a program that uses the file. */
async function compile(files: Readonly<Record<string, string>>, skipLibCheck: boolean): Promise<string> {
  const root = resolve(import.meta.dir, '../../../..');
  using folder = temporaryFolder();
  for (const [name, text] of Object.entries(files)) await Bun.write(folder.file(name), text);
  const packages = { '@halyard/*': [join(root, 'packages/*/src')], '*': [join(root, 'node_modules/*')] };
  const types = { typeRoots: [join(root, 'node_modules/@types')], paths: packages };
  await Bun.write(
    folder.file('tsconfig.json'),
    JSON.stringify({
      extends: join(root, 'tsconfig.json'),
      compilerOptions: { ...types, skipLibCheck },
      include: ['*.ts'],
      exclude: [],
    }),
  );
  const compiler = Bun.spawn([process.execPath, join(root, 'node_modules/.bin/tsc'), '-p', folder.path], {
    stdout: 'pipe',
  });
  return await new Response(compiler.stdout).text();
}

test('the compiler takes the file without skipLibCheck, and then checks keys and types', async () => {
  const files = {
    'flags.d.ts': formatTypesFile('shop', FLAGS),
    'use.ts': USE_CLIENT,
    'provider.ts': "import '@openfeature/core';",
  };
  expect(await compile(files, false)).toBe('');
}, 60_000);

test('with the keys of OpenFeature the compiler checks those as well, with skipLibCheck', async () => {
  const files = {
    'flags.d.ts': formatTypesFile('shop', FLAGS, { openFeature: true }),
    'use.ts': USE_CLIENT,
    'provider.ts': USE_OPENFEATURE,
  };
  expect(await compile(files, true)).toBe('');
}, 60_000);
