import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdirSync, writeFileSync } from 'node:fs';
import { type NodeProcess, startNode, temporaryFolder } from '@halyard/testing';
import { findReferences, type Search } from './refs-scan.ts';
import { commandsAt } from './test-shell.ts';

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

/** Searches a code base: the places of its keys, and the unknown ones. */
async function search(path: string, keys: readonly string[], more: Partial<Search> = {}) {
  const { places, unknown } = await findReferences({ folder: path, keys, exclude: [], calls: [], ...more });
  return {
    places: Object.fromEntries([...places.values()].map((each) => [each.key, each.places])),
    unknown: Object.fromEntries(unknown.map((each) => [each.key, each.places])),
  };
}

test('a known key counts where it is in quotes, with its file and line', async () => {
  const path = codeBase('known', {
    'src/a.ts': 'const key = "dark-mode";\nif (flags.isEnabled(\'dark-mode\')) {}\n',
    'src/b.py':
      "client.get_boolean_value('limits.v2', False)\n# dark-mode without quotes, 'dark-mode-2' is longer\n",
    'node_modules/x/index.js': '"dark-mode"',
    'logo.bin': '"dark-mode"\0',
  });
  expect(await search(path, ['dark-mode', 'limits.v2', 'unused'])).toEqual({
    places: { 'dark-mode': ['src/a.ts:1', 'src/a.ts:2'], 'limits.v2': ['src/b.py:1'] },
    unknown: {},
  });
});

test.each([
  ['TypeScript', 'a.ts', "flags.isEnabled('gone')", 1],
  ['our value', 'a.ts', "flags.getValue<Theme>(\n  'gone', 'light')", 1],
  ['React', 'a.tsx', 'const on = useFlag("gone");', 1],
  ['OpenFeature, JavaScript', 'a.js', "await client.getBooleanDetails('gone', false)", 1],
  ['OpenFeature, React', 'a.jsx', "useBooleanFlagValue('gone', false)", 1],
  ['a formatted call', 'a.ts', 'x();\nclient.getStringValue(\n  // the key\n  `gone`,\n  "x",\n)', 2],
  ['OpenFeature, Python', 'a.py', 'client.get_string_value("gone", "x")', 1],
  ['named in Python', 'a.py', 'c.get_boolean_value(default_value=f(1, "a"), flag_key="gone")', 1],
  ['our client for Python', 'a.py', 'if flags.is_enabled(\n    "gone", targeting_key=user.id\n):', 1],
  ['OpenFeature, Go', 'a.go', 'client.BooleanValue(ctx, "gone", false, target)', 1],
  ['with a context in Go', 'a.go', 'client.IntValue(\n\tcontext.Background(),\n\t"gone", 3, target)', 1],
  ['our client for Go', 'a.go', 'size := halyard.Value(flags, "gone", 10, halyard.For(id))', 1],
  ['OpenFeature, Java', 'A.java', 'client.getIntegerValue("gone", 3)', 1],
  ['OpenFeature, C#', 'A.cs', 'await client.GetBooleanValueAsync("gone", false)', 1],
  ['OpenFeature, Ruby', 'a.rb', 'client.fetch_number_value(flag_key: "gone", default_value: 1)', 1],
  ['OpenFeature, Rust', 'a.rs', 'client.get_int_value("gone", None, None).await', 1],
  ['a provider in Rust', 'a.rs', 'p.resolve_bool_value::<bool>("gone", &ctx)', 1],
  ['an own function', 'a.rs', 'if check_feature_flag(&ctx, "gone").await {}', 1],
  ['an own method', 'a.ts', "if (features\n  .isOn('gone')) {}", 1],
])('a key that is read and is not a flag is unknown: %s', async (language, file, text, line) => {
  const path = codeBase(`unknown-${language}`, { [file]: text });
  const calls = ['check_feature_flag', 'features.isOn'];
  expect((await search(path, ['other'], { calls })).unknown).toEqual({ gone: [`${file}:${line}`] });
});

