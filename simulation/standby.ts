import type { StandbyState } from '../packages/server/src/storage/engines/standby-proof.ts';
import type { Kernel, Owner } from './kernel.ts';
import type { Lane, Link } from './link.ts';
import type { LogCopy } from './log-copy.ts';

/** How long until a standby that has other rows than its primary is made anew, in milliseconds. */
const REBUILD_MS = 4_000;

/** A copy of the database that shows what has arrived over its link. */
export class Standby {
  readonly owner: Owner;
  readonly link: Link;
  readonly #kernel: Kernel;
  readonly #lane: Lane;
  #copy: LogCopy;
  #shownAt: number | null = null;
  #isReceiving = true;
  /** Whether it has rows that its primary has lost. */
  #isDiverged = false;
  /** Counts its connections to the primary: what was sent on an earlier one does not arrive. */
  #connection = 0;

  constructor(kernel: Kernel, owner: Owner, link: Link, first: LogCopy) {
    this.#kernel = kernel;
    this.owner = owner;
    this.link = link;
    this.#lane = link.lane();
    this.#copy = first;
  }

  get copy(): LogCopy {
    return this.#copy;
  }

  /** What it says of its replication. Asked in a turn of its own. */
  state(): StandbyState {
    const shownAt = this.#shownAt;
    return {
      isReceiving: this.#isReceiving,
      shownAt,
      shownAgeMs: shownAt === null ? null : this.#kernel.wallMs() - shownAt,
    };
  }

  /** The primary has committed something, or marks its log: `at` by the clock of the primary. */
  send(copy: LogCopy, at: number): void {
    const connection = this.#connection;
    this.#lane(this.owner, () => {
      if (this.#isDiverged || connection !== this.#connection) return;
      this.#isReceiving = true;
      this.#copy = copy;
      this.#shownAt = at;
    });
  }

  /** The primary has gone away. */
  disconnect(): void {
    this.#isReceiving = false;
    this.#connection++;
  }

  /** The primary has gone back to fewer rows. One that had more cannot follow it: it is made anew. */
  cut({ length }: LogCopy, current: () => LogCopy): void {
    this.disconnect();
    if (this.#copy.length <= length) return;
    this.#isDiverged = true;
    const rebuild = (): void => {
      this.#isDiverged = false;
      this.#copy = current();
    };
    this.#kernel.after(REBUILD_MS, rebuild, this.owner);
  }
}
