import type { FlagMap } from '@halyard/protocol';
import { NO_FLAGS, type ParsedFlags, reconcile } from './flags.ts';
import type { Platform } from './platform.ts';
import { type Offer, RevisionGate, type Verdict } from './revision-gate.ts';

/** What a store tells when its first map has come, and when it has been replaced by one that differs. */
export interface MapChange {
  readonly previous: FlagMap;
  readonly flags: FlagMap;
  /** Keys that were added, changed or removed. */
  readonly changed: readonly string[];
}

/** The newest map of an environment that is known here. It never moves back; see {@link RevisionGate}. */
export class FlagStore {
  /** `undefined` until the first map has come. */
  flags: FlagMap | undefined;
  /** The `ETag` of the map at hand, when it came with one. */
  etag: string | undefined;
  readonly #gate: RevisionGate;
  readonly #onChange: (change: MapChange) => void;

  constructor(now: Platform['now'], onChange: (change: MapChange) => void) {
    this.#gate = new RevisionGate(now);
    this.#onChange = onChange;
  }

  /** The revision of the map at hand, if the server numbers its maps. */
  get revision(): number | undefined {
    return this.#gate.known;
  }

  /** The place of a request in the order of requests and frames; goes into its offer as `askedAt`. */
  tick(): number {
    return this.#gate.tick();
  }

  /** Takes a map, unless the one at hand is newer. */
  offer(parsed: ParsedFlags, offer: Offer & { readonly etag?: string | undefined }): Verdict {
    const verdict = this.#gate.judge(offer);
    if (verdict === 'keep') return verdict;
    const isFirst = this.flags === undefined;
    const previous = this.flags ?? NO_FLAGS;
    const { flags, changed } = reconcile(previous, parsed.flags);
    this.flags = flags;
    this.etag = offer.etag;
    if (isFirst || changed.length > 0) this.#onChange({ previous, flags, changed });
    return verdict;
  }
}
