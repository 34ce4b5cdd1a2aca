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

/**
 * Packs a folder as `<name>.tar.gz` beside it, and returns the path. The same files always give the same bytes: in the order of their
 * names, without owners or the age and permissions that they happen to have here. Needs GNU tar.
 */
export async function packFolder({ parent, name, modifiedAt }: ArchiveOptions): Promise<string> {
  const pack = [
    'tar',
    '--create',
    '--sort=name',
    '--format=ustar',
    `--mtime=@${Math.floor(modifiedAt.getTime() / 1000)}`,
    '--owner=0',
    '--group=0',
    '--numeric-owner',
    '--mode=u=rwX,go=rX',
    '--directory',
    parent,
    name,
  ];
  const tar = Bun.spawnSync(pack, { stdout: 'pipe', stderr: 'pipe' });
  if (tar.exitCode !== 0) throw new Error(`tar failed (it must be GNU tar):\n${tar.stderr}`);
  const archive = join(parent, `${name}.tar.gz`);
  // Not the gzip of this machine: others compress differently.
  await Bun.write(archive, Bun.gzipSync(new Uint8Array(tar.stdout), { level: 9 }));
  return archive;
}
