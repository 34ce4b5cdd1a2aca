import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { join, resolve } from 'node:path';
import { type CreatedKey, Management, type NodeProcess, startNode } from '@halyard/testing';
import { apiReference } from '../scripts/api-reference.ts';
import { type BuiltPackage, builtPackage } from './support/built-package.ts';

const PACKAGE = resolve(import.meta.dir, '..');
const MODULES = resolve(PACKAGE, '../../node_modules');

let node: NodeProcess;
let key: CreatedKey;
let built: BuiltPackage;
/** The examples of the pages by the file name in their first line. */
const examples = new Map<string, string>();

beforeAll(async () => {
  [node, built] = await Promise.all([startNode(), builtPackage()]);
  const management = new Management(node);
  await management.createProject('demo');
  key = await management.createKey('demo', ['development', 'staging', 'production']);
  for (const environment of ['development', 'staging', 'production']) {
    await management.change('demo', environment, [
      { key: 'new-checkout', state: { enabled: true } },
      // As in the demo project.
      { key: 'dark-mode', state: { enabled: true, ...(environment === 'staging' && { rolloutPct: 50 }) } },
      { key: 'upload-limit-mb', state: { enabled: true, value: 100 } },
      { key: 'internal-x', state: { enabled: true } },
    ]);
  }
  for (const page of ['README.md', 'GUIDE.md']) {
    const text = await Bun.file(join(PACKAGE, page)).text();
    for (const [, code = ''] of text.matchAll(/^```tsx?\n([\s\S]*?)^```$/gm)) {
      const name = /^\/\/ (\S+)\n/.exec(code)?.[1];
      if (name === undefined) throw new Error(`an example of ${page} has no file name in its first line`);
      examples.set(name, code);
      // The one thing an example leaves to its reader: where the server is.
      const located = code.replaceAll(
        /(apiKey: process\.env\.HALYARD_KEY \?\? '')/g,
        `$1, baseUrl: '${node.url}'`,
      );
      await Bun.write(join(built.application, name), located);
    }
  }
}, 60_000);
afterAll(async () => {
  await node.stop();
});

function start(...command: string[]) {
  return Bun.spawn([process.execPath, ...command], {
    cwd: built.application,
    env: { PATH: process.env.PATH ?? '', HALYARD_KEY: key.key, PORT: '0', NO_COLOR: '1' },
    stdout: 'pipe',
    stderr: 'pipe',
  });
}

async function run(...command: string[]): Promise<string> {
  const child = start(...command);
  const [out, err] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  expect({ code: await child.exited, err: command[0] === 'test' ? '' : err }).toEqual({ code: 0, err: '' });
  return out + err;
}

describe('the examples of README.md and GUIDE.md', () => {
  test('hello.ts runs, within eight lines of code', async () => {
    expect(await run('hello.ts')).toBe('dark mode true\nupload limit 100 MB\n');
    const lines = examples
      .get('hello.ts')
      ?.split('\n')
      .filter((line) => line && !line.startsWith('//'));
    expect(lines?.length).toBeLessThanOrEqual(8);
  }, 30_000);

  test('rollout.ts runs and ends by itself', async () => {
    expect(await run('rollout.ts')).toBe('ana true\nada false\n');
  }, 30_000);

  test('openfeature.ts runs', async () => {
    expect(await run('openfeature.ts')).toBe('true\n');
  }, 30_000);

  test('checkout.test.ts passes', async () => {
    expect(await run('test', 'checkout.test.ts')).toContain('1 pass');
  }, 30_000);

  test('server.ts serves what is exposed, without the key', async () => {
    const child = start('server.ts');
    try {
      const reader = child.stdout.getReader();
      const line = new TextDecoder().decode((await reader.read()).value);
      const url = /(http\S+)/.exec(line)?.[1];
      const response = await fetch(`${url}/v1/flags?env=production`);
      expect(await response.json()).toEqual({
        environment: 'production',
        flags: {
          'new-checkout': { enabled: true },
          'dark-mode': { enabled: true },
          'upload-limit-mb': { enabled: true, value: 100 },
        },
      });
    } finally {
      child.kill();
      await child.exited;
    }
  }, 30_000);

  test('app.tsx and render.tsx can be bundled', async () => {
    for (const name of ['app.tsx', 'render.tsx']) {
      const { success } = await Bun.build({ entrypoints: [join(built.application, name)] });
      expect(success).toBe(true);
    }
  }, 30_000);

  test('all pass the compiler', async () => {
    const flags = [
      '--noEmit',
      '--strict',
      '--target',
      'esnext',
      '--module',
      'preserve',
      '--jsx',
      'react-jsx',
    ];
    const types = [
      '--types',
      'bun',
      '--typeRoots',
      join(MODULES, '@types'),
      '--skipLibCheck',
      '--lib',
      'esnext,dom',
    ];
    const compiler = start(
      join(MODULES, '.bin/tsc'),
      '--ignoreConfig',
      ...flags,
      ...types,
      ...examples.keys(),
    );
    expect(await new Response(compiler.stdout).text()).toBe('');
  }, 60_000);
});

test('API.md is what the compiler says (bun scripts/api-reference.ts writes it)', async () => {
  expect(await Bun.file(join(PACKAGE, 'API.md')).text()).toBe(await apiReference(built.folder));
}, 60_000);

test('every code the client may report is in README.md', async () => {
  const readme = await Bun.file(join(PACKAGE, 'README.md')).text();
  const errors = await Bun.file(join(PACKAGE, 'src/errors.ts')).text();
  const codes = [...errors.matchAll(/^ {2}\| '(\w+)'/gm)].map(([, code]) => code ?? '');
  const unsaid = ['flag_not_found', 'not_ready']; // they come in evaluations only
  expect(codes.length).toBeGreaterThan(12);
  for (const code of codes) if (!unsaid.includes(code)) expect(readme).toContain(`\`${code}\``);
});