test.each([
  ['a function of another object', 'json.getStringValue("name")'],
  ['a key that is computed', 'flags.isEnabled(prefix + "x"); flags.isEnabled(`a-$' + '{b}`)'],
  ['a longer name', "checkFlags('gone'); mycheckFlag('gone')"],
  ['a call without an end', 'flags.isEnabled('],
  ['a later text', "flags.isEnabled(key, { targetingKey: 'gone' })"],
])('is not a read of a key: %s', async (name, text) => {
  const path = codeBase(`no-read-${name}`, { 'a.ts': text });
  expect((await search(path, [], { calls: ['checkFlag'] })).unknown).toEqual({});
});

test('lists of flags, prose, changelogs and lockfiles use no flags', async () => {
  const path = codeBase('lists', {
    'flags.json': '{\n  "halyard": 1,\n  "flags": {"a": {}}}',
    'flags.yaml': '# ours\nhalyard: 1\nproject: shop\nflags:\n  "a": {}\n',
    'flagd.json': '{"$schema": "https://flagd.dev/schema/v0/flags.json", "flags": {"a": {}}}',
    'dist/flagd.json': '{"flags":{"a":{"state":"ENABLED"}}}',
    'flags.d.ts': '// Flags of the project shop. Written by `halyard types`; run it again.\n"a": boolean',
    'README.md': 'flags.isEnabled(\'foo\'), "a"',
    'CHANGELOG.json': '{"note": "a"}',
    'package-lock.json': '{"a": 1}',
    'yarn.lock': '"a"',
    'go.sum': '"a"',
    'src/history/a.ts': '"a"',
    'config.json': '{"flag": "a"}',
  });
  expect(await search(path, ['a'])).toEqual({
    places: { a: ['config.json:1', 'src/history/a.ts:1'] },
    unknown: {},
  });
});

test('excluded files and folders are left out, by the rules of a .gitignore', async () => {
  const path = codeBase('excluded', {
    'a.ts': '"k"',
    'a.test.ts': '"k"',
    'fixtures/a.ts': '"k"',
    'src/fixtures/deep/a.ts': '"k"',
    'src/old/a.ts': '"k"',
    'src/old/kept.ts': '"k"',
  });
  const exclude = ['*.test.ts', 'fixtures/', 'src/old/*', '!src/old/kept.ts'];
  expect((await search(path, ['k'], { exclude })).places).toEqual({ k: ['a.ts:1', 'src/old/kept.ts:1'] });
});

test('ignored files are left out, in a Git repository and elsewhere', async () => {
  const files = {
    '.gitignore': '# made\ngenerated\n/top.js\n*.out.js\n',
    'generated/a.js': '"k"',
    'top.js': '"k"',
    'x.out.js': '"k"',
    'b.js': '"k"',
    'deep/top.js': '"k"',
    'deep/.gitignore': 'own\n',
    'deep/own/a.js': '"k"',
  };
  const places = { k: ['b.js:1', 'deep/top.js:1'] };
  const plain = codeBase('plain', files);
  expect((await search(plain, ['k'])).places).toEqual(places);

  const repository = codeBase('git', files);
  Bun.spawnSync(['git', 'init', '-q'], { cwd: repository });
  expect((await search(repository, ['k'])).places).toEqual(places);
  // Nothing was searched, so nothing is said about flags.
  await expect(search(`${repository}/generated`, ['k'])).rejects.toThrow('There are no files to search');
});

