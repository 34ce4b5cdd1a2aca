/** The beginning of an answer. */
export interface AnswerHead {
  readonly status: number;
  readonly reason: string;
  readonly headers: Headers;
  /** Names and values as they came, in order, duplicates kept. */
  readonly rawHeaders: readonly (readonly [name: string, value: string])[];
}

/** The callbacks of an {@link AnswerParser}. */
export interface AnswerEvents {
  readonly onHead: (head: AnswerHead) => void;
  /** Bytes of the body with the chunk framing removed. */
  readonly onBody: (bytes: Buffer) => void;
  /** The answer is whole: its length is reached or its last chunk has come. */
  readonly onComplete: () => void;
}

type State = 'head' | 'counted' | 'chunk-size' | 'chunk-data' | 'chunk-end' | 'trailer' | 'until-close';

const NEWLINE = Buffer.from('\r\n');
const BLANK_LINE = Buffer.from('\r\n\r\n');

/**
 * Reads HTTP/1.1 answers from a byte stream, piece by piece, one after another. Strict: throws on anything that is
 * no HTTP, so that a broken server is noticed rather than guessed at. It exists because `fetch` hides what tests
 * must see: whether a chunked body was ended properly or just cut.
 */
export class AnswerParser {
  readonly #events: AnswerEvents;
  #state: State = 'head';
  #rest: Buffer = Buffer.alloc(0);
  #left = 0;

  constructor(events: AnswerEvents) {
    this.#events = events;
  }

  /** Takes the next bytes from the connection. */
  push(bytes: Uint8Array): void {
    this.#rest = this.#rest.length === 0 ? Buffer.from(bytes) : Buffer.concat([this.#rest, bytes]);
    while (this.#step());
  }

  /** Tells the parser that the peer ended the connection: completes an answer that lasts until then. */
  end(): void {
    if (this.#state === 'until-close') this.#complete();
  }

  /** Whether no answer has been left half read. */
  get isIdle(): boolean {
    return this.#state === 'head' && this.#rest.length === 0;
  }

  #step(): boolean {
    if (this.#rest.length === 0) return false;
    switch (this.#state) {
      case 'head':
        return this.#readHead();
      case 'counted':
      case 'chunk-data':
        return this.#readData();
      case 'chunk-size':
        return this.#readChunkSize();
      case 'chunk-end':
        return this.#readChunkEnd();
      case 'trailer':
        return this.#readTrailer();
      case 'until-close':
        return this.#readRest();
    }
  }

  #readHead(): boolean {
    const end = this.#rest.indexOf(BLANK_LINE);
    if (end < 0) return false;
    const head = parseHead(this.#rest.subarray(0, end).toString('latin1'));
    this.#rest = this.#rest.subarray(end + BLANK_LINE.length);
    this.#events.onHead(head);
    this.#expectBody(head);
    return true;
  }

  #expectBody(head: AnswerHead): void {
    if (head.status < 200) return;
    const length = head.headers.get('content-length');
    if (head.status === 204 || head.status === 304 || length === '0') this.#complete();
    else if (head.headers.get('transfer-encoding')?.toLowerCase() === 'chunked') this.#state = 'chunk-size';
    else if (length !== null) {
      this.#left = Number(length);
      this.#state = 'counted';
    } else this.#state = 'until-close';
  }

  #readData(): boolean {
    const piece = this.#rest.subarray(0, this.#left);
    this.#rest = this.#rest.subarray(piece.length);
    this.#left -= piece.length;
    this.#events.onBody(piece);
    if (this.#left > 0) return false;
    if (this.#state === 'counted') this.#complete();
    else this.#state = 'chunk-end';
    return true;
  }

  #readChunkSize(): boolean {
    const line = this.#takeLine();
    if (line === undefined) return false;
    const size = /^([0-9a-fA-F]+)\s*(?:;.*)?$/.exec(line)?.[1];
    if (size === undefined) throw new Error(`expected a chunk size, got ${JSON.stringify(line)}`);
    this.#left = Number.parseInt(size, 16);
    this.#state = this.#left === 0 ? 'trailer' : 'chunk-data';
    return true;
  }

  #readChunkEnd(): boolean {
    const line = this.#takeLine();
    if (line === undefined) return false;
    if (line !== '') throw new Error(`expected the end of a chunk, got ${JSON.stringify(line)}`);
    this.#state = 'chunk-size';
    return true;
  }

  #readTrailer(): boolean {
    const line = this.#takeLine();
    if (line === undefined) return false;
    if (line === '') this.#complete();
    return true;
  }

  #readRest(): boolean {
    const piece = this.#rest;
    this.#rest = Buffer.alloc(0);
    this.#events.onBody(piece);
    return false;
  }

  #takeLine(): string | undefined {
    const end = this.#rest.indexOf(NEWLINE);
    if (end < 0) return undefined;
    const line = this.#rest.subarray(0, end).toString('latin1');
    this.#rest = this.#rest.subarray(end + NEWLINE.length);
    return line;
  }

  #complete(): void {
    this.#state = 'head';
    this.#events.onComplete();
  }
}

function parseHead(text: string): AnswerHead {
  const [statusLine = '', ...lines] = text.split('\r\n');
  const match = /^HTTP\/1\.[01] (\d{3})(?: (.*))?$/.exec(statusLine);
  if (match === null) throw new Error(`expected a status line, got ${JSON.stringify(statusLine)}`);
  const rawHeaders = lines.map((line): readonly [string, string] => {
    const colon = line.indexOf(':');
    if (colon < 1) throw new Error(`expected a header, got ${JSON.stringify(line)}`);
    return [line.slice(0, colon), line.slice(colon + 1).trim()];
  });
  const headers = new Headers();
  for (const [name, value] of rawHeaders) headers.append(name, value);
  return { status: Number(match[1]), reason: match[2] ?? '', headers, rawHeaders };
}
