/** Finds the ends of answers in the bytes of one connection, without keeping them. */
export class AnswerCounter {
  /** Bytes of the current answer's body still to come. */
  #missing = 0;
  #head = '';

  /** Takes bytes as they arrive and returns how many answers ended in them. Throws on any status but 2xx and 304. */
  take(chunk: Uint8Array): number {
    let rest = chunk;
    let ended = 0;
    while (rest.length > 0) {
      if (this.#missing >= rest.length) {
        this.#missing -= rest.length;
        return ended + (this.#missing === 0 ? 1 : 0);
      }
      if (this.#missing > 0) {
        rest = rest.subarray(this.#missing);
        this.#missing = 0;
        ended++;
        continue;
      }
      rest = this.#takeHead(rest);
      if (this.#head === '' && this.#missing === 0) ended++;
    }
    return ended;
  }

  /** Reads up to the end of a head; keeps half a head for the next chunk. */
  #takeHead(chunk: Uint8Array): Uint8Array {
    const before = this.#head.length;
    const text = this.#head + Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length).toString('latin1');
    const end = text.indexOf('\r\n\r\n');
    if (end < 0) {
      this.#head = text;
      return chunk.subarray(chunk.length);
    }
    this.#head = '';
    const head = text.slice(0, end);
    if (!/^HTTP\/1\.1 (2\d\d|304) /.test(head)) throw new Error(`an answer began with ${head.slice(0, 40)}`);
    this.#missing = Number(/\r\ncontent-length: *(\d+)/i.exec(head)?.[1] ?? 0);
    return chunk.subarray(end + 4 - before);
  }
}
