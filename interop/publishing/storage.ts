import { createHash, createHmac } from 'node:crypto';
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { lastingPort } from '@halyard/testing';
import { CACHE, toolEnvironment } from '../languages.ts';
import { run } from '../programs.ts';
import { type ChildServer, startServer } from './children.ts';

const VERSION = '1.8.0';
const MODULE = 'github.com/versity/versitygw/cmd/versitygw';
const REGION = 'us-east-1';
const ACCESS = { id: 'interop', secret: crypto.randomUUID() };
const BUCKET = 'flags';

/** A server that speaks S3, with a bucket that everyone may read. */
export interface TriedStorage extends ChildServer {
  readonly version: string;
  /** Where readers find what nodes write, without a slash at the end. */
  readonly publicUrl: string;
  /** The settings of a node that publishes there. */
  readonly settings: Readonly<Record<string, string>>;
}

/** Builds versitygw and starts it on `folder`. Gives why it cannot be had, if it cannot. */
export async function startStorage(folder: string): Promise<TriedStorage | string> {
  if (Bun.which('go') === null) return 'go, which builds versitygw, is not on this machine';
  const bin = join(CACHE, `versitygw-${VERSION}`);
  mkdirSync(bin, { recursive: true });
  if (!existsSync(join(bin, 'versitygw'))) {
    const env = { ...toolEnvironment(), GOBIN: bin };
    const { ok, text } = await run(['go', 'install', `${MODULE}@v${VERSION}`], { cwd: bin, env });
    if (!ok) return `versitygw cannot be built: ${text.trim().split('\n').at(-1)}`;
  }

  // A folder is a bucket. Its facts are kept beside it, because not every file system has room for them at the files.
  const [data, facts] = [join(folder, 'data'), join(folder, 'facts')];
  for (const path of [join(data, BUCKET), facts]) mkdirSync(path, { recursive: true });
  const url = `http://127.0.0.1:${lastingPort()}`;
  const port = url.slice('http://'.length);
  const server = await startServer(
    [join(bin, 'versitygw'), '--port', port, '--quiet', 'posix', '--sidecar', facts, data],
    url,
    { ROOT_ACCESS_KEY: ACCESS.id, ROOT_SECRET_KEY: ACCESS.secret, VGW_REGION: REGION },
  );
  await allowReading(url);
  return {
    ...server,
    version: VERSION,
    publicUrl: `${url}/${BUCKET}`,
    settings: {
      HALYARD_PUBLISH_URL: `s3://${BUCKET}/halyard`,
      AWS_ACCESS_KEY_ID: ACCESS.id,
      AWS_SECRET_ACCESS_KEY: ACCESS.secret,
      AWS_REGION: REGION,
      AWS_ENDPOINT: url,
    },
  };
}

/** Lets everyone read the files of the bucket, but not list them. */
async function allowReading(url: string): Promise<void> {
  const statement = {
    Effect: 'Allow',
    Principal: '*',
    Action: 's3:GetObject',
    Resource: `arn:aws:s3:::${BUCKET}/*`,
  };
  const body = JSON.stringify({ Version: '2012-10-17', Statement: [statement] });
  const response = await putSigned(new URL(`${url}/${BUCKET}?policy=`), body);
  if (!response.ok) throw new Error(`the bucket cannot be made public: ${await response.text()}`);
}

/** A PUT that is signed as S3 wants it. Bun's client signs requests for files only. */
async function putSigned(url: URL, body: string): Promise<Response> {
  const time = new Date().toISOString().replaceAll(/[-:]|\.\d+/g, '');
  const day = time.slice(0, 8);
  const hash = sha256(body);
  const headers = { host: url.host, 'x-amz-content-sha256': hash, 'x-amz-date': time };
  const names = Object.keys(headers).join(';');
  const lines = Object.entries(headers).map(([name, value]) => `${name}:${value}\n`);
  const request = ['PUT', url.pathname, url.search.slice(1), lines.join(''), names, hash].join('\n');
  const scope = `${day}/${REGION}/s3/aws4_request`;
  const text = ['AWS4-HMAC-SHA256', time, scope, sha256(request)].join('\n');

  let key: Buffer | string = `AWS4${ACCESS.secret}`;
  for (const part of scope.split('/')) key = createHmac('sha256', key).update(part).digest();
  const signature = createHmac('sha256', key).update(text).digest('hex');
  const authorization = `AWS4-HMAC-SHA256 Credential=${ACCESS.id}/${scope}, SignedHeaders=${names}, Signature=${signature}`;
  return await fetch(url, { method: 'PUT', headers: { ...headers, authorization }, body });
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
