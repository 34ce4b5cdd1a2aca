/**
 * Makes a release in `dist/release`: executables for every platform, the client's package, a bill of materials, and a
 * file of checksums. `bun run release [--tag v1.2.3] [--dirty]`. Needs the package registry, npm and git.
 */
import { createHash } from 'node:crypto';
import { mkdir, readdir, rename, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { version } from '../../package.json' with { type: 'json' };
import { buildPackage, packPackage } from '../../packages/client/scripts/build.ts';
import { buildExecutable, type Target } from '../build-executable.ts';
import { checkExecutable } from '../check-executable.ts';
import { checkClient } from './check-client.ts';
import { billOfMaterials } from './sbom.ts';

const ROOT = resolve(import.meta.dir, '../..');
const OUT = join(ROOT, 'dist/release');
const TARGETS: readonly Target[] = ['bun-linux-x64', 'bun-linux-arm64', 'bun-darwin-x64', 'bun-darwin-arm64'];

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

function refuse(why: string): never {
  process.stderr.write(`error: ${why}\n`);
  process.exit(1);
}

async function checkSources(tag: string | undefined, allowsDirty: boolean): Promise<void> {
  if (tag !== undefined && tag !== `v${version}`) {
    refuse(`The tag is ${tag}, and package.json says ${version}: change one of them.`);
  }
  const changes = String(Bun.spawnSync(['git', 'status', '--porcelain'], { cwd: ROOT }).stdout).trim();
  if (changes !== '' && !allowsDirty) refuse(`The clone has changes that are not committed:\n${changes}`);
  const changelog = await Bun.file(join(ROOT, 'CHANGELOG.md')).text();
  if (!changelog.includes(`\n## ${version}`)) refuse(`CHANGELOG.md has no section "## ${version}".`);
}

/** Starts an executable where this machine can, natively or by emulation. Returns how it was checked. */
async function checkTarget(target: Target, path: string): Promise<string> {
  const [, system, architecture] = target.split('-');
  if (system !== process.platform) return 'not started: this machine runs another system';
  if (architecture === process.arch) {
    await checkExecutable(path);
    return 'started, and tried from an empty folder';
  }
  const emulator = architecture === 'arm64' ? Bun.which('qemu-aarch64-static') : null;
  if (emulator === null) return 'not started: no emulator for its processor (qemu-user-static)';
  const { exitCode, stdout } = Bun.spawnSync([emulator, path, 'version', '--json'], { env: {} });
  if (exitCode !== 0) return 'not started: the emulator cannot run it';
  const { version: found } = JSON.parse(String(stdout));
  if (found !== version) throw new Error(`${path} reports version ${found}`);
  return 'printed its version under emulation';
}

async function makeExecutable(target: Target): Promise<void> {
  const name = `halyard-${version}-${target.slice('bun-'.length)}`;
  const path = join(OUT, 'halyard');
  await buildExecutable(path, target);
  const checked = await checkTarget(target, path);
  const archive = join(OUT, `${name}.tar.gz`);
  const tar = Bun.spawnSync(['tar', '-czf', archive, '-C', OUT, 'halyard', '-C', ROOT, 'LICENSE'], {
    stderr: 'pipe',
  });
  if (tar.exitCode !== 0) throw new Error(`tar failed:\n${tar.stderr}`);
  await rm(path);
  say(`${name}.tar.gz   ${sizeOf(archive)}   ${checked}`);
}

async function makeClient(): Promise<void> {
  const folder = join(OUT, 'client');
  await buildPackage(folder);
  const tarball = await packPackage(folder, OUT);
  const runtimes = await checkClient(tarball);
  await rm(folder, { recursive: true });
  say(
    `${tarball.slice(OUT.length + 1)}   ${sizeOf(tarball)}   installed and run with ${runtimes.join(', ')}`,
  );
}

async function makeBill(): Promise<void> {
  const name = `halyard-${version}.cdx.json`;
  await Bun.write(join(OUT, name), await billOfMaterials(version));
  say(`${name}   ${sizeOf(join(OUT, name))}`);
}

function makeImage(): void {
  const tag = `halyard:${version}`;
  if (Bun.which('docker') === null || Bun.spawnSync(['docker', 'info']).exitCode !== 0) {
    say(`${tag}   left out: there is no docker that runs`);
    return;
  }
  const commit = String(
    Bun.spawnSync(['git', 'rev-parse', '--short=12', 'HEAD'], { cwd: ROOT }).stdout,
  ).trim();
  const build = ['docker', 'build', '--build-arg', `HALYARD_COMMIT=${commit}`, '--tag', tag, ROOT];
  if (Bun.spawnSync(build, { stdout: 'inherit', stderr: 'inherit' }).exitCode !== 0)
    refuse('The image cannot be built.');
  say(`${tag}   built`);
}

async function writeChecksums(): Promise<void> {
  const lines: string[] = [];
  for (const name of (await readdir(OUT)).sort()) {
    const hash = createHash('sha256').update(await Bun.file(join(OUT, name)).bytes());
    lines.push(`${hash.digest('hex')}  ${name}\n`);
  }
  const partial = join(OUT, '.SHA256SUMS');
  await Bun.write(partial, lines.join(''));
  await rename(partial, join(OUT, 'SHA256SUMS'));
}

function sizeOf(path: string): string {
  return `${(Bun.file(path).size / 1e6).toFixed(1)} MB`;
}

const { values } = parseArgs({
  options: { tag: { type: 'string' }, dirty: { type: 'boolean', default: false } },
});
await checkSources(values.tag, values.dirty);
await rm(OUT, { recursive: true, force: true });
await mkdir(OUT, { recursive: true });
for (const target of TARGETS) await makeExecutable(target);
await makeClient();
await makeBill();
makeImage();
await writeChecksums();
say(`\ndist/release holds version ${version}; SHA256SUMS has the checksums.`);
