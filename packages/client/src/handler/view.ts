import { changeEvent, type FlagMap, frame } from '@halyard/protocol';
import { reconcile } from '../flags.ts';

/** Makes bytes of what is sent. */
export const encoder = new TextEncoder();

/** What readers may see of one map of the client, and its bytes on the wire, each made once. */
export class View {
  /** The map of the client. */
  readonly source: FlagMap;
  readonly #exposed: FlagMap;
  #json: string | undefined;
  #frame: Uint8Array | undefined;
  #whole: { readonly revision: number; readonly bytes: Uint8Array } | undefined;

  constructor(source: FlagMap, select: (flags: FlagMap) => FlagMap) {
    this.source = source;
    // Without a prototype, so that `constructor` is a key like others.
    this.#exposed = Object.assign(Object.create(null), select(source));
  }

  /** A frame of the map. */
  frame(): Uint8Array {
    this.#frame ??= encoder.encode(frame(this.#text()));
    return this.#frame;
  }

  /** The change from nothing to the map. (Spec: S26.2) */
  whole(revision: number): Uint8Array {
    if (this.#whole?.revision !== revision) {
      const text = changeEvent({ from: null, to: revision, removed: [] }, this.#text());
      this.#whole = { revision, bytes: encoder.encode(text) };
    }
    return this.#whole.bytes;
  }

  /** The change from the map `before` to this one. (Spec: S26.3) */
  since(before: View, from: number, to: number): Uint8Array {
    const { changed } = reconcile(before.#exposed, this.#exposed);
    const set = changed.filter((key) => this.#exposed[key]).map((key) => [key, this.#exposed[key]]);
    const removed = changed.filter((key) => !this.#exposed[key]);
    return encoder.encode(changeEvent({ from, to, removed }, JSON.stringify(Object.fromEntries(set))));
  }

  #text(): string {
    this.#json ??= JSON.stringify(this.#exposed);
    return this.#json;
  }
}
