import { StoreOutage } from '../../domain/errors.ts';

/** What a standby says of its replication. */
export interface StandbyState {
  /** Whether it is connected to its primary. */
  readonly isReceiving: boolean;
  /** When the newest commit that it shows was made, by the primary's clock, in epoch milliseconds; `null` before any. */
  readonly shownAt: number | null;
  /** How long ago that is by the standby's clock, in milliseconds. */
  readonly shownAgeMs: number | null;
}

/** How long a standby may show nothing of its primary that is new, in milliseconds. */
const SILENCE_LIMIT_MS = 3_000;

/**
 * Finds out how current a standby is, from the commits that it shows: there is one each second (storage/primary-beat.ts).
 * A standby that is connected and shows all that it has received may be cut off all the same, so only a new commit proves
 * anything. Its age is a difference of the two servers' clocks, and counts on from there by the clock of this process.
 */
export class StandbyProof {
  /** The newest commit of the last answer; `undefined` before the first one. */
  #shownAt: number | null | undefined;
  /** What the last answer showed. Only the next one is sure to have its rows: an answer reads them before it looks at the commit. */
  #shown: number | undefined;
  #begunAt: number | undefined;

  /**
   * Takes the state that was asked for at `askedAt`, in monotonic milliseconds. Returns when the standby was last known to
   * be current; `undefined` while it has shown nothing new since the first question. Throws a {@link StoreOutage} when it is
   * cut off, or too far behind.
   */
  take({ isReceiving, shownAt, shownAgeMs }: StandbyState, askedAt: number): number | undefined {
    if (!isReceiving) throw new StoreOutage('the standby is not connected to its primary');
    this.#begunAt ??= askedAt;
    const provenAt = this.#shown;
    const isNew = this.#shownAt !== undefined && shownAt !== this.#shownAt;
    if (isNew && shownAgeMs !== null) this.#shown = askedAt - Math.max(0, shownAgeMs);
    this.#shownAt = shownAt;
    const behindMs = askedAt - (provenAt ?? this.#begunAt);
    if (behindMs > SILENCE_LIMIT_MS) throw new StoreOutage(tooOld(Math.floor(behindMs / 1000), isNew));
    return provenAt;
  }
}

function tooOld(seconds: number, isNew: boolean): string {
  return isNew
    ? `the standby is ${seconds} seconds behind its primary, or their clocks differ`
    : `the standby has shown nothing new of its primary for ${seconds} seconds: it is cut off or held up, or no node writes to the primary`;
}