describe('the command', () => {
  let node: NodeProcess;
  const { halyard, seen } = commandsAt(() => node);
  beforeAll(async () => {
    node = await startNode({ env: { HALYARD_DRAIN_SECONDS: '0' } });
  }, 60_000);
  afterAll(() => node.stop(), 60_000);

  test('exits with 5 for unknown and archived keys, and annotates them for GitHub', async () => {
    await halyard('project create shop');
    for (const key of ['used', 'idle', 'old'])
      await halyard(`flag set ${key} --project shop --env staging --on`);
    await halyard('flag archive old --project shop');
    const path = codeBase('command', { 'a,1.ts': "isEnabled('used');\nisEnabled('gone')\nlet k = 'old'" });

    const run = await halyard(['refs', path, '--project', 'shop']);
    expect(run.exitCode).toBe(5);
    expect(run.err).toBe(
      'error: 1 key is not a flag of shop. 1 key is archived in shop, and code gets its defaults.\n',
    );
    expect(JSON.parse(run.out)).toEqual({
      flags: [
        { key: 'idle', places: [], count: 0 },
        { key: 'used', places: ['a,1.ts:1'], count: 1 },
      ],
      archived: [{ key: 'old', places: ['a,1.ts:3'], count: 1 }],
      unknown: [{ key: 'gone', places: ['a,1.ts:2'], count: 1 }],
    });

    const annotated = await halyard([
      ...'refs --project shop --format github --fail-on'.split(' '),
      'unused',
      path,
    ]);
    expect(annotated.err).toBe('error: 1 key is not used.\n');
    const file = `${path}/a%2C1.ts`;
    expect(annotated.out.split('\n')).toEqual([
      `::warning file=${file},line=2,title=Unknown flag::"gone" is not a flag of shop.`,
      `::warning file=${file},line=3,title=Archived flag::"old" is archived in shop: code gets its default.`,
      '::error title=Unused flag::No code uses "idle" of shop.',
      '',
    ]);
    expect(await seen(['refs', path, '--project', 'shop', '--fail-on', 'none'])).toContain('gone (unknown)');
    const refused = await halyard(['refs', path, '--project', 'shop', '--fail-on', 'everything']);
    expect(refused).toMatchObject({ exitCode: 2, out: '' });
  }, 60_000);

  test('reports paths from the root of the repository, and takes a report back', async () => {
    await halyard('project create app');
    for (const key of ['used', 'idle', 'gone-by'])
      await halyard(`flag set ${key} --project app --env staging --on`);
    await halyard('flag archive gone-by --project app');
    const root = codeBase('reported', {
      'web/a.ts': "isEnabled('used');\nisEnabled('used')\nisEnabled('gone-by')",
      'web/deep/b.ts': 'let key = "used"',
      'api/c.ts': '"idle"',
    });
    Bun.spawnSync(['git', 'init', '-q'], { cwd: root });
    const refs = ['refs', `${root}/web`, '--project', 'app', '--fail-on', 'none'];

    const nameless = await halyard([...refs, '--report', '--commit', 'abc1234']);
    expect(nameless).toMatchObject({ exitCode: 2, out: '' });
    expect(nameless.err).toContain('--report needs --repository');
    const named = ['--repository', 'acme/app', '--commit', 'abc1234', '--link', 'https://git.example/{path}'];
    const reported = await halyard([...refs, '--report', ...named]);
    expect(reported).toMatchObject({ exitCode: 0, err: 'Reported 3 flags of app.\n' });

    const inCode = async (key: string) => {
      const headers = { Authorization: `Bearer ${node.adminToken}` };
      const path = `/api/projects/app/flags/${key}/code-references`;
      return await (await fetch(`${node.url}${path}`, { headers })).json();
    };
    const first = [1, 2].map((line) => ({ path: 'web/a.ts', line }));
    expect(await inCode('used')).toMatchObject({
      repositories: [
        {
          repository: 'acme/app',
          commit: 'abc1234',
          link: 'https://git.example/{path}',
          places: 3,
          files: 2,
          first: [...first, { path: 'web/deep/b.ts', line: 1 }],
        },
      ],
    });
    expect(await inCode('idle')).toMatchObject({ repositories: [{ places: 0, files: 0, first: [] }] });
    expect(await inCode('gone-by')).toMatchObject({ repositories: [{ places: 1 }] });

    const forget = ['refs', '--project', 'app', '--forget', '--repository', 'acme/app'];
    expect((await halyard(forget)).exitCode).toBe(0);
    expect(await inCode('used')).toEqual({ repositories: [] });
    expect((await halyard(forget)).err).toContain('has no report here');
  }, 60_000);
});
