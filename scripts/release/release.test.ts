import { expect, test } from 'bun:test';
import { join, resolve } from 'node:path';
import { version } from '../../package.json' with { type: 'json' };
import { releaseNotes } from './notes.ts';

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
