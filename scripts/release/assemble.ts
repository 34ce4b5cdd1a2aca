/**
 * Makes the files of a release in `dist/release` of the folder that it lies in, from installed dependencies: `run.ts` calls it in the
 * folder where releases are made.
 */
import { createHash } from 'node:crypto';
import { cp, mkdir, readdir, rename, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { version } from '../../package.json' with { type: 'json' };
import { buildPackage, packPackage } from '../../packages/client/scripts/build.ts';
import { buildExecutable, type Target } from '../build-executable.ts';
import { checkExecutable } from '../check-executable.ts';
import { packFolder } from './archive.ts';
import { checkClient } from './check-client.ts';
import { buildJavaClient, javaFiles } from './java-client.ts';
import { thirdPartyNotices } from './notices.ts';
import { buildPythonClient } from './python-client.ts';
import { billOfMaterials, type Source } from './sbom.ts';

const ROOT = resolve(import.meta.dir, '../..');
const OUT = join(ROOT, 'dist/release');
const TARGETS: readonly Target[] = ['bun-linux-x64', 'bun-linux-arm64', 'bun-darwin-x64', 'bun-darwin-arm64'];

function say(line: string): void {
  process.stdout.write(`${line}\n`);
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

/** The files of an archive beside the executable: by their names there, their paths in the repository. */
const BESIDE: Readonly<Record<string, string>> = {
  'README.md': 'scripts/release/README.md',
  LICENSE: 'LICENSE',
  'CHANGELOG.md': 'CHANGELOG.md',
  deploy: 'deploy',
};

async function makeExecutable(target: Target, notices: string, modifiedAt: Date): Promise<void> {
  const name = `halyard-${version}-${target.slice('bun-'.length)}`;
  const folder = join(OUT, name);
  const path = join(folder, 'halyard');
  await buildExecutable(path, target);
  const checked = await checkTarget(target, path);

  for (const [file, source] of Object.entries(BESIDE))
    await cp(join(ROOT, source), join(folder, file), { recursive: true });
  await Bun.write(join(folder, 'THIRD-PARTY-NOTICES'), notices);

  const archive = await packFolder({ parent: OUT, name, modifiedAt });
  await rm(folder, { recursive: true });
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

async function makePythonClient(): Promise<void> {
  const built = await buildPythonClient(OUT);
  if (typeof built === 'string') {
    say(`halyard_flags-${version}   left out: ${built}`);
    return;
  }

  for (const name of built.files)
    say(`${name}   ${sizeOf(join(OUT, name))}   built; the wheel installed and run with ${built.runtime}`);
}

async function makeJavaClient(modifiedAt: Date): Promise<void> {
  const missing = await buildJavaClient(OUT, version, modifiedAt);
  for (const name of javaFiles(version).keys())
    say(`${name}   ${missing === undefined ? sizeOf(join(OUT, name)) : `left out: ${missing}`}`);
}

async function makeBill(source: Source): Promise<void> {
  const name = `halyard-${version}.cdx.json`;
  await Bun.write(join(OUT, name), await billOfMaterials(version, source));
  say(`${name}   ${sizeOf(join(OUT, name))}`);
}

function makeImage(commit: string): void {
  const tag = `halyard:${version}`;
  if (Bun.which('docker') === null || Bun.spawnSync(['docker', 'info']).exitCode !== 0) {
    say(`${tag}   left out: there is no docker that runs`);
    return;
  }
  const build = ['docker', 'build', '--build-arg', `HALYARD_COMMIT=${commit}`, '--tag', tag, ROOT];
  if (Bun.spawnSync(build, { stdout: 'inherit', stderr: 'inherit' }).exitCode !== 0)
    throw new Error('the image cannot be built');
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

const { values } = parseArgs({ options: { 'committed-at': { type: 'string', default: '' } } });
const source: Source = {
  commit: process.env.HALYARD_COMMIT ?? '',
  committedAt: new Date(values['committed-at']),
};
const notices = await thirdPartyNotices();
await mkdir(OUT, { recursive: true });
for (const target of TARGETS) await makeExecutable(target, notices, source.committedAt);
await makeClient();
await makePythonClient();
await makeJavaClient(source.committedAt);
await makeBill(source);
makeImage(source.commit);
await writeChecksums();
