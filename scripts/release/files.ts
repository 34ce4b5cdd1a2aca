import { TARGETS } from '../build-executable.ts';
import { javaFiles } from './java-client.ts';

/** What a release has, by the name of each file, in words for the list that `run release` prints. Docs may name these files only. */
export function releaseFiles(version: string): ReadonlyMap<string, string> {
  return new Map([
    ...TARGETS.map((target): [string, string] => [
      `halyard-${version}-${target.slice('bun-'.length)}.tar.gz`,
      'executable',
    ]),
    [`halyard-image-${version}.oci.tar`, 'image for linux/amd64 and linux/arm64, as an OCI layout'],
    [`halyard-chart-${version}.oci.tar`, 'chart, as an OCI layout'],
    [`halyard-chart-${version}.tgz`, 'chart, for Helm'],
    [`halyard-client-${version}.tgz`, 'client for JavaScript'],
    [`halyard_flags-${version}.tar.gz`, 'client for Python, sources'],
    [`halyard_flags-${version}-py3-none-any.whl`, 'client for Python'],
    [`halyard-go-${version}.tar.gz`, 'client for Go, sources'],
    ...[...javaFiles(version).keys()].map((name): [string, string] => [name, 'client for Java']),
    [`halyard-docs-${version}.tar.gz`, 'documentation, as a static site'],
    [`halyard-${version}.cdx.json`, 'bill of materials'],
    ['NOTES.md', 'what changed in this version'],
  ]);
}

/** The names of the files that vouch for the others: the second only if the release was signed with a key. */
export const CHECKSUMS = ['SHA256SUMS', 'SHA256SUMS.sig'] as const;
