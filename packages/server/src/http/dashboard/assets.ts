const CODINGS = ['br', 'gzip', 'identity'] as const;

/** A content coding that files of the pack are kept in; the best comes first. */
export type Coding = (typeof CODINGS)[number];

/** One file of the dashboard, in each of its codings. */
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

/** Reads what `scripts/dashboard/pack.ts` wrote: a line of JSON, then the bytes it points into. */
export function readAssetPack(bytes: Uint8Array<ArrayBuffer>): AssetPack {
  const end = bytes.indexOf(NEWLINE);
  // `Head`: our own build wrote the file.
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
