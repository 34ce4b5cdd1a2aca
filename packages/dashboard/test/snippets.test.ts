import { expect, test } from 'bun:test';
import { join } from 'node:path';
import { temporaryFolder } from '@halyard/testing';
import { SNIPPETS, snippetOf } from '../src/pages/flag/snippets.ts';

const ROOT = join(import.meta.dir, '../../..');
const CLIENT = join(ROOT, 'packages/client/src');

/** One value of each kind: code falls back to a default of the same kind. */
const VALUES = [undefined, true, 10, 'text', [1, 2], { limit: 1 }] as const;

test('every snippet compiles as it is in strict TypeScript', async () => {
  using folder = temporaryFolder();
  const files: string[] = [];
  for (const name of SNIPPETS.filter((each) => each !== 'curl')) {
    for (const [index, value] of VALUES.entries()) {
      const file = `${name}-${index}.tsx`;
      const input = { baseUrl: 'http://flags.example.com', environment: 'production', key: "it's" };
      // Each is a separate module, as when it is pasted.
      await Bun.write(folder.file(file), `${snippetOf(name, { ...input, value })}\nexport {};\n`);
      files.push(file);
    }
  }
  const modules = join(ROOT, 'node_modules');
  const config = {
    compilerOptions: {
      ...{ target: 'ESNext', module: 'Preserve', moduleResolution: 'bundler', lib: ['ESNext', 'DOM'] },
      ...{ strict: true, noUnusedLocals: true, noUncheckedIndexedAccess: true, noEmit: true },
      ...{ jsx: 'react-jsx', skipLibCheck: true, allowImportingTsExtensions: true },
      typeRoots: [join(modules, '@types')],
      types: ['node'],
      paths: {
        '@halyard/client': [join(CLIENT, 'index.ts')],
        '@halyard/client/*': [join(CLIENT, '*.ts'), join(CLIENT, '*.tsx')],
        '*': [join(modules, '@types/*'), join(modules, '*')],
      },
    },
    files,
  };
  await Bun.write(folder.file('tsconfig.json'), JSON.stringify(config));
  const compiler = Bun.spawn([process.execPath, 'node_modules/.bin/tsc', '-p', folder.path], {
    cwd: ROOT,
    stdout: 'pipe',
  });
  expect(await new Response(compiler.stdout).text()).toBe('');
}, 60_000);
