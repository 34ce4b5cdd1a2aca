import { promisify } from 'node:util';
import { defined, REVISION_HEADER, SERVICE_KEY_HEADER } from '@halyard/protocol';

/** A body with its header fields, shared by all answers. */
export interface Representation {
  readonly bytes: Uint8Array;
  /** Strong entity tag, quoted. Computed from the bytes, so that every node returns the same one. */
  readonly etag: string;
  /** The header fields of every answer with this body; kept, because building them costs more than the rest. */
  readonly headers: Headers;
}

/** Content codings a whole map is offered in, best first, with their name inside the entity tag. */
export const ENCODINGS = ['zstd', 'gzip'] as const;

/** One of the offered content codings. */
export type Encoding = (typeof ENCODINGS)[number];

/** Maps smaller than this are not worth compressing, in bytes. */
export const MIN_COMPRESSED_BYTES = 1024;

/** Larger maps are compressed on another thread: a megabyte takes ten milliseconds. */
export const MAX_INLINE_BYTES = 64 * 1024;

/** The fields every read of the evaluation interface carries. */
export function readHeaders(revision: number, vary = SERVICE_KEY_HEADER): Headers {
  return new Headers({
    'Content-Type': 'application/json',
    'Cache-Control': 'private, no-cache',
    Vary: vary,
    [REVISION_HEADER]: String(revision),
  });
}

/** Makes the representation of a body at a revision. */
export function represent(bytes: Uint8Array, revision: number, vary = SERVICE_KEY_HEADER): Representation {
  // 128 bits of SHA-256: no two bodies that a person can make will share a tag.
  const etag = `"${Bun.SHA256.hash(bytes, 'hex').slice(0, 32)}"`;
  const headers = readHeaders(revision, vary);
  headers.set('ETag', etag);
  return { bytes, etag, headers };
}

/** Makes a representation that is one of several codings of the same body. */
export function representNegotiable(bytes: Uint8Array, revision: number): Representation {
  return represent(bytes, revision, `${SERVICE_KEY_HEADER}, Accept-Encoding`);
}

/** How much is spent on compressing: 1 is the fastest in every coding. Default: the coding's own. */
type Level = 1 | undefined;

/** Compresses the body of a representation in this turn of the event loop. */
export function compress({ bytes }: Representation, encoding: Encoding, level?: Level): Uint8Array {
  const options = defined({ level });
  return encoding === 'gzip'
    ? Bun.gzipSync(unshared(bytes), options)
    : Bun.zstdCompressSync(unshared(bytes), options);
}

/** Compresses the body of a representation on another thread. */
export async function compressAside(
  { bytes }: Representation,
  encoding: Encoding,
  level?: Level,
): Promise<Uint8Array> {
  const options = defined({ level });
  if (encoding === 'zstd') return Bun.zstdCompress(unshared(bytes), options);
  const { gzip } = await import('node:zlib');
  return promisify<Uint8Array, object, Uint8Array>(gzip)(bytes, options);
}

/** The entity tag of a compressed form. */
export function codedTag(etag: string, encoding: Encoding): string {
  return `${etag.slice(0, -1)}-${encoding}"`;
}

/** The representation whose body is the compressed form of another. It has its own entity tag, because its bytes differ. */
export function compressed(plain: Representation, encoding: Encoding, bytes: Uint8Array): Representation {
  const etag = codedTag(plain.etag, encoding);
  const headers = new Headers(plain.headers);
  headers.set('ETag', etag);
  headers.set('Content-Encoding', encoding);
  return { bytes, etag, headers };
}

/** `Uint8Array<ArrayBuffer>`: this process creates every body, never on shared memory. */
function unshared(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  return bytes as Uint8Array<ArrayBuffer>;
}
