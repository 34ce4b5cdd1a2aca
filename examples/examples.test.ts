import { describe, expect, test } from 'bun:test';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { EXAMPLES, type ExampleName, exampleSnippet } from './snippets.ts';

// `bun run interop` runs the examples; these tests need no other language.
const FOLDERS = readdirSync(import.meta.dir, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name);

describe('examples', () => {
  test('the index names every folder', () => {
    const index = readFileSync(join(import.meta.dir, 'README.md'), 'utf8');
    const named = [...index.matchAll(/^\| \[([\w-]+)\]\(\1\)/gm)].map(([, name]) => name);
    expect(named.toSorted()).toEqual(FOLDERS.toSorted());
  });

  test.each(FOLDERS)('%s says in a few lines how to run it and what it prints', (folder) => {
    const readme = readFileSync(join(import.meta.dir, folder, 'README.md'), 'utf8');
    expect(readme).toMatch(
      /^[^\n]+\n\n```sh\n(.*\n){0,2}HALYARD_KEY=proj_live_… .*\n```\n\nIt prints `.*\n$/,
    );
  });

  test.each(Object.keys(EXAMPLES) as ExampleName[])('%s has a snippet without a key', (name) => {
    const snippet = exampleSnippet(name);
    expect(snippet).not.toContain('proj_live_');
    if (name !== 'react' && name !== 'web') expect(snippet).toContain('http://127.0.0.1:7070');
  });

  test('parts of a snippet are joined, and their indentation is removed', () => {
    expect(exampleSnippet('java')).toMatch(/^import .*;\n\nHalyardOptions options = /s);
    expect(exampleSnippet('curl', 'evaluate')).toStartWith('curl ');
    expect(() => exampleSnippet('curl', 'missing')).toThrow('curl/read.sh has no snippet missing');
  });
});
