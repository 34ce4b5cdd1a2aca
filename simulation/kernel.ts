import { drainMicrotasks } from 'bun:jsc';
import { Chance } from './chance.ts';

/** A process of the simulated world. Its clocks are its own, and what it has begun ends with it. */
export class Owner {
  readonly name: string;
  /** When it was started, in virtual milliseconds: its monotonic clock begins there. */
  readonly startedAt: number;
  /** How far its wall clock is ahead of the world's, in milliseconds. */
  readonly skewMs: number;
  isAlive = true;
  /** When what it ran was ended, in virtual milliseconds. */
  endedAt = Number.POSITIVE_INFINITY;
  /** Until then its events wait. Changed by {@link Kernel.pause} and {@link Kernel.resume}. */
  pausedUntil = 0;
  /** What the digest takes for it. */
  readonly hash: number;

  constructor(name: string, startedAt: number, skewMs = 0) {
    this.name = name;
    this.startedAt = startedAt;
    this.skewMs = skewMs;
    this.hash = Number(Bun.hash.xxHash32(name));
  }
}

interface Event {
  at: number;
  readonly order: number;
  readonly owner: Owner;
  readonly run: () => void;
  isCanceled: boolean;
  /** Whether it waits for the end of a pause. */
  isHeld: boolean;
}

/** The wall clock at virtual time 0. */
const EPOCH_MS = Date.UTC(2030, 0, 1);

/**
 * Ticks of a millisecond: a power of two, so that sums and differences of times are exact. Otherwise a wait for the rest of
 * a period may be too short to move the clock.
 */
const TICKS = 1_024;

/** A turn that looks at its clocks so often waits for time to pass, which it does only between turns. */
const MAX_LOOKS = 100_000;

/**
 * Virtual time: events in order of their times, each run in a turn of its own, with every microtask that it causes. All that a
 * turn does belongs to the process whose turn it is, so one thread holds many clocks.
 */
export class Kernel {
  readonly chance: Chance;
  /** A digest of every event so far: equal for equal seeds. */
  digest = 0;
  /** How many events have run. */
  events = 0;
  /** The first error that nothing caught, if there was one. */
  failure: unknown;
  /** What a look at the clock costs, in milliseconds: a machine that is busy. */
  lookMs = 0;
  #now = 0;
  /** How often the turn has looked at its clocks. */
  #looks = 0;
  #order = 0;
  #heap: Event[] = [];
  #owner: Owner;

  constructor(seed: number) {
    this.chance = Chance.of(seed, 'kernel');
    this.#owner = new Owner('world', 0);
  }

  /** Virtual milliseconds since the beginning. */
  get now(): number {
    return this.#now;
  }

  /** The process whose turn it is. */
  get owner(): Owner {
    return this.#owner;
  }

  /** The monotonic clock of the process whose turn it is. */
  monotonicMs(): number {
    this.#look();
    this.#now += this.lookMs;
    return this.#now - this.#owner.startedAt;
  }

  /** The wall clock of the process whose turn it is. */
  wallMs(): number {
    this.#look();
    return Math.floor(EPOCH_MS + this.#now + this.#owner.skewMs);
  }

  /** Runs `work` in a turn of `owner`, `delayMs` from now. Returns what cancels it. */
  after(delayMs: number, work: () => void, owner = this.#owner): () => void {
    return this.#schedule(this.#now + Math.max(0, Math.round(delayMs * TICKS) / TICKS), work, owner);
  }

  /**
   * Runs `work` in a turn of `owner` at that time, in virtual milliseconds, or now if it has passed. What is scheduled for one time
   * runs in the order of the calls, however late in a turn each was made.
   */
  at(time: number, work: () => void, owner = this.#owner): () => void {
    return this.#schedule(Math.max(this.#now, Math.round(time * TICKS) / TICKS), work, owner);
  }

  #schedule(at: number, work: () => void, owner: Owner): () => void {
    const event: Event = {
      at,
      order: this.#order++,
      owner,
      run: work,
      isCanceled: false,
      isHeld: false,
    };
    this.#push(event);
    return () => {
      event.isCanceled = true;
    };
  }

  /** Lets a process stand still: its events wait. */
  pause(owner: Owner, ms: number): void {
    owner.pausedUntil = Math.max(owner.pausedUntil, this.#now + ms);
  }

  /** Ends a pause: what waits comes now, in its order and before what is new. */
  resume(owner: Owner): void {
    owner.pausedUntil = 0;
    for (const event of this.#heap) if (event.owner === owner && event.isHeld) event.at = this.#now;
    // A sorted list is a heap.
    this.#heap.sort((a, b) => a.at - b.at || a.order - b.order);
  }

  /** What a process has at this moment, by its own clocks. */
  see<T>(owner: Owner, look: () => T): T {
    const before = this.#owner;
    this.#owner = owner;
    try {
      return look();
    } finally {
      this.#owner = before;
    }
  }

  /** Does `work` now, as `owner`, inside the turn of another. */
  as<T>(owner: Owner, work: () => T): T {
    return this.see(owner, () => {
      const result = work();
      drainMicrotasks();
      return result;
    });
  }

  /** Runs every event up to a virtual time, which it is then. Throws what nothing caught. */
  runUntil(end: number): void {
    for (let event = this.#heap[0]; event !== undefined && event.at <= end; event = this.#heap[0]) {
      this.#pop();
      if (event.isCanceled || !event.owner.isAlive) continue;
      this.#now = Math.max(this.#now, event.at);
      if (event.owner.pausedUntil > this.#now) {
        event.at = event.owner.pausedUntil;
        event.isHeld = true;
        this.#push(event);
        continue;
      }
      this.#turn(event);
      if (this.failure !== undefined) throw this.failure;
    }
    this.#now = Math.max(this.#now, Math.ceil(end * TICKS) / TICKS);
  }

  #turn(event: Event): void {
    const before = this.#owner;
    this.#owner = event.owner;
    this.#looks = 0;
    this.events++;
    // Microseconds; and whose turn it is.
    this.digest = Math.imul(this.digest ^ Math.floor(event.at * 1_000) ^ event.owner.hash, 0x9e3779b1) >>> 0;
    try {
      event.run();
      drainMicrotasks();
    } catch (error) {
      this.failure ??= error;
    } finally {
      this.#owner = before;
    }
  }

  /** Ends a turn that would go on for ever, in memory that grows: its microtasks cannot be stopped from outside. */
  #look(): void {
    if (++this.#looks <= MAX_LOOKS) return;
    this.failure ??= new Error(`a turn of ${this.#owner.name} never ends`);
    throw this.failure;
  }

  #push(event: Event): void {
    const heap = this.#heap;
    let index = heap.push(event) - 1;
    while (index > 0) {
      const parent = (index - 1) >> 1;
      if (!isBefore(event, heap[parent] as Event)) break;
      heap[index] = heap[parent] as Event;
      index = parent;
    }
    heap[index] = event;
  }

  #pop(): void {
    const heap = this.#heap;
    const last = heap.pop();
    if (last === undefined || heap.length === 0) return;
    let index = 0;
    for (;;) {
      let child = 2 * index + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && isBefore(heap[child + 1] as Event, heap[child] as Event)) child++;
      if (!isBefore(heap[child] as Event, last)) break;
      heap[index] = heap[child] as Event;
      index = child;
    }
    heap[index] = last;
  }
}

function isBefore(a: Event, b: Event): boolean {
  return a.at < b.at || (a.at === b.at && a.order < b.order);
}
