/** One frame: the lines up to a blank line that carry an event. */
export interface SseFrame {
  /** When its last byte was read, epoch milliseconds with fractions. */
  readonly at: number;
  /** The `data:` lines joined with newlines, without the field name and one leading space. */
  readonly data: string;
  /** The frame as it came, with its line ends, the blank line included. */
  readonly raw: string;
  /** Every field as it came: a specified frame has one field, `data`. */
  readonly fields: readonly (readonly [name: string, value: string])[];
}

/** One comment line. */
export interface SseComment {
  /** When it was read, epoch milliseconds with fractions. */
  readonly at: number;
  /** The text after the colon. */
  readonly text: string;
}

/** Splits the text of an event stream into frames and comments. Half a frame is kept until the rest comes. */
export class SseParser {
  readonly #onFrame: (frame: SseFrame) => void;
  readonly #onComment: (comment: SseComment) => void;
  readonly #decoder = new TextDecoder();
  #rest = '';

  constructor(onFrame: (frame: SseFrame) => void, onComment: (comment: SseComment) => void) {
    this.#onFrame = onFrame;
    this.#onComment = onComment;
  }

  /** Takes the next bytes, read at `at`. */
  push(bytes: Uint8Array, at: number): void {
    this.#rest += this.#decoder.decode(bytes, { stream: true });
    for (;;) {
      const blank = /\r?\n\r?\n/.exec(this.#rest);
      if (blank === null) return;
      const end = blank.index + blank[0].length;
      const raw = this.#rest.slice(0, end);
      this.#rest = this.#rest.slice(end);
      this.#emit(raw, at);
    }
  }

  /** The beginning of an incomplete frame. A reader discards it when the stream ends. */
  get unfinished(): string {
    return this.#rest;
  }

  #emit(raw: string, at: number): void {
    const fields: [string, string][] = [];
    for (const line of raw.split(/\r?\n/)) {
      if (line === '') continue;
      if (line.startsWith(':')) this.#onComment({ at, text: line.slice(1) });
      else fields.push(parseField(line));
    }
    if (fields.length === 0) return;
    const data = fields.filter(([name]) => name === 'data').map(([, value]) => value);
    this.#onFrame({ at, data: data.join('\n'), raw, fields });
  }
}

function parseField(line: string): [string, string] {
  const colon = line.indexOf(':');
  if (colon < 0) return [line, ''];
  const value = line.slice(colon + 1);
  return [line.slice(0, colon), value.startsWith(' ') ? value.slice(1) : value];
}
