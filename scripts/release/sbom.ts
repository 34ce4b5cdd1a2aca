import { join, resolve } from 'node:path';
import { temporaryFolder } from '@halyard/testing';

const ROOT = resolve(import.meta.dir, '../..');

/** The packages whose dependencies are in the executable: the dashboard and the client are built into it or beside it. */
const SHIPPED = ['server', 'protocol', 'dashboard', 'client'] as const;

/** A software bill of materials in the format CycloneDX, as far as we read it. */
interface Bill {
  readonly metadata: object;
  readonly components: readonly { readonly name: string; readonly version: string; readonly purl: string }[];
}

/**
 * The bill of materials of a release, made by `npm sbom` from the shipped dependencies at the versions of bun.lock, and Bun itself.
 * Rejects when npm chose another version of anything.
 */
export async function billOfMaterials(version: string): Promise<string> {
  using parent = temporaryFolder();
  // npm names the whole after its folder.
  const folder = parent.file('halyard');
  const locked = await lockedVersions();
  const dependencies = await shippedDependencies();
  // npm does not read bun.lock. A name that is locked at several versions is left to npm, and checked below.
  const overrides = Object.fromEntries(
    [...locked].flatMap(([name, [only, ...others]]) =>
      only === undefined || others.length > 0 || name in dependencies ? [] : [[name, only]],
    ),
  );
  const manifest = { name: 'halyard', version, license: 'MIT', dependencies, overrides };
  await Bun.write(join(folder, 'package.json'), JSON.stringify(manifest));
  await npm(
    folder,
    'install',
    '--package-lock-only',
    '--ignore-scripts',
    '--no-audit',
    '--no-fund',
    '--omit=peer',
  );
  const text = await npm(
    folder,
    'sbom',
    '--package-lock-only',
    '--sbom-format=cyclonedx',
    '--sbom-type=application',
    '--omit=peer',
  );
  // `Bill`: the format that npm was asked for.
  const bill = JSON.parse(text) as Bill;
  const strays = bill.components.filter(({ name, version: chosen }) => !locked.get(name)?.has(chosen));
  if (strays.length > 0 || bill.components.length === 0) {
    throw new Error(`the bill of materials is wrong about: ${strays.map(({ purl }) => purl).join(', ')}`);
  }
  const runtime = { type: 'platform', name: 'bun', version: Bun.version, purl: `pkg:npm/bun@${Bun.version}` };
  return `${JSON.stringify({ ...bill, components: [...bill.components, runtime] }, undefined, 2)}\n`;
}

async function shippedDependencies(): Promise<Record<string, string>> {
  const all: Record<string, string> = {};
  for (const name of SHIPPED) {
    const manifest = await Bun.file(`${ROOT}/packages/${name}/package.json`).json();
    Object.assign(all, manifest.dependencies);
  }
  return Object.fromEntries(Object.entries(all).filter(([, wanted]) => !wanted.startsWith('workspace:')));
}

/** The versions of bun.lock by the name of the package. */
async function lockedVersions(): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
  const text = await Bun.file(`${ROOT}/bun.lock`).text();
  // JSON but for commas after the last member.
  const lock: { packages: Record<string, readonly [string, ...unknown[]]> } = JSON.parse(
    text.replaceAll(/,(\s*[}\]])/g, '$1'),
  );
  const versions = new Map<string, Set<string>>();
  for (const [spec] of Object.values(lock.packages)) {
    const at = spec.lastIndexOf('@');
    const [name, version] = [spec.slice(0, at), spec.slice(at + 1)];
    versions.set(name, (versions.get(name) ?? new Set()).add(version));
  }
  return versions;
}

async function npm(folder: string, ...words: readonly string[]): Promise<string> {
  const child = Bun.spawn(['npm', ...words], { cwd: folder, stdout: 'pipe', stderr: 'pipe' });
  const [output, problems] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  if ((await child.exited) !== 0) throw new Error(`npm ${words[0]} failed:\n${problems}`);
  return output;
}
