/** Documents that a node reads and compares at once: each takes up to some hundred megabytes of memory. */
const DOCUMENTS = 2;

/** Lets a few documents run at once, and one of each author. The others wait in the order in which they came. */
export class DocumentTurns {
  readonly #running = new Set<string>();
  readonly #waiting: { readonly author: string; readonly begin: () => void }[] = [];

  /** Runs `work` when it is its turn. */
  async run(author: string, work: () => Promise<void>): Promise<void> {
    const turn = Promise.withResolvers<void>();
    this.#waiting.push({ author, begin: turn.resolve });
    this.#beginNext();
    await turn.promise;
    await work().finally(() => {
      this.#running.delete(author);
      this.#beginNext();
    });
  }

  #beginNext(): void {
    while (this.#running.size < DOCUMENTS) {
      const index = this.#waiting.findIndex(({ author }) => !this.#running.has(author));
      const [next] = index < 0 ? [] : this.#waiting.splice(index, 1);
      if (next === undefined) return;
      this.#running.add(next.author);
      next.begin();
    }
  }
}
