import { promisify } from 'node:util';
import { defined } from '@halyard/protocol';

/** Content codings that answers are offered in, best first, with their name inside the entity tag. */
export const ENCODINGS = ['zstd', 'gzip'] as const;

/** One of the offered content codings. */
export type Encoding = (typeof ENCODINGS)[number];

/** Smaller bodies are not worth compressing, in bytes. */
export const MIN_COMPRESSED_BYTES = 1024;

/** Larger bodies are compressed on another thread: a megabyte takes ten milliseconds. */
export const MAX_INLINE_BYTES = 64 * 1024;

/** How much is spent on compressing: 1 is the fastest in every coding. Default: the coding's own. */
type Level = 1 | undefined;

/** Compresses a body in this turn of the event loop. */
export function compress(bytes: Uint8Array, encoding: Encoding, level?: Level): Uint8Array<ArrayBuffer> {
  const options = defined({ level });
  return encoding === 'gzip'
    ? Bun.gzipSync(unshared(bytes), options)
    : unshared(Bun.zstdCompressSync(unshared(bytes), options));
}

/** Compresses a body on another thread. */
export async function compressAside(
  bytes: Uint8Array,
  encoding: Encoding,
  level?: Level,
): Promise<Uint8Array<ArrayBuffer>> {
  const options = defined({ level });
  if (encoding === 'zstd') return unshared(await Bun.zstdCompress(unshared(bytes), options));
  const { gzip } = await import('node:zlib');
  return unshared(await promisify<Uint8Array, object, Uint8Array>(gzip)(bytes, options));
}

/** `Uint8Array<ArrayBuffer>`: this process creates every body and its coded form, never on shared memory. */
function unshared(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  return bytes as Uint8Array<ArrayBuffer>;
}
