import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { join, resolve } from 'node:path';
import { type CreatedKey, Management, type NodeProcess, startNode, within } from '@halyard/testing';
import { apiReference } from '../scripts/api-reference.ts';
import { type BuiltPackage, builtPackage } from './support/built-package.ts';

const PACKAGE = resolve(import.meta.dir, '..');
const ROOT = resolve(PACKAGE, '../..');
const MODULES = join(ROOT, 'node_modules');

/** The pages with examples, each with the folder that its examples are written to: some have the same name. */
const PAGES = [
  ['', 'packages/client/README.md'],
  ['', 'packages/client/GUIDE.md'],
  ['readme/', 'README.md'],
  ['started/', 'docs/getting-started.md'],
] as const;

let node: NodeProcess;
let management: Management;
let key: CreatedKey;
let built: BuiltPackage;
/** The examples of the pages by the file name in their first line. */
const examples = new Map<string, string>();

beforeAll(async () => {
  [node, built] = await Promise.all([startNode(), builtPackage()]);
  management = new Management(node);
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
  for (const [folder, page] of PAGES) {
    const text = await Bun.file(join(ROOT, page)).text();
    for (const [, code = ''] of text.matchAll(/^```(?:tsx?|js)\n([\s\S]*?)^```$/gm)) {
      const file = /^\/\/ (\S+)\n/.exec(code)?.[1];
      if (file === undefined) throw new Error(`an example of ${page} has no file name in its first line`);
      const name = `${folder}${file}`;
      examples.set(name, code);
      await Bun.write(join(built.application, name), code);
    }
  }
}, 60_000);
afterAll(async () => {
  await node.stop();
});

function start(...command: string[]) {
  return Bun.spawn([process.execPath, ...command], {
    cwd: built.application,
    // `HALYARD_URL` is the one thing that an example leaves to its reader.
    env: {
      PATH: process.env.PATH ?? '',
      HALYARD_URL: node.url,
      HALYARD_KEY: key.key,
      PORT: '0',
      NO_COLOR: '1',
    },
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

/** The lines that a program prints, as they come. */
async function* linesOf(output: ReadableStream<Uint8Array>): AsyncGenerator<string, undefined> {
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of output) {
    const lines = (text + decoder.decode(chunk, { stream: true })).split('\n');
    text = lines.pop() ?? '';
    yield* lines;
  }
}

describe('the examples of the pages', () => {
  test.each([
    ['readme/app.mjs', 'new-checkout'],
    ['started/app.mjs', 'dark-mode'],
  ])(
    '%s prints a flag, and again on every change',
    async (name, flag) => {
      const child = start(name);
      const lines = linesOf(child.stdout);
      const next = async () => (await within(`${name} prints a line`, lines.next())).value;
      try {
        expect(await next()).toBe(`${flag} true`);
        await management.putState('demo', 'development', flag, { enabled: false });
        expect(await next()).toBe(`${flag} false`);
      } finally {
        child.kill();
        await child.exited;
        await management.putState('demo', 'development', flag, { enabled: true });
      }
    },
    60_000,
  );

  test('hello.mjs runs, within eight lines of code', async () => {
    expect(await run('hello.mjs')).toBe('dark mode true\nupload limit 100 MB\n');
    const lines = examples
      .get('hello.mjs')
      ?.split('\n')
      .filter((line) => line && !line.startsWith('//'));
    expect(lines?.length).toBeLessThanOrEqual(8);
  }, 60_000);

  test('rollout.mjs runs and ends by itself', async () => {
    expect(await run('rollout.mjs')).toBe('ana true\nada false\n');
  }, 60_000);

  test('openfeature.ts runs', async () => {
    expect(await run('openfeature.ts')).toBe('true\n');
  }, 60_000);

  test('checkout.test.ts passes', async () => {
    expect(await run('test', 'checkout.test.ts')).toContain('1 pass');
  }, 60_000);

  test('server.ts serves what is exposed, without the key', async () => {
    const child = start('server.ts');
    try {
      const line = await within('server.ts prints its address', linesOf(child.stdout).next());
      const url = /(http\S+)/.exec(line.value ?? '')?.[1];
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
  }, 60_000);

  test('app.tsx and render.tsx can be bundled', async () => {
    for (const name of ['app.tsx', 'render.tsx']) {
      const { success } = await Bun.build({ entrypoints: [join(built.application, name)] });
      expect(success).toBe(true);
    }
  }, 60_000);

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
      '--checkJs',
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

test('the files of Next.js in GUIDE.md are those of the example, which bun run interop builds and asks', async () => {
  const guide = await Bun.file(join(PACKAGE, 'GUIDE.md')).text();
  const files = [...guide.matchAll(/^```jsx\n\/\/ (\S+)\n([\s\S]*?)^```$/gm)];
  expect(files.length).toBe(4);
  for (const [, name = '', code] of files)
    expect(await Bun.file(join(ROOT, 'examples/next', name)).text()).toBe(code ?? '');
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
