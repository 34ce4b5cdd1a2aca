import { createHash } from 'node:crypto';
import { BASE_PACKAGES, DEBIAN, type DebianPackage } from './image/debian.ts';
import { type ShippedPackage, shippedPackages } from './shipped.ts';

/** What a release is built from. */
export interface Source {
  /** The commit, or another name of the sources. */
  readonly commit: string;
  readonly committedAt: Date;
}

/**
 * The bill of materials of a release, in the format CycloneDX: Bun itself, the dependencies of everything that is shipped at the
 * versions of bun.lock, and the packages in the image, with their digests. The same commit always gives the same text.
 */
export async function billOfMaterials(version: string, source: Source): Promise<string> {
  const packages = await shippedPackages();
  const references = new Map([...packages].map(([place, shipped]) => [place, purlOf(shipped)]));
  const application = `pkg:generic/halyard@${version}`;
  const bill = {
    $schema: 'http://cyclonedx.org/schema/bom-1.5.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.5',
    serialNumber: `urn:uuid:${uuidOf(`halyard ${version} ${source.commit}`)}`,
    version: 1,
    metadata: {
      timestamp: source.committedAt.toISOString(),
      component: {
        'bom-ref': application,
        type: 'application',
        name: 'halyard',
        version,
        purl: application,
        licenses: [{ license: { id: 'MIT' } }],
        properties: [{ name: 'halyard:commit', value: source.commit }],
      },
    },
    components: [...[...packages.values()].map(componentOf), RUNTIME, ...BASE_PACKAGES.map(imageComponentOf)],
    dependencies: [...packages.values()].map((shipped) => ({
      ref: purlOf(shipped),
      dependsOn: shipped.needs.map((place) => references.get(place)),
    })),
  };
  return `${JSON.stringify(bill, undefined, 2)}\n`;
}

const RUNTIME = {
  'bom-ref': `pkg:npm/bun@${Bun.version}`,
  type: 'platform',
  name: 'bun',
  version: Bun.version,
  purl: `pkg:npm/bun@${Bun.version}`,
  licenses: [{ license: { id: 'MIT' } }],
};

function componentOf(shipped: ShippedPackage): object {
  const { name, version, license, sha512 } = shipped;
  return {
    'bom-ref': purlOf(shipped),
    type: 'library',
    name,
    version,
    purl: purlOf(shipped),
    hashes: [{ alg: 'SHA-512', content: sha512 }],
    licenses: [/ (?:OR|AND|WITH) /.test(license) ? { expression: license } : { license: { id: license } }],
  };
}

function imageComponentOf({ name, version, architecture, sha256, license }: DebianPackage): object {
  const purl = `pkg:deb/debian/${name}@${encodeURIComponent(version)}?arch=${architecture}&distro=debian-${DEBIAN}`;
  return {
    'bom-ref': purl,
    type: 'library',
    name,
    version,
    purl,
    hashes: [{ alg: 'SHA-256', content: sha256 }],
    licenses: [{ license: { id: license } }],
  };
}

function purlOf({ name, version }: ShippedPackage): string {
  return `pkg:npm/${name.replace('@', '%40')}@${version}`;
}

/** A UUID that is derived from a name (RFC 9562, version 8). */
function uuidOf(name: string): string {
  const hex = createHash('sha256').update(name).digest('hex');
  const variant = ((Number.parseInt(hex.charAt(16), 16) & 0x3) | 0x8).toString(16);
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    `${variant}${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ].join('-');
}
