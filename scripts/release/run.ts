/**
 * Makes a release in `dist/release`: the files of `files.ts`, and their checksums.
 *
 *   bun run release [--tag v1.2.3] [--complete] [--sign key] [--debs folder] [--dirty]
 *
 * `--tag` must be the version, `--complete` refuses to leave anything out, `--sign` signs the checksums with an SSH key, `--debs` is a
 * folder with the packages of Debian for the image, which apt fetches otherwise, and `--dirty` allows changes that are not committed.
 * Needs the package registry, npm, git and GNU tar. What needs more is left out if that is missing, and says so.
 */
import { cp, mkdir, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { version } from '../../package.json' with { type: 'json' };
import { releaseNotes } from './notes.ts';
import { signFile } from './signature.ts';

const ROOT = resolve(import.meta.dir, '../..');
const OUT = join(ROOT, 'dist/release');

/** The bundler lets the paths of the sources into what it makes. In one place, every clone of a commit gives the same bytes. */
const WORKSHOP = '/tmp/halyard-release';

function refuse(why: string): never {
  process.stderr.write(`error: ${why}\n`);
  process.exit(1);
}

function git(...words: readonly string[]): string {
  const { exitCode, stdout, stderr } = Bun.spawnSync(['git', ...words], { cwd: ROOT });
  if (exitCode !== 0) refuse(`git ${words[0]} failed:\n${stderr}`);
  return String(stdout).trim();
}

async function checkSources(tag: string | undefined, allowsDirty: boolean): Promise<void> {
  if (tag !== undefined && tag !== `v${version}`) {
    refuse(`The tag is ${tag}, and package.json says ${version}: change one of them.`);
  }
  const changes = git('status', '--porcelain');
  if (changes !== '' && !allowsDirty) refuse(`The clone has changes that are not committed:\n${changes}`);
  const changelog = await Bun.file(join(ROOT, 'CHANGELOG.md')).text();
  if (releaseNotes(changelog, version) === undefined)
    refuse(`CHANGELOG.md says nothing in a section "## ${version}".`);
}

/** Copies the sources to {@link WORKSHOP}, a new folder of this user, so that no other one can change them there. */
async function copySources(): Promise<void> {
  await mkdir(WORKSHOP, { mode: 0o700 }).catch((cause: unknown) => {
    refuse(`Cannot create ${WORKSHOP}. Is another release running, or was one killed? ${String(cause)}`);
  });
  await Bun.$`git ls-files -z --cached --others --exclude-standard | tar -c --null -T - | tar -x -C ${WORKSHOP}`.cwd(
    ROOT,
  );
}

/** Makes the release in {@link WORKSHOP}, with the dependencies that its own bun.lock names. */
async function assemble(words: readonly string[]): Promise<void> {
  const commit = git('describe', '--always', '--dirty', '--abbrev=12', '--exclude=*');
  const committedAt = git('show', '--no-patch', '--format=%cI', 'HEAD');
  const commands = [
    [process.execPath, 'install', '--frozen-lockfile', '--silent'],
    [process.execPath, 'scripts/release/assemble.ts', '--committed-at', committedAt, ...words],
  ];
  for (const command of commands) {
    const env = { ...process.env, HALYARD_COMMIT: commit };
    const child = Bun.spawn(command, { cwd: WORKSHOP, env, stdio: ['ignore', 'inherit', 'inherit'] });
    if ((await child.exited) !== 0) throw new Error('The release cannot be made.');
  }
}

const { values } = parseArgs({
  options: {
    tag: { type: 'string' },
    dirty: { type: 'boolean', default: false },
    complete: { type: 'boolean', default: false },
    debs: { type: 'string' },
    sign: { type: 'string' },
  },
});
await checkSources(values.tag, values.dirty);
await copySources();
try {
  await assemble([
    ...(values.complete ? ['--complete'] : []),
    ...(values.debs === undefined ? [] : ['--debs', resolve(values.debs)]),
  ]);
  await rm(OUT, { recursive: true, force: true });
  await cp(join(WORKSHOP, 'dist/release'), OUT, { recursive: true });
} finally {
  await rm(WORKSHOP, { recursive: true, force: true });
}
if (values.sign !== undefined) await signFile(join(OUT, 'SHA256SUMS'), resolve(values.sign));
process.stdout.write(`\ndist/release holds version ${version}; SHA256SUMS has the checksums.\n`);
