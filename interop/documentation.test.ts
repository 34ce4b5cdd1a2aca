import { describe, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { EXAMPLES, type ExampleName, exampleSnippet } from '../examples/snippets.ts';
import { LANGUAGES } from './languages.ts';
import { FLAGD_PROGRAMS } from './try-flagd.ts';

const ROOT = join(import.meta.dir, '..');
const PAGE = textOf('docs/languages.md');

function textOf(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8');
}

/** The version of a package in the manifests of the programs, whatever the registry. */
const VERSIONS: Readonly<Record<string, (name: string, folder: string) => string | undefined>> = {
  'package.json': (name, folder) =>
    new RegExp(`"${name}": "([^"]+)"`).exec(textOf(`${folder}/package.json`))?.[1],
  'requirements.txt': (name, folder) =>
    new RegExp(`^${name}==(.+)$`, 'm').exec(textOf(`${folder}/requirements.txt`))?.[1],
  'pom.xml': (name, folder) => {
    const [group, artifact] = name.split(':');
    const pattern = `<groupId>${group}</groupId>\\s*<artifactId>${artifact}</artifactId>\\s*<version>([^<]+)<`;
    return new RegExp(pattern).exec(textOf(`${folder}/pom.xml`))?.[1];
  },
  'Cargo.toml': (name, folder) =>
    new RegExp(`^${name} = "=(.+)"$`, 'm').exec(textOf(`${folder}/Cargo.toml`))?.[1],
  'go.mod': (name, folder) => new RegExp(`${name} v(\\S+)`).exec(textOf(`${folder}/go.mod`))?.[1],
};

/** Where `bun run interop` has the version of a provider from, and where the example has it from. */
const MANIFESTS = [
  { folder: 'javascript', manifest: 'package.json', at: '.', example: 'examples/javascript' },
  { folder: 'web', manifest: 'package.json', at: '.', example: 'examples/web' },
  { folder: 'python', manifest: 'requirements.txt', at: 'interop/python', example: 'examples/python-ofrep' },
  { folder: 'go', manifest: 'go.mod', at: 'interop/go', example: 'examples/go-ofrep' },
  { folder: 'java', manifest: 'pom.xml', at: 'interop/java', example: 'examples/java-ofrep' },
  { folder: 'rust', manifest: 'Cargo.toml', at: 'interop/rust', example: 'examples/rust' },
] as const;

describe('the page about languages', () => {
  test('has no code but that of the examples, and all of it', () => {
    // Commands are `text`.
    const shown = [...PAGE.matchAll(/^```(?!text)\w+\n([\s\S]*?)\n```$/gm)].map(([, code]) => code ?? '');
    const snippets = (Object.keys(EXAMPLES) as ExampleName[])
      .filter((name) => name !== 'handler') // the client's guide has it
      .map((name) => exampleSnippet(name));
    expect(shown.toSorted()).toEqual([...snippets, exampleSnippet('curl', 'evaluate')].toSorted());
  });

  test.each(MANIFESTS)('names the version of the $folder provider that is tried', ({ folder, ...where }) => {
    const provider = LANGUAGES.find((each) => each.folder === folder)?.provider ?? '';
    const version = VERSIONS[where.manifest]?.(provider, where.at);
    expect(PAGE).toContain(`| \`${provider}\` | ${version} |`);
    expect(VERSIONS[where.manifest]?.(provider, where.example)).toBe(version);
  });

  test('names the version of OpenFeature’s CLI that is tried', () => {
    const version = VERSIONS['go.mod']?.('github.com/open-feature/cli', 'interop/cli');
    expect(PAGE).toContain(`Version ${version} was tried on`);
  });
});

test('the page about flagd names the versions that are tried', () => {
  const page = textOf('docs/operations/flagd.md');
  const core = VERSIONS['go.mod']?.('github.com/open-feature/flagd/core', 'interop/flagd/go');
  expect(page).toContain(`core ${core}, tried`);
  const packages = FLAGD_PROGRAMS.flatMap(({ install }) => install.flat()).flatMap(
    (word) => /^openfeature-\w+-flagd==(.+)$/.exec(word)?.[1] ?? [],
  );
  expect(packages).toHaveLength(2);
  for (const version of packages) expect(page).toContain(`${version} with `);
});
