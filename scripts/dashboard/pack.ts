import { brotliCompressSync, constants } from 'node:zlib';
import type { Asset } from './bundle.ts';

/** A member of the pack's head: where the forms of one file lie in the bytes after it. */
interface PackedFile {
  readonly path: string;
  readonly type: string;
  readonly etag: string;
  /** By content coding: offset and length in bytes. */
  readonly forms: Readonly<Record<string, readonly [offset: number, length: number]>>;
}

/** Smaller files gain nothing that pays for the header. */
const WORTH_COMPRESSING = 256;

/**
 * Puts the assets into one file: a line of JSON that says what is where, then their bytes, as they are and compressed
 * beforehand. The server's `http/dashboard/assets.ts` reads it.
 */
export async function packAssets(assets: readonly Asset[]): Promise<Uint8Array> {
  const pieces: Uint8Array<ArrayBuffer>[] = [];
  const files: PackedFile[] = [];
  let offset = 0;
  for (const asset of assets) {
    const forms: Record<string, [number, number]> = {};
    for (const [coding, bytes] of formsOf(asset)) {
      forms[coding] = [offset, bytes.length];
      offset += bytes.length;
      pieces.push(bytes);
    }
    const etag = `"${Bun.hash(asset.bytes).toString(36)}"`;
    files.push({ path: asset.path, type: asset.type, etag, forms });
  }
  const head = new TextEncoder().encode(`${JSON.stringify({ files })}\n`);
  return new Uint8Array(await new Blob([head, ...pieces]).arrayBuffer());
}

function formsOf({ bytes, type }: Asset): [coding: string, bytes: Uint8Array<ArrayBuffer>][] {
  const plain: [string, Uint8Array<ArrayBuffer>] = ['identity', bytes];
  // Fonts are compressed already.
  if (bytes.length < WORTH_COMPRESSING || type.startsWith('font/')) return [plain];
  const brotli = brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } });
  return [plain, ['gzip', Bun.gzipSync(bytes, { level: 9 })], ['br', new Uint8Array(brotli)]];
}
