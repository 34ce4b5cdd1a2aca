import { join, resolve } from 'node:path';
import { YAML } from 'bun';
import { compress, packTar } from './archive.ts';
import { MANIFEST, type OciLayout } from './oci-layout.ts';

const PARENT = resolve(import.meta.dir, '../../deploy/helm');

/** The chart as `helm package` makes it, with the same bytes on every machine. */
export function packChart(modifiedAt: Date): Uint8Array<ArrayBuffer> {
  return compress(packTar({ parent: PARENT, names: ['halyard'], modifiedAt }));
}

/** Writes a packed chart as `helm push` would put it into a registry, and names it by its version. */
export async function writeChart(
  layout: OciLayout,
  chart: Uint8Array<ArrayBuffer>,
  created: Date,
): Promise<void> {
  const about = YAML.parse(await Bun.file(join(PARENT, 'halyard/Chart.yaml')).text());
  const { name, version, description } = about as Record<string, string>; // As Helm demands of every chart.
  if (name === undefined || version === undefined || description === undefined)
    throw new Error('The chart has no name, version or description.');

  const config = await layout.addJson('application/vnd.cncf.helm.config.v1+json', about as object);
  const content = await layout.addBlob('application/vnd.cncf.helm.chart.content.v1.tar+gzip', chart);
  const manifest = await layout.addJson(MANIFEST, {
    schemaVersion: 2,
    mediaType: MANIFEST,
    config,
    layers: [content],
    annotations: {
      'org.opencontainers.image.title': name,
      'org.opencontainers.image.version': version,
      'org.opencontainers.image.description': description,
      'org.opencontainers.image.created': created.toISOString(),
    },
  });
  await layout.finish(manifest, version);
}
