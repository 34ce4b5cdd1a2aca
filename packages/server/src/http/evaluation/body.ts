import { MAX_BATCH_BYTES } from '@halyard/protocol';
import { ServiceError } from '../../domain/service-error.ts';

/**
 * Reads a request's body as UTF-8 text, counting while it arrives: at most 256 KiB. Too much, and bytes that are no
 * UTF-8, are `invalid_argument`.
 */
export async function readBody(request: Request): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of request.body ?? []) {
    size += chunk.length;
    if (size > MAX_BATCH_BYTES) {
      throw new ServiceError(
        'invalid_argument',
        `The body is larger than ${MAX_BATCH_BYTES} bytes: ask for fewer keys at once.`,
      );
    }
    chunks.push(chunk);
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks));
  } catch (cause) {
    throw new ServiceError('invalid_argument', 'The body is not valid UTF-8: send JSON in UTF-8.', { cause });
  }
}
