import type { S3Options } from 'bun';

/** Longest that one request to the storage may take, in milliseconds. */
const REQUEST_MS = 10_000;

/** Addresses of requests are signed for so long, in seconds. */
const SIGNED_SECONDS = 300;

/** What must be there for a write to happen: nothing, or exactly what has this entity tag. */
export type Expected = { readonly etag: string | undefined };

/** A file to write. */
export interface StoredFile {
  readonly body: Uint8Array | string;
  readonly cacheControl: string;
}

/** A file in the storage. */
export interface ListedFile {
  readonly path: string;
  /** Epoch milliseconds, by the clock of the storage; `NaN` if it does not say. */
  readonly writtenAt: number;
}

/** The storage cannot be used now. The message is for the operator, without a secret. */
export class StorageRefusal extends Error {
  override readonly name = 'StorageRefusal';
}

/**
 * A folder of a bucket of storage that speaks S3's protocol. Requests are signed by Bun's client and sent with `fetch`, because
 * that client cannot send conditions.
 */
export class ObjectStorage {
  readonly #client: Bun.S3Client;
  readonly #prefix: string;

  /** `address`: `s3://bucket` or `s3://bucket/prefix`. What `options` lacks comes from the variables that S3's tools use. */
  constructor(address: string, options: S3Options = {}) {
    const [bucket = '', ...folders] = address.replace(/^s3:\/\//, '').split('/');
    this.#client = new Bun.S3Client({ ...options, bucket });
    this.#prefix = folders
      .filter((folder) => folder !== '')
      .map((folder) => `${folder}/`)
      .join('');
  }

  /** A file; `undefined` if it does not exist. */
  async read(path: string): Promise<{ readonly text: string; readonly etag: string } | undefined> {
    const response = await this.#send('GET', path);
    if (response.status === 404) return undefined;
    if (!response.ok) throw await refusal(response);
    const etag = response.headers.get('ETag');
    if (etag === null)
      throw new StorageRefusal('the storage sends no entity tag, so nothing can be replaced');
    return { text: await response.text(), etag };
  }

  /** Writes a file if what is there is as expected, and returns its entity tag; otherwise `undefined`, and writes nothing. */
  async write(
    path: string,
    { body, cacheControl }: StoredFile,
    { etag }: Expected,
  ): Promise<string | undefined> {
    const response = await this.#send('PUT', path, {
      body,
      headers: {
        'Content-Type': 'application/json',
        'Cache-Control': cacheControl,
        ...(etag === undefined ? { 'If-None-Match': '*' } : { 'If-Match': etag }),
      },
    });
    // 404: what was expected is gone. 409: another writer is at it.
    if ([404, 409, 412].includes(response.status)) return undefined;
    if (!response.ok) throw await refusal(response);
    return response.headers.get('ETag') ?? '';
  }

  /** The files in a folder, at most a thousand of them. */
  async list(folder: string): Promise<readonly ListedFile[]> {
    try {
      const { contents = [] } = await this.#client.list({ prefix: `${this.#prefix}${folder}/` });
      return contents.map(({ key, lastModified }) => ({
        path: key.slice(this.#prefix.length),
        writtenAt: lastModified === undefined ? Number.NaN : Date.parse(lastModified),
      }));
    } catch (cause) {
      throw unreachable(cause);
    }
  }

  /** Removes a file, if there is one. */
  async remove(path: string): Promise<void> {
    const response = await this.#send('DELETE', path);
    if (!response.ok && response.status !== 404) throw await refusal(response);
  }

  async #send(
    method: 'GET' | 'PUT' | 'DELETE',
    path: string,
    init: BunFetchRequestInit = {},
  ): Promise<Response> {
    try {
      const url = this.#client.presign(this.#prefix + path, { method, expiresIn: SIGNED_SECONDS });
      const signal = AbortSignal.timeout(REQUEST_MS);
      return await fetch(url, { ...init, method, signal, redirect: 'manual' });
    } catch (cause) {
      throw unreachable(cause);
    }
  }
}

function unreachable(cause: unknown): StorageRefusal {
  const code = cause instanceof Error && 'code' in cause ? ` (${cause.code})` : '';
  return new StorageRefusal(`the storage cannot be used${code}`, { cause });
}

/** Text of the storage is never repeated, but for its code. */
async function refusal(response: Response): Promise<StorageRefusal> {
  const [, code = ''] = /<Code>(\w{1,50})<\/Code>/.exec(await response.text()) ?? [];
  return new StorageRefusal(`the storage answered with status ${response.status}${code && ` ${code}`}`);
}
