import { REVISION_HEADER, SERVICE_KEY_HEADER } from '@halyard/protocol';
import type { Encoding } from '../../http/compression.ts';

/** A body with its header fields, shared by all answers. */
export interface Representation {
  readonly bytes: Uint8Array;
  /** Strong entity tag, quoted. Computed from the bytes, so that every node returns the same one. */
  readonly etag: string;
  /** The header fields of every answer with this body; kept, because building them costs more than the rest. */
  readonly headers: Headers;
}

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
