import { isMainThread } from 'node:worker_threads';
import {
  compress,
  compressAside,
  ENCODINGS,
  type Encoding,
  MAX_INLINE_BYTES,
  MIN_COMPRESSED_BYTES,
} from '../../http/compression.ts';
import { chooseCoding } from '../../http/request.ts';

/** Bodies that are written as a whole; every other type may be a stream. */
const WHOLE = /^application\/(json|yaml)\b/;

/**
 * The answer of a read in a coding that its caller takes. Some stay as they are (docs/operations/lists.md#compression): answers of
 * writes, because only they hold new secrets; streams; and answers with a tag, which names a revision for `If-Match`.
 */
export function compressAnswer(request: Request, answer: Response): Response | Promise<Response> {
  const { status, headers } = answer;
  const isRead = request.method === 'GET' && status === 200;
  if (!isRead || headers.has('ETag') || !WHOLE.test(headers.get('Content-Type') ?? '')) return answer;
  return negotiate(request, answer);
}

async function negotiate(request: Request, answer: Response): Promise<Response> {
  const { status, headers } = answer;
  headers.append('Vary', 'Accept-Encoding');
  // Only then could another site's page choose texts of an answer whose length is watched.
  const isForeign = request.headers.get('Sec-Fetch-Site') === 'cross-site';
  const coding = isForeign ? undefined : chooseCoding(request, ENCODINGS);
  if (coding === undefined) return answer;

  const plain = await answer.bytes();
  if (plain.length < MIN_COMPRESSED_BYTES) return new Response(plain, { status, headers });
  const bytes = await inCoding(plain, coding);
  if (bytes === undefined) return new Response(plain, { status, headers });

  headers.set('Content-Encoding', coding);
  return new Response(bytes, { status, headers });
}

/** The body in a coding; `undefined` if there is no memory for it. Reads wait for none but the small ones. */
async function inCoding(plain: Uint8Array, coding: Encoding): Promise<Uint8Array<ArrayBuffer> | undefined> {
  try {
    // The thread of long lists may take its time, and leaves the others to the reads.
    const isHere = !isMainThread || plain.length <= MAX_INLINE_BYTES;
    return isHere ? compress(plain, coding) : await compressAside(plain, coding);
  } catch {
    return undefined;
  }
}
