import { cp, mkdir, readdir } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { temporaryFolder } from '@halyard/testing';
import { packTar } from '../archive.ts';
import { run } from '../check-client.ts';
import { type Architecture, BASE_PACKAGES, DEBIAN, fileOf, PINNED_AT } from './debian.ts';

const ROOT = resolve(import.meta.dir, '../../..');

/** The number of the user in the image, as in its `USER`. */
export const IMAGE_USER = 65532;

/** The loader of programs, by the name that executables have for it, and the folder of the libraries with that loader. */
const LOADERS: Readonly<Record<Architecture, readonly [loader: string, folder: string]>> = {
  amd64: ['lib64/ld-linux-x86-64.so.2', 'lib/x86_64-linux-gnu'],
  arm64: ['lib/ld-linux-aarch64.so.1', 'lib/aarch64-linux-gnu'],
};

/** What Bun's executables load beside the loader, and what the C library loads to look up names. */
const LIBRARIES = [
  'libc.so.6',
  'libm.so.6',
  'libpthread.so.0',
  'libdl.so.2',
  'librt.so.1',
  'libresolv.so.2',
  'libnss_dns.so.2',
  'libnss_files.so.2',
];

const FILES: Readonly<Record<string, string>> = {
  'etc/passwd': `root:x:0:0:root:/root:/sbin/nologin\nnonroot:x:${IMAGE_USER}:${IMAGE_USER}:nonroot:/data:/sbin/nologin\n`,
  'etc/group': `root:x:0:\nnonroot:x:${IMAGE_USER}:\n`,
  'etc/nsswitch.conf': 'hosts: files dns\n',
  // Scanners of vulnerabilities find the packages by it.
  'etc/os-release': `PRETTY_NAME="Halyard on the C library of Debian ${DEBIAN}"\nNAME="Debian GNU/Linux"\nID=debian\nVERSION_ID="${DEBIAN}"\n`,
};

/** The layer of the base, as a tar: a C library, certificates, and the files that say who its users are. No shell. */
export async function packBase(debs: string, architecture: Architecture): Promise<Uint8Array<ArrayBuffer>> {
  using folder = temporaryFolder();
  const root = folder.file('root');
  for (const [name, text] of Object.entries(FILES)) await Bun.write(join(root, name), text);

  for (const wanted of BASE_PACKAGES) {
    if (wanted.architecture !== architecture && wanted.architecture !== 'all') continue;
    const deb = await fileOf(debs, wanted);
    const unpacked = folder.file(wanted.name);
    await run(folder.path, 'dpkg-deb', '--extract', deb, unpacked);
    if (wanted.name === 'libc6') await copyLibraries(unpacked, root, architecture);
    else await joinCertificates(unpacked, root);

    const copyright = `usr/share/doc/${wanted.name}/copyright`;
    await cp(join(unpacked, copyright), join(root, copyright));
    const control = await run(folder.path, 'dpkg-deb', '--field', deb);
    await Bun.write(join(root, 'var/lib/dpkg/status.d', wanted.name), control);
  }

  return packTar({ parent: root, names: (await readdir(root)).sort(), modifiedAt: PINNED_AT });
}

/** Takes out of the unpacked C library what programs load. */
async function copyLibraries(unpacked: string, root: string, architecture: Architecture): Promise<void> {
  const [loader, folder] = LOADERS[architecture];
  const names = [basename(loader), ...LIBRARIES].map((name) => join(folder, name));
  for (const name of [loader, ...names]) {
    await mkdir(join(root, dirname(name)), { recursive: true });
    await cp(join(unpacked, name), join(root, name), { verbatimSymlinks: true });
  }
}

/** Joins the certificates as Debian's `update-ca-certificates` does. */
async function joinCertificates(unpacked: string, root: string): Promise<void> {
  const folder = join(unpacked, 'usr/share/ca-certificates/mozilla');
  const names = (await readdir(folder)).filter((name) => name.endsWith('.crt')).sort();
  const texts = await Promise.all(names.map((name) => Bun.file(join(folder, name)).text()));
  await Bun.write(join(root, 'etc/ssl/certs/ca-certificates.crt'), texts.join(''));
}

/** The layer of the program, as a tar. */
export async function packProgram(
  executable: string,
  notices: string,
  modifiedAt: Date,
): Promise<Uint8Array<ArrayBuffer>> {
  using folder = temporaryFolder();
  await mkdir(folder.file('usr/local/bin'), { recursive: true });
  await cp(executable, folder.file('usr/local/bin/halyard'));
  await Bun.write(folder.file('usr/share/doc/halyard/LICENSE'), Bun.file(join(ROOT, 'LICENSE')));
  await Bun.write(folder.file('usr/share/doc/halyard/THIRD-PARTY-NOTICES'), notices);
  return packTar({ parent: folder.path, names: ['usr'], modifiedAt });
}

/** The layer of the data folder, as a tar: a volume that is made there takes its owner over. */
export async function packData(): Promise<Uint8Array<ArrayBuffer>> {
  using folder = temporaryFolder();
  await mkdir(folder.file('data'));
  return packTar({ parent: folder.path, names: ['data'], modifiedAt: PINNED_AT, owner: IMAGE_USER });
}
