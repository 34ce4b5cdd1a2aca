/** A seeded source of choices, so that a campaign can be run again with the same plan. */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** A number from 0 up to, not including, 1 (mulberry32). */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** A number between the two. */
  between(least: number, most: number): number {
    return least + this.next() * (most - least);
  }

  /** One of the list, which must not be empty. */
  pick<T>(list: readonly T[]): T {
    const item = list[Math.floor(this.next() * list.length)];
    if (item === undefined) throw new Error('there is nothing to choose from');
    return item;
  }

  /** The list in another order. */
  shuffle<T>(list: readonly T[]): T[] {
    return list
      .map((item) => ({ item, place: this.next() }))
      .sort((a, b) => a.place - b.place)
      .map(({ item }) => item);
  }

  /** A source of its own, so that one user's choices do not depend on how often others choose. */
  fork(): Random {
    return new Random(Math.floor(this.next() * 2 ** 32));
  }
}
