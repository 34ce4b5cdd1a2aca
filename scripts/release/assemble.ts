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
import { buildExecutable, TARGETS, type Target } from '../build-executable.ts';
import { checkExecutable } from '../check-executable.ts';
import { writeSite } from '../site/build.ts';
import { packFolder, packTar } from './archive.ts';
import { packChart, writeChart } from './chart.ts';
import { checkClient } from './check-client.ts';
import { checkImage } from './check-image.ts';
import { releaseFiles } from './files.ts';
import { fetchPackages } from './image/debian.ts';
import { writeImage } from './image/image.ts';
import { buildJavaClient, javaFiles } from './java-client.ts';
import { releaseNotes } from './notes.ts';
import { thirdPartyNotices } from './notices.ts';
import { OciLayout } from './oci-layout.ts';
import { buildPythonClient } from './python-client.ts';
import { billOfMaterials, type Source } from './sbom.ts';
import { mendLinks } from './source-links.ts';

const ROOT = resolve(import.meta.dir, '../..');
const OUT = join(ROOT, 'dist/release');
/** Files on the way to the release. */
const WORK = join(ROOT, 'dist/image');

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** Starts an executable where this machine can. Returns how it was checked. */
async function checkTarget(target: Target, path: string): Promise<string> {
  if (target !== `bun-${process.platform}-${process.arch}`) return 'not started: it is for other machines';
  await checkExecutable(path);
  return 'started, and tried from an empty folder';
}

/** The files of an archive beside the executable: by their names there, their paths in the repository. */
const BESIDE: Readonly<Record<string, string>> = {
  'README.md': 'scripts/release/README.md',
  LICENSE: 'LICENSE',
  'CHANGELOG.md': 'CHANGELOG.md',
  'SUPPORT.md': 'SUPPORT.md',
  'SECURITY.md': 'SECURITY.md',
  deploy: 'deploy',
};

/** What only works in a clone: the test of the recipes, and what `compose.yaml` reads. */
const ONLY_IN_CLONES = ['deploy/try.ts', 'deploy/make-secrets', 'deploy/secrets'];

function isShipped(path: string): boolean {
  return !ONLY_IN_CLONES.some((each) => path === join(ROOT, each));
}

async function makeExecutable(target: Target, notices: string, modifiedAt: Date): Promise<void> {
  const name = `halyard-${version}-${target.slice('bun-'.length)}`;
  const folder = join(OUT, name);
  const path = join(folder, 'halyard');
  await buildExecutable(path, target);
  await cp(path, join(WORK, target));
  const checked = await checkTarget(target, path);

  for (const [file, source] of Object.entries(BESIDE))
    await cp(join(ROOT, source), join(folder, file), { recursive: true, filter: isShipped });
  await mendLinks(folder, version);
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

async function makeGoClient(): Promise<void> {
  const name = `halyard-go-${version}`;
  await cp(join(ROOT, 'clients/go'), join(WORK, name), { recursive: true });
  await cp(join(ROOT, 'LICENSE'), join(WORK, name, 'LICENSE'));
  say(await packWork(name));
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

async function makeImage(notices: string, debs: string | undefined): Promise<void> {
  const name = `halyard-image-${version}.oci.tar`;
  await mkdir(join(WORK, 'debs'));
  const missing = await fetchPackages(join(WORK, 'debs'), debs);
  if (missing !== undefined) return say(`${name}   left out: ${missing}`);

  const layout = new OciLayout(join(WORK, 'image'));
  const executables = new Map([
    ['amd64', join(WORK, 'bun-linux-x64')],
    ['arm64', join(WORK, 'bun-linux-arm64')],
  ] as const);
  const { commit, committedAt } = source;
  await writeImage(layout, { version, commit, committedAt, notices, debs: join(WORK, 'debs'), executables });
  await packLayout('image', name);

  const checked = await checkImage(join(OUT, name));
  if (values.complete && !checked.includes('run as user'))
    throw new Error(`The image was not run: ${checked}`);
  say(`${name}   ${sizeOf(join(OUT, name))}   ${checked}`);
}

async function makeChart(): Promise<void> {
  const chart = packChart(source.committedAt);
  await Bun.write(join(OUT, `halyard-chart-${version}.tgz`), chart);
  const name = `halyard-chart-${version}.oci.tar`;
  await writeChart(new OciLayout(join(WORK, 'chart')), chart, source.committedAt);
  await packLayout('chart', name);
  say(`halyard-chart-${version}.tgz, ${name}   ${sizeOf(join(OUT, name))}`);
}

async function packLayout(folder: string, name: string): Promise<void> {
  const parent = join(WORK, folder);
  const names = ['blobs', 'index.json', 'oci-layout'];
  await Bun.write(join(OUT, name), packTar({ parent, names, modifiedAt: source.committedAt }));
}

async function makeSite(): Promise<void> {
  const name = `halyard-docs-${version}`;
  const pages = await writeSite(join(WORK, name));
  say(`${await packWork(name)}   ${pages} pages`);
}

/** Packs a folder of {@link WORK} into the release. Returns its line of the list. */
async function packWork(name: string): Promise<string> {
  const packed = await packFolder({ parent: WORK, name, modifiedAt: source.committedAt });
  await cp(packed, join(OUT, `${name}.tar.gz`));
  return `${name}.tar.gz   ${sizeOf(packed)}`;
}

async function makeNotes(): Promise<void> {
  const changelog = await Bun.file(join(ROOT, 'CHANGELOG.md')).text();
  const notes = releaseNotes(changelog, version);
  if (notes === undefined) throw new Error(`CHANGELOG.md says nothing about ${version}`);
  if (releaseNotes(changelog, 'Unreleased') !== undefined)
    say('NOTES.md   leaves out what CHANGELOG.md has under Unreleased, and these files have');
  await Bun.write(join(OUT, 'NOTES.md'), notes);
}

/** Compares what is there with the list that the documentation is held to. Returns what is missing. */
async function missingFiles(): Promise<string[]> {
  const made = await readdir(OUT);
  const files = releaseFiles(version);
  const strays = made.filter((name) => !files.has(name));
  if (strays.length > 0) throw new Error(`scripts/release/files.ts has no ${strays}`);
  return [...files.keys()].filter((name) => !made.includes(name));
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
  options: {
    'committed-at': { type: 'string', default: '' },
    debs: { type: 'string' },
    complete: { type: 'boolean', default: false },
  },
});
const source: Source = {
  commit: process.env.HALYARD_COMMIT ?? '',
  committedAt: new Date(values['committed-at']),
};
const notices = await thirdPartyNotices();
await mkdir(OUT, { recursive: true });
await mkdir(WORK, { recursive: true });
for (const target of TARGETS) await makeExecutable(target, notices, source.committedAt);
await makeImage(notices, values.debs);
await makeChart();
await makeClient();
await makePythonClient();
await makeGoClient();
await makeJavaClient(source.committedAt);
await makeBill(source);
await makeSite();
await makeNotes();
const missing = await missingFiles();
if (values.complete && missing.length > 0) throw new Error(`The release lacks ${missing.join(', ')}.`);
await writeChecksums();
