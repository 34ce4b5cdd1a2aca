import { expect, test } from 'bun:test';
import { join, resolve } from 'node:path';
import { temporaryFolder } from '@halyard/testing';
import { version } from '../../package.json' with { type: 'json' };
import { releaseFiles } from './files.ts';
import { releaseNotes } from './notes.ts';
import { mendLinks } from './source-links.ts';

const ROOT = resolve(import.meta.dir, '../..');

test('the version and the license are the same everywhere, and the changelog has a section for it', async () => {
  for await (const manifest of new Bun.Glob('packages/*/package.json').scan(ROOT))
    expect([manifest, (await Bun.file(join(ROOT, manifest)).json()).version]).toEqual([manifest, undefined]);
  expect(await Bun.file(join(ROOT, 'CHANGELOG.md')).text()).toContain(`\n## ${version}\n`);
  // Maven wants its own.
  const pom = await Bun.file(join(ROOT, 'clients/java/pom.xml')).text();
  expect(pom).toContain(
    `<artifactId>halyard-openfeature-provider</artifactId>\n  <version>${version}</version>`,
  );
  const license = await Bun.file(join(ROOT, 'clients/java/src/main/resources/META-INF/LICENSE')).text();
  expect(license).toBe(await Bun.file(join(ROOT, 'LICENSE')).text());
});

test('pages that name the package of the client name that version', async () => {
  const named: string[] = [];
  for (const page of ['README.md', 'docs/getting-started.md', 'packages/client/README.md']) {
    const text = await Bun.file(join(ROOT, page)).text();
    named.push(...[...text.matchAll(/halyard-client-(.+?)\.tgz/g)].map(([, found = '']) => found));
  }
  expect(new Set(named)).toEqual(new Set([version]));
});

test('the files that CI and a release run exist', async () => {
  const { scripts } = await Bun.file(join(ROOT, 'package.json')).json();
  for await (const workflow of new Bun.Glob('.github/workflows/*.yml').scan({ cwd: ROOT, dot: true })) {
    const text = await Bun.file(join(ROOT, workflow)).text();
    expect(text).toContain('run: .ci/run');
    for (const [, script = ''] of text.matchAll(/bun@[\d.]+ run ([\w:]+)/g))
      expect(scripts).toHaveProperty([script]);
    const made = [...releaseFiles('$version').keys(), 'SHA256SUMS', 'SHA256SUMS.sigstore.json'];
    for (const [, name = ''] of text.matchAll(/(?<![\w/])release\/([\w$*.-]+\w)(?!\/)/g))
      expect([name, made.some((file) => new Bun.Glob(name).match(file))]).toEqual([name, true]);
  }
});

test('the notes of a release are what its section of the changelog says, with links that lead to its sources', () => {
  const changelog =
    '# Changes\n\n## Unreleased\n\n- soon\n\n## 1.2.3\n\n- [new](docs/moving.md), [page](https://a.example)\n\n### Fixed\n\n- this\n\n## 1.2\n\n- old\n';
  const link = 'https://github.com/halyard-flags/halyard/blob/v1.2.3/docs/moving.md';
  expect(releaseNotes(changelog, '1.2.3')).toBe(
    `- [new](${link}), [page](https://a.example)\n\n### Fixed\n\n- this\n`,
  );
  expect(releaseNotes(changelog, '2.0.0')).toBeUndefined();
  expect(releaseNotes('## 1.2.3\n\n## 1.2.2\n\n- old\n', '1.2.3')).toBeUndefined();
});

test('the pages of an archive link to what it has, and to the sources of its version', async () => {
  using folder = temporaryFolder();
  await Bun.write(
    folder.file('deploy/README.md'),
    '[a](../docs/a.md#b) [c](../SUPPORT.md#d) [e](x/e.yaml) [f](#g)',
  );
  await Bun.write(folder.file('SUPPORT.md'), '[h](deploy/README.md) [i](https://i.example)');
  await mendLinks(folder.path, '1.2.3');
  const sources = 'https://github.com/halyard-flags/halyard/blob/v1.2.3';
  expect(await Bun.file(folder.file('deploy/README.md')).text()).toBe(
    `[a](${sources}/docs/a.md#b) [c](../SUPPORT.md#d) [e](${sources}/deploy/x/e.yaml) [f](#g)`,
  );
  expect(await Bun.file(folder.file('SUPPORT.md')).text()).toBe(
    '[h](deploy/README.md) [i](https://i.example)',
  );
});

/** What people read, by its path. */
async function readPages(): Promise<ReadonlyMap<string, string>> {
  const pages = new Map<string, string>();
  for (const folder of ['docs', 'deploy', 'clients', 'packages/client', 'scripts/release'])
    for await (const name of new Bun.Glob('**/*.md').scan(join(ROOT, folder)))
      if (!name.includes('node_modules')) pages.set(`${folder}/${name}`, '');
  for (const page of ['README.md', 'CONTRIBUTING.md', ...pages.keys()])
    pages.set(page, await Bun.file(join(ROOT, page)).text());
  return pages;
}

test('pages name no file that a release does not have, and every file of a release is on the page on installing', async () => {
  const files = releaseFiles(version);
  const strays: string[] = [];
  for (const [page, text] of await readPages()) {
    for (const [name] of text.matchAll(
      /\bhalyard(?:_flags)?-(?:[a-z-]+-)?\d+\.\d+\.\d+[\w.-]*\.(?:tgz|gz|tar|whl|jar|pom|json)\b/g,
    ))
      if (!files.has(name)) strays.push(`${page}: ${name}`);
  }
  expect(strays).toEqual([]);

  const install = await Bun.file(join(ROOT, 'docs/operations/install.md')).text();
  const stems = [...files.keys()].map((name) =>
    name.replace(/(?:-(?:linux|darwin)-\w+|-sources|-javadoc)?(?:\.[a-z]+)+$/, ''),
  );
  expect(stems.filter((stem) => !install.includes(stem))).toEqual([]);
});

test('pages name no place where a release is not published yet, unless they say so', async () => {
  const place =
    /ghcr\.io|docker (?:pull|run) [\w./-]*\/halyard|npm (?:install|i|add) @halyard|pip install halyard|go get github\.com\/halyard/;
  const strays: string[] = [];
  for (const [page, text] of await readPages()) {
    for (const paragraph of text.split('\n\n'))
      if (place.test(paragraph) && !/\bonce\b|\byet\b|\buntil\b|Push a tag/.test(paragraph))
        strays.push(`${page}: ${paragraph}`);
  }
  expect(strays).toEqual([]);
});
