import { join } from 'node:path';

/** A folder to pack. */
export interface ArchiveOptions {
  /** The folder above it. */
  readonly parent: string;
  /** Its name, which is also that of the folder in the archive. */
  readonly name: string;
  /** What every file says of its age. */
  readonly modifiedAt: Date;
}

/** What goes into a tar, and what it says about it. */
export interface TarOptions {
  /** The folder that the names are in. */
  readonly parent: string;
  readonly names: readonly string[];
  readonly modifiedAt: Date;
  /** The number of the user and the group that everything belongs to; 0 by default. */
  readonly owner?: number;
}

/**
 * Packs files and folders as a tar. The same files always give the same bytes: in the order of their names, without the owners, the age and
 * the permissions that they happen to have here. Needs GNU tar.
 */
export function packTar({ parent, names, modifiedAt, owner = 0 }: TarOptions): Uint8Array<ArrayBuffer> {
  const pack = [
    'tar',
    '--create',
    '--sort=name',
    '--format=ustar',
    `--mtime=@${Math.floor(modifiedAt.getTime() / 1000)}`,
    `--owner=${owner}`,
    `--group=${owner}`,
    '--numeric-owner',
    '--mode=u=rwX,go=rX',
    '--directory',
    parent,
    ...names,
  ];
  const tar = Bun.spawnSync(pack, { stdout: 'pipe', stderr: 'pipe' });
  if (tar.exitCode !== 0) throw new Error(`tar failed (it must be GNU tar):\n${tar.stderr}`);
  return new Uint8Array(tar.stdout);
}

/** Compresses for a release, and not with the gzip of this machine: others compress differently. */
export function compress(bytes: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  return Bun.gzipSync(bytes, { level: 9 });
}

/** Packs a folder as `<name>.tar.gz` beside it, with the same bytes on every machine, and returns the path. */
export async function packFolder({ parent, name, modifiedAt }: ArchiveOptions): Promise<string> {
  const archive = join(parent, `${name}.tar.gz`);
  await Bun.write(archive, compress(packTar({ parent, names: [name], modifiedAt })));
  return archive;
}
