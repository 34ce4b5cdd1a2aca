import { expect, test } from 'bun:test';
import { chmodSync, mkdirSync, utimesSync } from 'node:fs';
import { temporaryFolder } from '@halyard/testing';
import { packPackage } from '../../packages/client/scripts/build.ts';
import { packFolder } from './archive.ts';

test("the client's package has the same bytes whatever the permissions of its files", async () => {
  const packages: Uint8Array[] = [];
  for (const mode of [0o600, 0o664]) {
    using folder = temporaryFolder();
    await Bun.write(folder.file('package.json'), '{"name":"@halyard/client","version":"1.2.3"}\n');
    await Bun.write(folder.file('shared/core.js'), 'export {};\n');
    for (const name of ['package.json', 'shared/core.js']) chmodSync(folder.file(name), mode);
    packages.push(await Bun.file(await packPackage(folder.path, folder.path)).bytes());
  }
  expect(packages[1]).toEqual(packages[0] as Uint8Array);
});

const MODIFIED_AT = new Date('2026-01-02T03:04:05Z');

test('an archive has the same bytes on every machine, whatever the age and permissions of its files there', async () => {
  const archives: Uint8Array[] = [];
  // So many that no file system gives them in the order of their names by chance.
  const all = [...'abcdefghijkl', 'run'];
  for (const [names, mode, age] of [
    [all, 0o600, 0],
    [all.toReversed(), 0o664, 1e9],
  ] as const) {
    using parent = temporaryFolder();
    mkdirSync(parent.file('halyard-1.2.3/deploy'), { recursive: true, mode: mode | 0o700 });
    for (const name of names) {
      const path = parent.file(`halyard-1.2.3/deploy/${name}`);
      await Bun.write(path, `the file ${name}\n`);
      chmodSync(path, name === 'run' ? mode | 0o100 : mode);
      utimesSync(path, age, age);
    }

    const archive = await packFolder({
      parent: parent.path,
      name: 'halyard-1.2.3',
      modifiedAt: MODIFIED_AT,
    });

    const list = Bun.spawnSync(['tar', '-tvzf', archive], { env: { TZ: 'UTC', PATH: process.env.PATH } });
    expect(String(list.stdout)).toMatch(
      /^-rwxr-xr-x 0\/0 .* 2026-01-02 03:04 halyard-1\.2\.3\/deploy\/run$/m,
    );
    const files = String(list.stdout).matchAll(/(?<=deploy\/)\w+$/gm);
    expect([...files].map(String)).toEqual(all);
    archives.push(await Bun.file(archive).bytes());
  }
  expect(archives[1]).toEqual(archives[0] as Uint8Array);
});
