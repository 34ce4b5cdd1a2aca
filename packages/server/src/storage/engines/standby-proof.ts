import { StoreOutage } from '../../domain/errors.ts';

/** What a standby says of its replication. Positions are bytes in the write-ahead log. */
export interface StandbyState {
  /** Whether it is connected to its primary. */
  readonly isReceiving: boolean;
  /** How far it has received; `null` before it has been connected. */
  readonly received: number | null;
  /** How far its data shows. */
  readonly replayed: number | null;
}

/** How long what a standby has received may take to show, in milliseconds. */
const REPLAY_LIMIT_MS = 3_000;

/**
 * Finds out how current a standby is. It was current at a moment once it shows what it had received by then; while it is
 * not connected to its primary, that is unknown.
 */
export class StandbyProof {
  #awaited: { readonly askedAt: number; readonly received: number }[] = [];
  #provenAt: number | undefined;

  /**
   * Takes the state that was asked for at `askedAt`, in monotonic milliseconds. Returns when the standby was last known to
   * be current; `undefined` while it has not yet shown what it had received at the first question. Throws a
   * {@link StoreOutage} when it is cut off, or too far behind.
   */
  take({ isReceiving, received, replayed }: StandbyState, askedAt: number): number | undefined {
    if (!isReceiving || received === null)
      throw new StoreOutage('the standby is not connected to its primary');
    this.#awaited.push({ askedAt, received });
    while (this.#awaited[0] !== undefined && this.#awaited[0].received <= (replayed ?? 0))
      this.#provenAt = this.#awaited.shift()?.askedAt;
    const behindMs = askedAt - (this.#provenAt ?? this.#awaited[0]?.askedAt ?? askedAt);
    if (behindMs > REPLAY_LIMIT_MS)
      throw new StoreOutage(
        `the standby is more than ${Math.floor(behindMs / 1000)} seconds behind its primary`,
      );
    return this.#provenAt;
  }
}
