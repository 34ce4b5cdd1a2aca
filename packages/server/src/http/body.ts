import { ServiceError } from '../domain/errors.ts';

/**
 * Reads a request's body as UTF-8 text, counting while it arrives. More than `maxBytes`, bytes that are no UTF-8, and
 * a body that breaks off are `invalid_argument`.
 */
export async function readBody(request: Request, maxBytes: number): Promise<string> {
  const bytes = await readBytes(request, maxBytes);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (cause) {
    throw invalidBody('The body is not valid UTF-8: send JSON in UTF-8.', cause);
  }
}

async function readBytes(request: Request, maxBytes: number): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const chunk of request.body ?? []) {
      size += chunk.length;
      if (size > maxBytes) break;
      chunks.push(chunk);
    }
  } catch (cause) {
    // The caller went away or was too slow: its doing, and nothing for the error log.
    throw invalidBody('The body broke off before its end: send all of it.', cause);
  }
  if (size > maxBytes) throw invalidBody(`The body is larger than ${maxBytes} bytes: send less at once.`);
  return Buffer.concat(chunks);
}

function invalidBody(message: string, cause?: unknown): ServiceError {
  return new ServiceError('invalid_argument', message, { cause });
}
