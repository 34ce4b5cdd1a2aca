import { compress } from '../archive.ts';
import { type Descriptor, digestOf, INDEX, MANIFEST, type OciLayout } from '../oci-layout.ts';
import { type Architecture, PINNED_AT } from './debian.ts';
import { type ContainerConfig, readContainerConfig } from './dockerfile.ts';
import { packBase, packData, packProgram } from './root.ts';

/** What an image is made of. */
export interface ImageParts {
  readonly version: string;
  readonly commit: string;
  readonly committedAt: Date;
  /** The licenses of the software in the executable. */
  readonly notices: string;
  /** The folder of the packages of the base. */
  readonly debs: string;
  /** The paths of the executables. */
  readonly executables: ReadonlyMap<Architecture, string>;
}

/** A layer as it is stored, and its digest as it is unpacked. */
interface Layer {
  readonly stored: Descriptor;
  readonly diffId: string;
  readonly createdAt: Date;
  readonly comment: string;
}

/**
 * Writes the image for every architecture that there is an executable of, without a daemon, and names it by its version. The same parts
 * give the same digests.
 */
export async function writeImage(layout: OciLayout, parts: ImageParts): Promise<void> {
  const { version, commit, committedAt } = parts;
  const created = committedAt.toISOString();
  const container = await readContainerConfig({
    HALYARD_VERSION: version,
    HALYARD_COMMIT: commit,
    HALYARD_CREATED: created,
  });

  const manifests: Descriptor[] = [];
  for (const [architecture, executable] of parts.executables) {
    const platform = { architecture, os: 'linux', ...(architecture === 'arm64' && { variant: 'v8' }) };
    const layers = await writeLayers(layout, architecture, executable, parts);
    manifests.push({ ...(await writeManifest(layout, layers, platform, container, created)), platform });
  }

  const index = { schemaVersion: 2, mediaType: INDEX, manifests, annotations: container.Labels };
  await layout.finish(await layout.addJson(INDEX, index), version);
}

/** In the order of how seldom they change: an upgrade loads the second only. */
async function writeLayers(
  layout: OciLayout,
  architecture: Architecture,
  executable: string,
  { debs, notices, committedAt }: ImageParts,
): Promise<Layer[]> {
  const tars = [
    { tar: await packBase(debs, architecture), createdAt: PINNED_AT, comment: 'C library and certificates' },
    { tar: await packData(), createdAt: PINNED_AT, comment: 'data folder' },
    { tar: await packProgram(executable, notices, committedAt), createdAt: committedAt, comment: 'halyard' },
  ];

  const layers: Layer[] = [];
  for (const { tar, createdAt, comment } of tars) {
    const stored = await layout.addBlob('application/vnd.oci.image.layer.v1.tar+gzip', compress(tar));
    layers.push({ stored, diffId: digestOf(tar), createdAt, comment });
  }
  return layers;
}

async function writeManifest(
  layout: OciLayout,
  layers: readonly Layer[],
  platform: Readonly<Record<string, string>>,
  container: ContainerConfig,
  created: string,
): Promise<Descriptor> {
  const config = await layout.addJson('application/vnd.oci.image.config.v1+json', {
    created,
    ...platform,
    config: container,
    rootfs: { type: 'layers', diff_ids: layers.map(({ diffId }) => diffId) },
    history: layers.map(({ createdAt, comment }) => ({ created: createdAt.toISOString(), comment })),
  });

  return layout.addJson(MANIFEST, {
    schemaVersion: 2,
    mediaType: MANIFEST,
    config,
    layers: layers.map(({ stored }) => stored),
    annotations: container.Labels,
  });
}
