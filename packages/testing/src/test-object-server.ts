/** A file as it was written. */
interface Stored {
  readonly body: string;
  readonly headers: Headers;
  readonly etag: string;
  readonly writtenAt: Date;
}

/** A server with the part of S3's protocol that publishing needs, conditions included. It checks no signature. */
export class TestObjectServer {
  readonly files = new Map<string, Stored>();
  /** Names of the files in the order in which they were written. */
  readonly written: string[] = [];
  /** Answers a request instead of the server. */
  interfere: (request: Request, path: string) => Response | undefined | Promise<Response | undefined> = () =>
    undefined;
  /** Answers a write that has happened, instead of the server. */
  afterWrite: () => Response | undefined = () => undefined;
  readonly #server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: (request) => this.#answer(request) });

  /** Where anyone reads what is written below the address. */
  readonly publicUrl = `http://127.0.0.1:${this.#server.port}/bucket/flags`;

  /** The address of the storage, and what its client needs. */
  readonly address = 's3://bucket/flags';
  readonly options = {
    endpoint: `http://127.0.0.1:${this.#server.port}`,
    accessKeyId: 'key',
    secretAccessKey: 'secret',
  };

  /** The file at a path below the address. */
  json(path: string) {
    const file = this.files.get(`flags/${path}`);
    return file && JSON.parse(file.body);
  }

  /** Pretends that all files were written so many milliseconds ago. */
  age(ms: number): void {
    for (const [path, file] of this.files)
      this.files.set(path, { ...file, writtenAt: new Date(file.writtenAt.getTime() - ms) });
  }

  async stop(): Promise<void> {
    await this.#server.stop(true);
  }

  async #answer(request: Request): Promise<Response> {
    const url = new URL(request.url);
    const [, bucket, ...rest] = decodeURIComponent(url.pathname).split('/');
    const path = rest.join('/');
    const answer = await this.interfere(request, path);
    if (answer !== undefined) return answer;
    if (bucket !== 'bucket') return refuse(404, 'NoSuchBucket');
    if (path === '') return this.#list(url.searchParams.get('prefix') ?? '');
    if (request.method === 'PUT') return this.#put(request, path);

    const file = this.files.get(path);
    if (request.method === 'DELETE') {
      this.files.delete(path);
      return new Response(null, { status: 204 });
    }
    return file === undefined
      ? refuse(404, 'NoSuchKey')
      : new Response(file.body, { headers: { ...Object.fromEntries(file.headers), ETag: file.etag } });
  }

  async #put(request: Request, path: string): Promise<Response> {
    const body = await request.text();
    const known = this.files.get(path);
    const [match, noneMatch] = ['If-Match', 'If-None-Match'].map((name) => request.headers.get(name));
    if (match !== null && known === undefined) return refuse(404, 'NoSuchKey');
    if ((match !== null && known?.etag !== match) || (noneMatch === '*' && known !== undefined))
      return refuse(412, 'PreconditionFailed');
    const etag = `"${Bun.MD5.hash(body, 'hex')}"`;
    const headers = new Headers();
    for (const name of ['Content-Type', 'Cache-Control']) headers.set(name, request.headers.get(name) ?? '');
    this.files.set(path, { body, headers, etag, writtenAt: new Date() });
    this.written.push(path);
    return this.afterWrite() ?? new Response(null, { headers: { ETag: etag } });
  }

  #list(prefix: string): Response {
    const contents = [...this.files].filter(([path]) => path.startsWith(prefix));
    const items = contents.map(
      ([path, { writtenAt, etag, body }]) =>
        `<Contents><Key>${path}</Key><LastModified>${writtenAt.toISOString()}</LastModified><ETag>${etag}</ETag><Size>${body.length}</Size></Contents>`,
    );
    const text = `<?xml version="1.0"?><ListBucketResult><Name>bucket</Name><Prefix>${prefix}</Prefix><KeyCount>${contents.length}</KeyCount><MaxKeys>1000</MaxKeys><IsTruncated>false</IsTruncated>${items.join('')}</ListBucketResult>`;
    return new Response(text, { headers: { 'Content-Type': 'application/xml' } });
  }
}

function refuse(status: number, code: string): Response {
  return new Response(`<Error><Code>${code}</Code></Error>`, { status });
}
