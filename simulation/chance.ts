/**
 * A source of choices that a seed repeats, also for campaigns. Concerns have sources of their own, so that one more draw here
 * changes nothing there.
 */
export class Chance {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** From 0 to below 1 (mulberry32). */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  }

  /** From `low` to below `high`. */
  between(low: number, high: number): number {
    return low + this.next() * (high - low);
  }

  /** A whole number from `low` to `high`, both included. */
  whole(low: number, high: number): number {
    return Math.floor(this.between(low, high + 1));
  }

  /** Whether something of this probability happens. */
  happens(probability: number): boolean {
    return this.next() < probability;
  }

  /** One of the items. */
  pick<T>(items: readonly T[]): T {
    const item = items[this.whole(0, items.length - 1)];
    if (item === undefined) throw new Error('there is nothing to pick from');
    return item;
  }

  /** The items in another order. */
  shuffle<T>(items: readonly T[]): T[] {
    return items
      .map((item) => ({ item, place: this.next() }))
      .sort((a, b) => a.place - b.place)
      .map(({ item }) => item);
  }

  /** A source of its own, so that one user's choices do not depend on how often others choose. */
  fork(): Chance {
    return new Chance(Math.floor(this.next() * 4_294_967_296));
  }

  /** 32 hexadecimal digits. */
  hex(): string {
    return Array.from({ length: 4 }, () =>
      Math.floor(this.next() * 4_294_967_296)
        .toString(16)
        .padStart(8, '0'),
    ).join('');
  }

  /** Another source, named, that depends on nothing but the seed and its name. */
  static of(seed: number, name: string): Chance {
    return new Chance(Number(Bun.hash.xxHash32(`${seed} ${name}`)));
  }
}
