import { createHash } from 'node:crypto';
import { cp, mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { temporaryFolder } from '@halyard/testing';
import { run } from '../check-client.ts';

/** A package of Debian that goes into the image of a release. */
export interface DebianPackage {
  readonly name: string;
  readonly version: string;
  /** The architecture in Debian's words. */
  readonly architecture: Architecture | 'all';
  /** Of the file, in hex. */
  readonly sha256: string;
  /** As an SPDX identifier. */
  readonly license: string;
}

/** What the image is made for, in Debian's words, which are also those of registries. */
export type Architecture = 'amd64' | 'arm64';

/** Whose packages these are. */
export const DEBIAN = '12';

/** When the packages below were chosen: the age of the files of the base, so that it changes only with them. */
export const PINNED_AT = new Date('2026-11-23T00:00:00Z');

/** The base of the image: the C library that Bun needs, and the certificates of authorities. */
export const BASE_PACKAGES: readonly DebianPackage[] = [
  {
    name: 'libc6',
    version: '2.36-9+deb12u14',
    architecture: 'amd64',
    sha256: 'ba4f88f73dbc3ae9055f3c20f4523bfdbaf1ad13ff95e258924f77d20b4fbedf',
    license: 'LGPL-2.1-or-later',
  },
  {
    name: 'libc6',
    version: '2.36-9+deb12u14',
    architecture: 'arm64',
    sha256: '01f4330719fd4f65580e16ea5a0527f372fca750e8f588d26deaf09f2d3b1cf4',
    license: 'LGPL-2.1-or-later',
  },
  {
    name: 'ca-certificates',
    version: '20250419~deb12u2',
    architecture: 'all',
    sha256: 'b9f76b5271a7ac373fd5e7e1b5b826a71ddd702b42a0d104955ecb1acfffc94b',
    license: 'MPL-2.0',
  },
];

/**
 * Puts the files of {@link BASE_PACKAGES} into a folder, and returns `undefined`, or why this machine cannot: from `debs`, a folder that
 * has them, or by apt on a machine with Debian. Rejects when a file has another digest than ours: then apt has a newer one.
 */
export async function fetchPackages(folder: string, debs: string | undefined): Promise<string | undefined> {
  if (Bun.which('dpkg-deb') === null) return 'there is no dpkg-deb';
  if (debs === undefined) {
    if (Bun.which('apt-get') === null) return 'there is no apt-get';
    const system = await Bun.file('/etc/os-release').text();
    if (!/^ID=debian$/m.test(system) || !system.includes(`VERSION_ID="${DEBIAN}"`))
      return `this machine does not run Debian ${DEBIAN}`;
  }

  if (debs !== undefined) await cp(debs, folder, { recursive: true });
  else for (const architecture of ['amd64', 'arm64'] as const) await download(folder, architecture);

  for (const pinned of BASE_PACKAGES) await checkPackage(folder, pinned);
  return undefined;
}

/** Where {@link fetchPackages} puts a package. */
export async function fileOf(folder: string, { name, architecture }: DebianPackage): Promise<string> {
  const found = (await readdir(folder)).filter(
    (file) => file.startsWith(`${name}_`) && file.endsWith(`_${architecture}.deb`),
  );
  const [file] = found;
  if (file === undefined || found.length > 1)
    throw new Error(`${found.length} files of ${name} for ${architecture} are in ${folder}, instead of one.`);
  return join(folder, file);
}

/** Asks apt in a state apart, because this machine may not know the other architecture. Needs no rights. */
async function download(folder: string, architecture: Architecture): Promise<void> {
  using state = temporaryFolder();
  await mkdir(state.file('lists/partial'), { recursive: true });
  await mkdir(state.file('cache/archives/partial'), { recursive: true });
  const options = [
    `APT::Architecture=${architecture}`,
    `APT::Architectures::=${architecture}`,
    `Dir::State::Lists=${state.file('lists')}`,
    `Dir::State::status=/dev/null`,
    `Dir::Cache=${state.file('cache')}`,
    'APT::Sandbox::User=root',
    'Acquire::Languages=none',
  ].flatMap((option) => ['-o', option]);
  const names = BASE_PACKAGES.filter((pinned) => [architecture, 'all'].includes(pinned.architecture));

  await run(folder, 'apt-get', ...options, '--quiet=2', 'update');
  await run(folder, 'apt-get', ...options, '--quiet=2', 'download', ...names.map(({ name }) => name));
}

async function checkPackage(folder: string, pinned: DebianPackage): Promise<void> {
  const { name, version, architecture, sha256 } = pinned;
  const path = await fileOf(folder, pinned);
  const found = createHash('sha256')
    .update(await Bun.file(path).bytes())
    .digest('hex');
  if (found === sha256) return;

  const other = (await run(folder, 'dpkg-deb', '--field', path, 'Version')).trim();
  throw new Error(
    `${name} for ${architecture} is ${other} with SHA-256 ${found}, and scripts/release/image/debian.ts wants ${version} with ${sha256}. ` +
      'If Debian has a newer one, write that there. To make an old release again, give the folder of its packages with --debs.',
  );
}
