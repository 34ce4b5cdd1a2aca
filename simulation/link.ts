import type { Chance } from './chance.ts';
import type { Kernel, Owner } from './kernel.ts';

/** The way between two machines: messages take a while, and may be held back by a hole, as TCP repeats them after it. */
export class Link {
  readonly name: string;
  readonly #kernel: Kernel;
  readonly #chance: Chance;
  /** One way, in milliseconds, without jitter. */
  readonly delayMs: number;
  /** When something failed here for the last time, or ended to. */
  troubledAt = Number.NEGATIVE_INFINITY;
  /** What it takes longer now, one way, in milliseconds. */
  #slowMs = 0;
  #isHoled = false;
  /** Counts how often its connections died without a sign. */
  #deaths = 0;
  #held: (() => void)[] = [];
  readonly #cuts = new Set<() => void>();

  constructor(name: string, kernel: Kernel, chance: Chance, delayMs: number) {
    this.name = name;
    this.#kernel = kernel;
    this.#chance = chance;
    this.delayMs = delayMs;
  }

  /** Whether everything that was sent since then arrived without delay, or will. */
  isClearSince(at: number): boolean {
    return !this.#isHoled && this.#slowMs === 0 && this.troubledAt < at;
  }

  /** From now on it takes so much longer, one way, in milliseconds. */
  slow(ms: number): void {
    this.troubledAt = this.#kernel.now;
    this.#slowMs = ms;
  }

  /**
   * One direction of a connection: what is sent on it arrives in order. A message that a hole has held back may come after the time at
   * which the next one was to arrive, so each arrival brings the oldest message that is on its way.
   */
  lane(): Lane {
    const underWay: (() => void)[] = [];
    let lastAt = 0;
    const deaths = this.#deaths;
    const takeNext = () => underWay.shift()?.();

    return (owner, work) => {
      const send = () => {
        if (deaths !== this.#deaths) return;
        underWay.push(work);
        const at = this.#kernel.now + (this.delayMs + this.#slowMs) * this.#chance.between(0.9, 1.2);
        lastAt = Math.max(lastAt, at);
        const arrive = () => (this.#isHoled ? this.#hold(owner, takeNext) : takeNext());
        this.#kernel.at(lastAt, arrive, owner);
      };
      if (this.#isHoled) this.#held.push(send);
      else send();
    };
  }

  /** From now on nothing arrives, without a sign. */
  dig(): void {
    this.troubledAt = this.#kernel.now;
    this.#isHoled = true;
  }

  /** What was held back arrives, in its order. */
  heal(): void {
    this.troubledAt = this.#kernel.now;
    this.#isHoled = false;
    for (const send of this.#held.splice(0)) send();
  }

  /** Every connection dies, and neither end hears of it: nothing arrives on them any longer. New ones work. */
  forgetConnections(): void {
    this.troubledAt = this.#kernel.now;
    this.#deaths++;
  }

  /** Resets every connection. */
  reset(): void {
    this.troubledAt = this.#kernel.now;
    for (const cut of [...this.#cuts]) cut();
  }

  /** Calls `cut` once, if the link is reset before the connection ends. Returns what forgets it. */
  onReset(cut: () => void): () => void {
    this.#cuts.add(cut);
    return () => this.#cuts.delete(cut);
  }

  #hold(owner: Owner, work: () => void): void {
    this.#held.push(() => this.#kernel.after(this.delayMs, work, owner));
  }
}

/** Carries one message: `work` runs in a turn of `owner` when it has arrived. */
export type Lane = (owner: Owner, work: () => void) => void;
