/** A body with its validator: what an answer is made of. */
export interface Representation {
  readonly bytes: Uint8Array;
  /** Strong entity tag, quoted. Made from the bytes, so every node gives the same one. */
  readonly etag: string;
}

/** Content codings a whole map is offered in, best first, with their name inside the entity tag. */
export const ENCODINGS = ['zstd', 'gzip'] as const;

/** One of the offered content codings. */
export type Encoding = (typeof ENCODINGS)[number];

/** Maps smaller than this are not worth compressing, in bytes. */
export const MIN_COMPRESSED_BYTES = 1024;

/** Makes the representation of a body. */
export function represent(bytes: Uint8Array): Representation {
  // 128 bits of SHA-256: no two bodies that a person can make will share a tag.
  return { bytes, etag: `"${Bun.SHA256.hash(bytes, 'hex').slice(0, 32)}"` };
}

/** Makes the compressed twin of a representation. Its entity tag is another one, as its bytes are. */
export function compress(plain: Representation, encoding: Encoding): Representation {
  // `Uint8Array<ArrayBuffer>`: every body is made by this process and never sits on shared memory.
  const source = plain.bytes as Uint8Array<ArrayBuffer>;
  const bytes = encoding === 'gzip' ? Bun.gzipSync(source) : Bun.zstdCompressSync(source);
  return { bytes, etag: `${plain.etag.slice(0, -1)}-${encoding}"` };
}
