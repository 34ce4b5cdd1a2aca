import { type LogMessage, LogProtocolError, parseMessage } from './messages.ts';

/** Four bytes of length, one of coding. */
const HEADER_BYTES = 5;

const PLAIN = 0;
const ZSTD = 1;

/** Messages smaller than this are not worth compressing, in bytes. */
const MIN_COMPRESSED_BYTES = 1024;

/** Longest message, as sent and decompressed: one row can have 32 MB, of which every quote is escaped. */
const MAX_MESSAGE_BYTES = 96 * 1024 * 1024;

const encoder = new TextEncoder();

/** The bytes of a message: its length, its coding and its JSON, compressed where that pays. */
export function encodeMessage(message: LogMessage): Uint8Array<ArrayBuffer> {
  const plain = encoder.encode(JSON.stringify(message));
  const packed = plain.length < MIN_COMPRESSED_BYTES ? plain : Bun.zstdCompressSync(plain);
  const isSmaller = packed.length < plain.length;
  const body = isSmaller ? packed : plain;
  const bytes = new Uint8Array(HEADER_BYTES + body.length);
  new DataView(bytes.buffer).setUint32(0, body.length);
  bytes[4] = isSmaller ? ZSTD : PLAIN;
  bytes.set(body, HEADER_BYTES);
  return bytes;
}

/**
 * Puts messages together from bytes, wherever these were cut. Throws a {@link LogProtocolError} for what is not a
 * message; its memory is bounded by the longest one.
 */
export class MessageReader {
  #chunks: Uint8Array[] = [];
  #size = 0;
  /** Bytes of the next message with its header; of the header alone until that is complete. */
  #needed = HEADER_BYTES;
  #lastBytes = 0;

  /** Bytes of the message that came last, decompressed. */
  get lastBytes(): number {
    return this.#lastBytes;
  }

  /** The messages that end in this chunk, in order. */
  *read(chunk: Uint8Array): Generator<LogMessage> {
    this.#chunks.push(chunk);
    this.#size += chunk.length;
    while (this.#size >= this.#needed) {
      const bytes = this.#joined();
      const length = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0);
      if (length > MAX_MESSAGE_BYTES)
        throw new LogProtocolError('it does not speak the log protocol, or sends too much at once');
      this.#needed = HEADER_BYTES + length;
      if (bytes.length < this.#needed) return;
      this.#chunks = [bytes.subarray(this.#needed)];
      this.#size = bytes.length - this.#needed;
      const body = bytes.subarray(HEADER_BYTES, this.#needed);
      this.#needed = HEADER_BYTES;
      const plain = decompress(bytes[4], body);
      this.#lastBytes = plain.length;
      yield decode(plain);
    }
  }

  #joined(): Uint8Array {
    const [first = new Uint8Array()] = this.#chunks;
    const joined = this.#chunks.length === 1 ? first : Buffer.concat(this.#chunks);
    this.#chunks = [joined];
    return joined;
  }
}

function decompress(coding: number | undefined, body: Uint8Array): Uint8Array {
  try {
    if (coding !== PLAIN && coding !== ZSTD) throw new Error(`unknown coding ${coding}`);
    if (coding === PLAIN) return body;

    // Loaded here: a node that starts has nothing to decompress. `Bun.zstdDecompressSync` has no limit.
    const { zstdDecompressSync } = process.getBuiltinModule('node:zlib');
    return zstdDecompressSync(body, { maxOutputLength: MAX_MESSAGE_BYTES });
  } catch (cause) {
    throw unreadable(cause);
  }
}

function decode(plain: Uint8Array): LogMessage {
  let raw: unknown;
  try {
    raw = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(plain));
  } catch (cause) {
    throw unreadable(cause);
  }
  return parseMessage(raw);
}

function unreadable(cause: unknown): LogProtocolError {
  return new LogProtocolError('it sent a message that cannot be read', { cause });
}
