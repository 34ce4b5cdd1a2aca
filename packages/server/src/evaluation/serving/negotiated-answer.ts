import {
  compress,
  compressAside,
  ENCODINGS,
  type Encoding,
  MAX_INLINE_BYTES,
  MIN_COMPRESSED_BYTES,
} from '../../http/compression.ts';
import { chooseCoding, matchesTag } from '../../http/request.ts';
import { codedTag, compressed, type Representation } from '../catalog/representation.ts';
import { type AnswerFacts, notModified, representationAnswer } from './answers.ts';

/**
 * OFREP's answers may differ by target, so compressing must be cheap: at this level, gzip takes a fifth of the time that it
 * takes by default, for a third more bytes.
 */
const LEVEL = 1;

/** So many large answers are compressed on other threads at a time; more go out plain. */
const MAX_ASIDE = 8;

let aside = 0;

/** All flags in one body. The body and its compressed forms are made when they are first needed. */
export class NegotiatedAnswer implements Representation {
  readonly etag: string;
  /** Bytes of the body. */
  readonly size: number;
  readonly #headers: Headers;
  readonly #forms = new Map<Encoding, Representation | Promise<Representation>>();
  #parts: readonly Uint8Array[];

  /** `headers` is shared with other answers; their tags take turns in it. */
  constructor(etag: string, headers: Headers, parts: readonly Uint8Array[]) {
    this.etag = etag;
    this.#headers = headers;
    this.#parts = parts;
    this.size = parts.reduce((sum, { length }) => sum + length, 0);
  }

  get headers(): Headers {
    return this.#headersWith(this.etag);
  }

  get bytes(): Uint8Array {
    const [first] = this.#parts;
    if (this.#parts.length === 1 && first !== undefined) return first;
    const bytes = Buffer.concat(this.#parts);
    this.#parts = [bytes];
    return bytes;
  }

  /** Answers a request: in the coding that its caller takes, or with 304 where the caller has that already. */
  respond(request: Request, facts: AnswerFacts): Response | Promise<Response> {
    const encoding = this.size < MIN_COMPRESSED_BYTES ? undefined : chooseCoding(request, ENCODINGS);
    if (encoding === undefined) return representationAnswer(request, this, facts);
    const tag = codedTag(this.etag, encoding);
    const known = request.headers.get('If-None-Match');
    if (known !== null && matchesTag(known, tag)) return notModified(this.#headersWith(tag), facts);
    const form = this.#form(encoding);
    if (!(form instanceof Promise)) return representationAnswer(request, form, facts);
    return form.then((made) => representationAnswer(request, made, facts));
  }

  /** The answer in a coding. Large ones are compressed on another thread, unless too many are. */
  #form(encoding: Encoding): Representation | Promise<Representation> {
    const known = this.#forms.get(encoding);
    if (known !== undefined) return known;
    if (this.size > MAX_INLINE_BYTES && aside >= MAX_ASIDE) return this;
    const made =
      this.size > MAX_INLINE_BYTES
        ? this.#compressAside(encoding)
        : compressed(this, encoding, compress(this.bytes, encoding, LEVEL));
    this.#forms.set(encoding, made);
    return made;
  }

  async #compressAside(encoding: Encoding): Promise<Representation> {
    aside++;
    try {
      return compressed(this, encoding, await compressAside(this.bytes, encoding, LEVEL));
    } catch {
      return this; // no memory for it
    } finally {
      aside--;
    }
  }

  #headersWith(etag: string): Headers {
    this.#headers.set('ETag', etag);
    return this.#headers;
  }
}
