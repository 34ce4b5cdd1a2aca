import { createHash } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';

/** A blob as manifests name it: the type, the digest and the size, and what goes with it. */
export interface Descriptor {
  readonly mediaType: string;
  readonly digest: string;
  readonly size: number;
  readonly platform?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
}

export const MANIFEST = 'application/vnd.oci.image.manifest.v1+json';
export const INDEX = 'application/vnd.oci.image.index.v1+json';

/** Writes a folder in the OCI image layout 1.0, which registries' tools push as it is. */
export class OciLayout {
  readonly #folder: string;

  /** Into a folder that is new or empty. */
  constructor(folder: string) {
    this.#folder = folder;
    mkdirSync(join(folder, 'blobs/sha256'), { recursive: true });
  }

  /** Stores bytes under their digest. */
  async addBlob(mediaType: string, bytes: Uint8Array): Promise<Descriptor> {
    const digest = digestOf(bytes);
    await Bun.write(join(this.#folder, 'blobs', digest.replace(':', '/')), bytes);
    return { mediaType, digest, size: bytes.length };
  }

  /** Stores an object as JSON. */
  addJson(mediaType: string, value: object): Promise<Descriptor> {
    return this.addBlob(mediaType, new TextEncoder().encode(JSON.stringify(value)));
  }

  /** Names what the layout holds, by a tag, and so ends it. */
  async finish(content: Descriptor, tag: string): Promise<void> {
    const manifest = { ...content, annotations: { 'org.opencontainers.image.ref.name': tag } };
    const index = { schemaVersion: 2, mediaType: INDEX, manifests: [manifest] };
    await Bun.write(join(this.#folder, 'oci-layout'), '{"imageLayoutVersion":"1.0.0"}');
    await Bun.write(join(this.#folder, 'index.json'), JSON.stringify(index));
  }
}

/** The digest of bytes as registries write it. */
export function digestOf(bytes: Uint8Array): string {
  return `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
}
