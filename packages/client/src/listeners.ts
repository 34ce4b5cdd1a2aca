import type { Reporter } from './reporter.ts';

/** A set of the application's listeners for one kind of event. */
export class Listeners<Event> {
  readonly #entries = new Set<(event: Event) => void>();
  readonly #reporter: Reporter;

  constructor(reporter: Reporter) {
    this.#reporter = reporter;
  }

  /** Adds a listener until the given function is called or the signal is aborted. The same function may be added twice. */
  add(listener: unknown, signal?: AbortSignal): () => void {
    const entry = (event: Event) => this.#reporter.call(listener, event);
    const remove = () => {
      this.#entries.delete(entry);
      signal?.removeEventListener?.('abort', remove);
    };
    if (signal?.aborted) return remove;
    this.#entries.add(entry);
    signal?.addEventListener?.('abort', remove);
    return remove;
  }

  /** Tells everyone who listens now. */
  emit(event: Event): void {
    for (const entry of [...this.#entries]) entry(event);
  }

  /** Forgets them all. */
  clear(): void {
    this.#entries.clear();
  }
}
