import { afterAll, expect, test } from 'bun:test';
import { mkdirSync, writeFileSync } from 'node:fs';
import { temporaryFolder } from '@halyard/testing';
import { findReferences } from './refs.ts';

const folder = temporaryFolder();
afterAll(() => folder.remove());

/** Writes files into a new folder and returns its path. */
function codeBase(name: string, files: Readonly<Record<string, string>>): string {
  const path = folder.file(name);
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(`${path}/${file}`.replace(/\/[^/]*$/, ''), { recursive: true });
    writeFileSync(`${path}/${file}`, text);
  }
  return path;
}

test('a known key counts where it is in quotes, with its file and line', async () => {
  const path = codeBase('known', {
    'src/a.ts': 'const key = "dark-mode";\nif (flags.isEnabled(\'dark-mode\')) {}\n',
    'src/b.py':
      "client.get_boolean_value('limits.v2', False)\n# dark-mode without quotes, 'dark-mode-2' is longer\n",
    'node_modules/x/index.js': '"dark-mode"',
    'logo.bin': '"dark-mode"\0',
  });
  const { places, unknown } = await findReferences(path, ['dark-mode', 'limits.v2', 'unused']);
  expect(Object.fromEntries(places)).toEqual({
    'dark-mode': ['src/a.ts:1', 'src/a.ts:2'],
    'limits.v2': ['src/b.py:1'],
  });
  expect(unknown).toEqual([]);
});

test.each([
  ['TypeScript', "flags.isEnabled('gone')"],
  ['React', 'const on = useFlag("gone");'],
  ['OpenFeature, JavaScript', "await client.getBooleanDetails('gone', false)"],
  ['OpenFeature, React', "useBooleanFlagValue('gone', false)"],
  ['OpenFeature, Python', 'client.get_string_value("gone", "x")'],
  ['OpenFeature, Go', 'client.BooleanValue(ctx, "gone", false, target)'],
  ['OpenFeature, Java', 'client.getIntegerValue("gone", 3)'],
])('a key that is read and is not a flag is unknown: %s', async (language, line) => {
  const path = codeBase(`unknown-${language}`, { 'main.txt': line });
  const { unknown } = await findReferences(path, ['other']);
  expect(unknown).toEqual([{ key: 'gone', places: ['main.txt:1'] }]);
});

test('files that Git ignores are left out', async () => {
  const path = codeBase('git', {
    '.gitignore': 'generated\n',
    'generated/a.js': '"dark-mode"',
    'b.js': '"dark-mode"',
  });
  Bun.spawnSync(['git', 'init', '-q'], { cwd: path });
  const { places } = await findReferences(path, ['dark-mode']);
  expect(places.get('dark-mode')).toEqual(['b.js:1']);
});
