/**
 * Checks the image of a release as anyone can, without a daemon: `bun scripts/release/check-image.ts [dist/release/halyard-image-….oci.tar]`.
 * Every blob must have its digest. Then the file system for this processor is unpacked and run as the image says: read-only, as the
 * numeric user, with the data folder as the only place to write to. Root runs it as that very user; for anyone else, a namespace maps
 * the number to the user who runs this. Needs Linux, GNU tar and util-linux.
 */
import { mkdir, readdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { temporaryFolder } from '@halyard/testing';
import { version } from '../../package.json' with { type: 'json' };
import { checkExecutable } from '../check-executable.ts';
import { serveExecutable } from '../executable.ts';
import { run } from './check-client.ts';
import type { ContainerConfig } from './image/dockerfile.ts';
import { type Descriptor, digestOf } from './oci-layout.ts';

/** An image as its configuration describes it, unpacked. */
interface UnpackedImage {
  readonly root: string;
  readonly config: ContainerConfig;
}

interface Manifest {
  readonly config: Descriptor;
  readonly layers: readonly Descriptor[];
}

const ARCHITECTURE = process.arch === 'arm64' ? 'arm64' : 'amd64';

const IS_ROOT = process.getuid?.() === 0;

/** Where mounts are ours alone: a user who is not root is root there. */
const NAMESPACES = IS_ROOT ? ['--mount'] : ['--mount', '--user', '--map-root-user'];

/** Returns what was checked, in words. Rejects with what is wrong. */
export async function checkImage(archive: string): Promise<string> {
  using folder = temporaryFolder();
  const layout = folder.file('layout');
  await mkdir(layout);
  await run(folder.path, 'tar', '--extract', '--file', archive, '--directory', layout);

  const checked: string[] = [];
  for (const manifest of await readManifests(layout)) {
    const architecture = manifest.platform?.architecture ?? '';
    const how =
      process.platform === 'linux'
        ? await tryImage(await unpack(layout, manifest, folder.file(architecture)), architecture)
        : 'not run: this machine runs another system';
    checked.push(`linux/${architecture} ${how}`);
  }
  return checked.join('; ');
}

/** Reads a blob, whose name must be right. */
async function readBlob(layout: string, { digest, size }: Descriptor): Promise<Uint8Array<ArrayBuffer>> {
  const bytes = await Bun.file(join(layout, 'blobs', digest.replace(':', '/'))).bytes();
  if (digestOf(bytes) !== digest || bytes.length !== size) throw new Error(`${digest} is not what it says`);
  return bytes;
}

async function readJson(layout: string, descriptor: Descriptor) {
  return JSON.parse(new TextDecoder().decode(await readBlob(layout, descriptor)));
}

/** The manifests of all platforms, whose blobs are right and are all that the layout has. */
async function readManifests(layout: string): Promise<readonly Descriptor[]> {
  const { manifests: content }: { manifests: Descriptor[] } = await Bun.file(
    join(layout, 'index.json'),
  ).json();
  const [index] = content;
  if (index === undefined || content.length > 1)
    throw new Error('the layout does not hold exactly one image');
  const { manifests }: { manifests: Descriptor[] } = await readJson(layout, index);

  const named = new Set([index.digest]);
  for (const manifest of manifests) {
    const { config, layers }: Manifest = await readJson(layout, manifest);
    for (const blob of [config, ...layers]) await readBlob(layout, blob);
    for (const { digest } of [manifest, config, ...layers]) named.add(digest);
  }
  const stray = (await readdir(join(layout, 'blobs/sha256'))).filter((name) => !named.has(`sha256:${name}`));
  if (stray.length > 0) throw new Error(`nothing names the blobs ${stray}`);
  return manifests;
}

async function unpack(layout: string, descriptor: Descriptor, root: string): Promise<UnpackedImage> {
  const { config, layers }: Manifest = await readJson(layout, descriptor);
  const { config: container, rootfs } = await readJson(layout, config);

  await mkdir(root);
  for (const [i, layer] of layers.entries()) {
    const tar = Bun.gunzipSync(await readBlob(layout, layer));
    if (digestOf(tar) !== rootfs.diff_ids[i]) throw new Error(`layer ${i} unpacks to something else`);
    const unpacking = Bun.spawn(
      ['tar', '--extract', '--numeric-owner', '--preserve-permissions', '--directory', root],
      {
        stdin: tar,
        stderr: 'inherit',
      },
    );
    if ((await unpacking.exited) !== 0) throw new Error(`layer ${i} cannot be unpacked`);
  }

  for (const device of ['null', 'zero', 'random', 'urandom']) await Bun.write(join(root, 'dev', device), '');
  await mkdir(join(root, 'proc'));
  return { root, config: container };
}

/**
 * Mounts the root in a namespace, read-only but for the data folder, with what every container gets: `/proc`, and the usual devices.
 * Then runs the rest.
 */
const ENTER = `set -e
root=$1; shift
mount --bind "$root" "$root"
mount --bind "$root/data" "$root/data"
mount --rbind /proc "$root/proc"
for device in null zero random urandom; do mount --bind "/dev/$device" "$root/dev/$device"; done
mount -o remount,bind,ro "$root"
exec "$@"`;

/** The command that runs the program of an image, as its user. */
function programOf({ root, config }: UnpackedImage): string[] {
  const [user = '', group = ''] = config.User.split(':');
  const inner = IS_ROOT
    ? [`--setuid=${user}`, `--setgid=${group}`]
    : ['--user', `--map-user=${user}`, `--map-group=${group}`];
  const change = ['unshare', ...inner, `--root=${root}`, `--wd=${config.WorkingDir}`];
  return ['unshare', ...NAMESPACES, 'sh', '-c', ENTER, 'sh', root, ...change, ...config.Entrypoint];
}

/** Runs an image, as far as this machine can. Returns how. */
async function tryImage(image: UnpackedImage, architecture: string): Promise<string> {
  if (architecture === ARCHITECTURE) {
    if (Bun.spawnSync(['unshare', ...NAMESPACES, 'true']).exitCode !== 0)
      return 'not run: this machine allows no namespaces';
    await runImage(image);
    return `run as user ${image.config.User} on a read-only root`;
  }

  const emulator = Bun.which(`qemu-${architecture === 'arm64' ? 'aarch64' : 'x86_64'}-static`);
  if (emulator === null) return 'not run: there is no emulator for its processor (qemu-user-static)';
  const [program = ''] = image.config.Entrypoint;
  checkVersion(
    await run(image.root, emulator, '-L', image.root, join(image.root, program), 'version', '--json'),
  );
  return 'printed its version under emulation';
}

function checkVersion(answer: string): void {
  const { version: found } = JSON.parse(answer);
  if (found !== version) throw new Error(`the image has version ${found}`);
}

async function runImage({ root, config }: UnpackedImage): Promise<void> {
  const settings = config.Env.map((pair): [string, string] => {
    const end = pair.indexOf('=');
    return [pair.slice(0, end), pair.slice(end + 1)];
  });
  // `PATH` is for the tools of this machine. Unlike a container, this shares the machine's addresses.
  const env = { ...Object.fromEntries(settings), PATH: process.env.PATH ?? '', HALYARD_HOST: '127.0.0.1' };
  const data = join(root, config.WorkingDir);
  await checkExecutable(programOf({ root, config }), env, data);

  const server = await serveExecutable(programOf({ root, config }), { folder: data, env });
  try {
    await checkUser(server.pid, config);
    const [, , ...healthcheck] = config.Healthcheck.Test;
    await server.run(...healthcheck);
    checkVersion(await (await fetch(`${server.url}/healthz`)).text());
  } finally {
    await server.stop();
  }
}

/** The process must be the user of the image, without a capability. */
async function checkUser(pid: number, config: ContainerConfig): Promise<void> {
  const status = await Bun.file(`/proc/${pid}/status`).text();
  const read = (name: string) => new RegExp(`^${name}:\\s+(\\S+)`, 'm').exec(status)?.[1];
  const wanted = IS_ROOT ? config.User.split(':')[0] : String(process.getuid?.());
  if (read('Uid') !== wanted) throw new Error(`the image runs as user ${read('Uid')}`);
  if (BigInt(`0x${read('CapEff')}`) !== 0n)
    throw new Error(`the image has the capabilities ${read('CapEff')}`);
}

if (import.meta.main) {
  const fallback = resolve(import.meta.dir, `../../dist/release/halyard-image-${version}.oci.tar`);
  process.stdout.write(`${await checkImage(resolve(process.argv[2] ?? fallback))}\n`);
}
