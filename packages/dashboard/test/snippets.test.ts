import { describe, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ExampleName, exampleSnippet } from '../../../examples/snippets.ts';
import { builtPackage } from '../../client/test/support/built-package.ts';
import { SNIPPET_GROUPS, SNIPPETS, type SnippetName, snippetOf } from '../src/flags/snippets.ts';

const ROOT = join(import.meta.dir, '../../..');
const NAMES: readonly SnippetName[] = Object.values(SNIPPET_GROUPS).flat();
const FLAG = { baseUrl: 'https://flags.example.com', environment: 'production', key: 'page-size' };

/** One value of each kind: code falls back to a default of the same kind. */
const VALUES = [undefined, true, 10, 'text', [1, 2], { limit: 1 }] as const;

/** The flag that the examples read. */
const EXAMPLE = {
  baseUrl: 'http://127.0.0.1:7070',
  environment: 'development',
  key: 'dark-mode',
  value: undefined,
};

/** The snippets that are programs in `examples`, which `bun run interop` runs. */
const EXAMPLE_OF: readonly { readonly name: SnippetName; readonly example: ExampleName; part?: string }[] = [
  { name: 'typescript', example: 'node' },
  { name: 'react', example: 'react' },
  { name: 'javascript', example: 'javascript' },
  { name: 'web', example: 'web' },
  { name: 'python', example: 'python' },
  { name: 'java', example: 'java' },
  { name: 'go', example: 'go' },
  { name: 'python-ofrep', example: 'python-ofrep' },
  { name: 'java-ofrep', example: 'java-ofrep' },
  { name: 'go-ofrep', example: 'go-ofrep' },
  { name: 'read', example: 'curl' },
  { name: 'stream', example: 'stream' },
  { name: 'evaluate', example: 'curl', part: 'evaluate' },
];

describe('a snippet', () => {
  test.each(NAMES)('%s names the flag and the environment, and never the key', (name) => {
    for (const value of VALUES) {
      const code = snippetOf(name, { ...FLAG, value });
      if (name !== 'stream') expect(code).toContain('page-size');
      expect(code).toContain('production');
      expect(code).not.toContain('proj_live_');
      if (name === 'react' || name === 'web') expect(code).not.toContain('HALYARD_KEY');
      else expect(code).toContain('HALYARD_KEY');
    }
  });

  test.each(EXAMPLE_OF)('$name is the program $example of the examples', ({ name, example, part }) => {
    expect(snippetOf(name, EXAMPLE)).toBe(exampleSnippet(example, part));
  });

  test('reads a value of the flag’s kind', () => {
    const reads = (name: SnippetName) => VALUES.map((value) => snippetOf(name, { ...FLAG, value }));
    const methods = ['Boolean', 'Boolean', 'Number', 'String', 'Object', 'Object'];
    for (const name of ['javascript', 'web'] as const)
      for (const [index, code] of reads(name).entries())
        expect(code).toContain(`get${methods[index]}Value('page-size'`);
    for (const way of ['', '-ofrep'] as const) {
      const [python, java, go] = [`python${way}`, `java${way}`, `go${way}`] as const;
      expect(reads(python)[2]).toContain('get_integer_value("page-size", 0, user)');
      expect(snippetOf(python, { ...FLAG, value: 2.5 })).toContain('get_float_value("page-size", 0.0, user)');
      expect(reads(java)[2]).toContain('int value = flags.getIntegerValue("page-size", 0, ');
      expect(reads(java)[4]).toContain('import dev.openfeature.sdk.Value;');
      expect(reads(go)[2]).toContain('flags.Int(context.Background(), "page-size", 0, user)');
      expect(reads(go)[3]).toContain('flags.String(context.Background(), "page-size", "", user)');
    }
    expect(reads('typescript')[4]).toContain("getValue('page-size', []");
  });

  test('asks for consent to an address that is not https, but for this machine', () => {
    const consents = {
      typescript: 'allowInsecureHttp: true,',
      python: 'allow_insecure_http=True,',
      java: '.allowInsecureHttp(true)',
      go: '\t\tEnvironment:       "production",\n\t\tAllowInsecureHTTP: true, //',
    } as const;
    for (const [name, consent] of Object.entries(consents)) {
      // The names are those of the object.
      const written = (baseUrl: string) =>
        snippetOf(name as keyof typeof consents, { ...FLAG, baseUrl, value: 1 });
      expect(written('http://flags.example.com')).toContain(consent);
      expect(written('https://flags.example.com')).not.toMatch(/insecure/i);
      expect(written('http://127.0.0.1:7070')).not.toMatch(/insecure/i);
    }
  });

  test.each([
    ['javascript', 'javascript/package.json'],
    ['python-ofrep', 'python-ofrep/requirements.txt'],
    ['go-ofrep', 'go-ofrep/main.go'],
    ['java-ofrep', 'java-ofrep/pom.xml'],
    ['python', 'python/requirements.txt'],
    ['go', 'go/main.go'],
    ['java', 'java/pom.xml'],
  ] as const)('%s names the packages that its example installs', (name, file) => {
    const manifest = readFileSync(join(ROOT, 'examples', file), 'utf8');
    for (const part of SNIPPETS[name].packages?.flatMap((each) => each.split(':')) ?? [])
      expect(manifest).toContain(part);
  });
});

test('the page about languages shows the snippets', () => {
  const page = readFileSync(join(ROOT, 'docs/languages.md'), 'utf8');
  for (const { name } of EXAMPLE_OF) expect(page).toContain(`\n${snippetOf(name, EXAMPLE)}\n\`\`\`\n`);
  expect(page).toContain(`\n${exampleSnippet('rust')}\n\`\`\`\n`);
});

/** The languages that TypeScript can check. */
const COMPILED = ['typescript', 'react', 'javascript', 'web'] as const;

test('the snippets in TypeScript compile against the published packages, whose types are checked too', async () => {
  const { application } = await builtPackage();
  const files: string[] = [];
  for (const name of COMPILED)
    for (const [index, value] of VALUES.entries()) {
      const file = `${name}-${index}.tsx`;
      const input = { ...FLAG, baseUrl: 'http://flags.example.com', value };
      // Each is a separate module, as when it is pasted.
      await Bun.write(join(application, file), `${snippetOf(name, input)}\nexport {};\n`);
      files.push(file);
    }
  const config = {
    compilerOptions: {
      target: 'ESNext',
      module: 'NodeNext',
      lib: ['ESNext', 'DOM', 'DOM.Iterable'],
      strict: true,
      noUncheckedIndexedAccess: true,
      noImplicitReturns: true,
      jsx: 'react-jsx',
      skipLibCheck: false,
      noEmit: true,
      types: ['node'],
    },
    files,
  };
  await Bun.write(join(application, 'tsconfig.json'), JSON.stringify(config));
  const compiler = Bun.spawn([process.execPath, 'node_modules/.bin/tsc', '-p', application], {
    cwd: ROOT,
    stdout: 'pipe',
  });
  const lines = (await new Response(compiler.stdout).text()).split('\n');
  // The declarations of OpenFeature's packages have their own errors.
  expect(lines.filter((line) => line !== '' && !/^( |node_modules\/)/.test(line))).toEqual([]);
}, 60_000);
