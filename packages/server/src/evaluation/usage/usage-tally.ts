import type { FlagReads } from '@halyard/protocol';
import type { EnvironmentUsage, UsageOutcome } from '../../domain/usage.ts';
import type { Catalog } from '../catalog/catalog.ts';

/** Bytes that counts may take. Only flags that exist are counted, so it takes about a million of them to get there. */
const MAX_BYTES = 64 * 1024 * 1024;

/** About what one flag takes beside its key, in bytes. */
const FLAG_BYTES = 120;

interface Reads {
  on: number;
  off: number;
}

/**
 * Adds up how often flags were read, until the sums are taken. Only flags that exist in an environment whose project
 * wants it are counted, and only in memory: a report never waits for anything.
 */
export class UsageTally {
  readonly #catalog: Pick<Catalog, 'environmentWithId'>;
  readonly #maxBytes: number;
  #counts = new Map<string, Map<string, Reads>>();
  #bytes = 0;

  constructor(catalog: Pick<Catalog, 'environmentWithId'>, maxBytes = MAX_BYTES) {
    this.#catalog = catalog;
    this.#maxBytes = maxBytes;
  }

  /** About how many bytes the counts take. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Counts reads of the flags of an environment. Returns how many of these flags do not exist. */
  add({ environmentId, flags }: EnvironmentUsage): number {
    const environment = this.#catalog.environmentWithId(environmentId);
    if (environment?.wantsUsage !== true) return 0;

    let unknown = 0;
    for (const reads of flags) {
      if (environment.state(reads[0]) === undefined) unknown++;
      else this.#count(environmentId, reads);
    }
    return unknown;
  }

  /** Counts one read of a flag that exists, in an environment that wants it. (Spec: S17.7) */
  addRead(environmentId: string, flagKey: string, outcome: UsageOutcome): void {
    this.#count(environmentId, outcome === 'on' ? [flagKey, 1, 0] : [flagKey, 0, 1]);
  }

  /** The counts since the last call, of flags that still exist. */
  take(): readonly EnvironmentUsage[] {
    const taken = this.#counts;
    this.#counts = new Map();
    this.#bytes = 0;
    return [...taken].flatMap(([environmentId, byFlag]) => {
      const environment = this.#catalog.environmentWithId(environmentId);
      const flags = [...byFlag]
        .filter(([flagKey]) => environment?.state(flagKey) !== undefined)
        .map(([flagKey, { on, off }]): FlagReads => [flagKey, on, off]);
      return flags.length === 0 ? [] : [{ environmentId, flags }];
    });
  }

  #count(environmentId: string, [flagKey, on, off]: FlagReads): void {
    const byFlag = this.#counts.get(environmentId) ?? new Map<string, Reads>();
    this.#counts.set(environmentId, byFlag);
    const known = byFlag.get(flagKey);
    if (known !== undefined) {
      known.on += on;
      known.off += off;
      return;
    }
    const bytes = FLAG_BYTES + flagKey.length;
    // At the limit, flags without a count are ignored until the sums are taken.
    if (this.#bytes + bytes > this.#maxBytes) return;
    this.#bytes += bytes;
    byFlag.set(flagKey, { on, off });
  }
}
