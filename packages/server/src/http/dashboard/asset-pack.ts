/** A content coding that files of the pack are kept in. */
export type Coding = 'identity' | 'gzip' | 'br';

/** One file of the dashboard in its forms. */
export interface PackedAsset {
  readonly type: string;
  /** A strong entity tag of the uncompressed bytes, with its quotes. */
  readonly etag: string;
  readonly forms: ReadonlyMap<Coding, Uint8Array<ArrayBuffer>>;
}

/** The dashboard's files by address; the page itself is at `/`. */
export type AssetPack = ReadonlyMap<string, PackedAsset>;

interface Head {
  readonly files: readonly {
    readonly path: string;
    readonly type: string;
    readonly etag: string;
    readonly forms: Readonly<Record<string, readonly [offset: number, length: number]>>;
  }[];
}

const NEWLINE = 10;
const CODINGS: readonly Coding[] = ['br', 'gzip', 'identity'];

/** Reads what `scripts/dashboard/pack.ts` wrote: a line of JSON, then the bytes it points into. */
export function readAssetPack(bytes: Uint8Array<ArrayBuffer>): AssetPack {
  const end = bytes.indexOf(NEWLINE);
  // The file is our own build's: its shape is as written there.
  const head = JSON.parse(new TextDecoder().decode(bytes.subarray(0, end))) as Head;
  const body = bytes.subarray(end + 1);
  const assets = new Map<string, PackedAsset>();
  for (const { path, type, etag, forms } of head.files) {
    const kept = new Map<Coding, Uint8Array<ArrayBuffer>>();
    for (const coding of CODINGS) {
      const place = forms[coding];
      if (place !== undefined) kept.set(coding, body.subarray(place[0], place[0] + place[1]));
    }
    assets.set(path, { type, etag, forms: kept });
  }
  return assets;
}

/** The best form for a caller that sent this `Accept-Encoding`. */
export function chooseForm(
  asset: PackedAsset,
  acceptEncoding: string | null,
): readonly [Coding, Uint8Array<ArrayBuffer>] {
  const accepted = new Set<string>();
  for (const part of (acceptEncoding ?? '').split(',')) {
    const [coding = '', ...parameters] = part
      .trim()
      .toLowerCase()
      .split(/\s*;\s*/);
    if (!parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter))) accepted.add(coding);
  }
  for (const [coding, bytes] of asset.forms) if (accepted.has(coding)) return [coding, bytes];
  return ['identity', asset.forms.get('identity') ?? new Uint8Array()];
}
