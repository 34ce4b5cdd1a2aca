import { join, resolve } from 'node:path';

const ROOT = resolve(import.meta.dir, '../..');

/** The workspace packages that a release contains: the dashboard is in the executable, the client lies beside it. */
const SHIPPED = ['server', 'protocol', 'dashboard', 'client'] as const;

/** A package from the registry that is in the executable or the dashboard, or that they are built with. */
export interface ShippedPackage {
  readonly name: string;
  readonly version: string;
  /** Where it is installed. */
  readonly folder: string;
  /** As its `package.json` says: an SPDX identifier or expression. */
  readonly license: string;
  /** SHA-512 of its tarball, in hex. */
  readonly sha512: string;
  /** The places in bun.lock of what it needs. */
  readonly needs: readonly string[];
}

/** What bun.lock says about a package: its name with its version, the registry, what it needs, and the digest of its tarball. */
type LockEntry = readonly [spec: string, registry: string, needs: Needs, integrity: string];

type Lock = ReadonlyMap<string, LockEntry>;

interface Needs {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly optionalPeers?: readonly string[];
}

/**
 * The direct and indirect dependencies of what a release contains, by their place in bun.lock, in the order of the alphabet. Rejects when
 * one of them is not in bun.lock or not installed.
 */
export async function shippedPackages(): Promise<ReadonlyMap<string, ShippedPackage>> {
  const lock = await readLock();
  const found = new Map<string, ShippedPackage>();

  const waiting = (await directDependencies()).map((name) => placeOf(lock, name, ''));
  for (let place = waiting.pop(); place !== undefined; place = waiting.pop()) {
    if (found.has(place)) continue;
    const shipped = await describePackage(lock, place);
    found.set(place, shipped);
    waiting.push(...shipped.needs);
  }

  return new Map([...found].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** The names of the packages that the manifests of what a release contains ask for. */
export async function directDependencies(): Promise<string[]> {
  const names = new Set<string>();
  for (const workspace of SHIPPED) {
    const { dependencies = {} } = await Bun.file(`${ROOT}/packages/${workspace}/package.json`).json();
    for (const [name, wanted] of Object.entries(dependencies))
      if (!String(wanted).startsWith('workspace:')) names.add(name);
  }
  return [...names];
}

async function describePackage(lock: Lock, place: string): Promise<ShippedPackage> {
  const entry = lock.get(place);
  if (entry === undefined) throw new Error(`bun.lock has no ${place}`);
  const [spec, , needs, integrity] = entry;
  const at = spec.lastIndexOf('@');
  const folder = join(ROOT, 'node_modules', namesIn(place).join('/node_modules/'));
  const { license } = await Bun.file(join(folder, 'package.json')).json();

  return {
    name: spec.slice(0, at),
    version: spec.slice(at + 1),
    folder,
    license,
    sha512: Buffer.from(integrity.replace('sha512-', ''), 'base64').toString('hex'),
    needs: neededPlaces(lock, needs, place),
  };
}

/** Peers are needed too. What is optional is there where something else needs it, or not at all. */
function neededPlaces(lock: Lock, needs: Needs, place: string): string[] {
  const { dependencies, peerDependencies, optionalDependencies, optionalPeers = [] } = needs;
  const peers = Object.keys(peerDependencies ?? {}).filter((name) => !optionalPeers.includes(name));
  const needed = [...Object.keys(dependencies ?? {}), ...peers].map((name) => placeOf(lock, name, place));
  const optional = Object.keys(optionalDependencies ?? {}).map((name) => findPlace(lock, name, place));
  return [...new Set([...needed, ...optional.filter((found) => found !== undefined)])];
}

/** Where a package finds another one, as `require` searches: below itself, below its parents, at the top. */
function findPlace(lock: Lock, name: string, from: string): string | undefined {
  const parents = namesIn(from);
  for (let depth = parents.length; depth >= 0; depth--) {
    const place = [...parents.slice(0, depth), name].join('/');
    if (lock.has(place)) return place;
  }
  return undefined;
}

function placeOf(lock: Lock, name: string, from: string): string {
  const place = findPlace(lock, name, from);
  if (place === undefined) throw new Error(`bun.lock has no ${name}, which ${from || 'a manifest'} needs`);
  return place;
}

/** The names in a place such as `accepts/mime-types` or `@a/b/@c/d`. */
function namesIn(place: string): string[] {
  return place.match(/(?:@[^/]+\/)?[^/]+/g) ?? [];
}

async function readLock(): Promise<Lock> {
  const text = await Bun.file(`${ROOT}/bun.lock`).text();
  // JSON but for commas after the last member.
  const lock: { packages: Record<string, LockEntry> } = JSON.parse(text.replaceAll(/,(\s*[}\]])/g, '$1'));
  return new Map(Object.entries(lock.packages));
}
