import { type FlagdRollouts, flagdDocument } from '../../domain/flagd-document.ts';
import type { LiveEnvironment } from '../catalog/live-environment.ts';
import { represent } from '../catalog/representation.ts';
import { KEY_HEADERS } from '../serving/key-headers.ts';
import { NegotiatedAnswer } from '../serving/negotiated-answer.ts';

const VARY = `${KEY_HEADERS.join(', ')}, Accept-Encoding`;

/** What has been made of one revision. */
interface AtRevision {
  readonly revision: number;
  readonly documents: Map<FlagdRollouts, Promise<NegotiatedAnswer>>;
}

/** An environment as flagd reads it. Each document is made once per revision, when it is first asked for, and shared by all who ask. */
export class FlagdEnvironment {
  readonly #environment: LiveEnvironment;
  #current: AtRevision | undefined;

  constructor(environment: LiveEnvironment) {
    this.#environment = environment;
  }

  /** The document of the revision that the environment has now. */
  document(rollouts: FlagdRollouts): Promise<NegotiatedAnswer> {
    const { revision } = this.#environment;
    if (this.#current?.revision !== revision) this.#current = { revision, documents: new Map() };
    const { documents } = this.#current;

    const known = documents.get(rollouts);
    if (known !== undefined) return known;
    const made = this.#make(rollouts);
    documents.set(rollouts, made);
    // Without memory for it, the next request is another attempt.
    made.catch(() => documents.delete(rollouts));
    return made;
  }

  async #make(rollouts: FlagdRollouts): Promise<NegotiatedAnswer> {
    const { name, revision } = this.#environment;
    const source = { environment: name, revision, states: this.#environment.states() };
    const text = await flagdDocument(source, rollouts);
    const { etag, headers, bytes } = represent(new TextEncoder().encode(text), revision, VARY);
    return new NegotiatedAnswer(etag, headers, [bytes]);
  }
}
