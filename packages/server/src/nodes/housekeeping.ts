import type { Logger } from 'pino';
import type { DeliveryStore } from '../domain/delivery.ts';
import { StoreOutage } from '../domain/errors.ts';
import type { ReadSide } from '../domain/read-side.ts';
import { type UsageStore, usageParts } from '../domain/usage.ts';
import type { LogServer } from '../evaluation/log/log-server.ts';
import type { UsageTally } from '../evaluation/usage/usage-tally.ts';
import { removePersonalData } from '../nouns/audit-chain/personal-data.ts';
import { removeOldReferences } from '../nouns/history/reference-table.ts';
import { removeEnded } from '../nouns/people/session-table.ts';
import { SIGN_IN_LIMIT } from '../nouns/people/sign-in.ts';
import { LOG_RETENTION, pruneLog } from '../storage/change-log.ts';
import { CommitUncertainError, type Database } from '../storage/database.ts';
import { storeLastUse } from '../storage/last-use.ts';
import type { Store } from '../storage/store.ts';

/** How often the uses of keys are stored, and how often old log rows are removed, in milliseconds. */
const TOUCH_MS = 30_000;

/** How often the reads of flags that clients report are stored, in milliseconds. */
const USAGE_MS = 60_000;

/** Flags whose reads one transaction stores: nothing else can write during it. */
const FLAGS_AT_ONCE = 1000;
const PRUNE_MS = 3_600_000;

/** When old rows are first removed after the start: nodes that restart often must remove them too. */
const FIRST_PRUNE_MS = 60_000;
const DAY_MS = 86_400_000;

/** The parts of the node that housekeeping uses. */
export interface HousekeepingParts {
  readonly readers: Pick<ReadSide, 'takeUsedKeys'>;
  /** Relays follow it with their tokens. */
  readonly logServer: Pick<LogServer, 'takeContacts'>;
  readonly store: Store;
  readonly database: Database;
  readonly deliveries: Pick<DeliveryStore, 'prune'>;
  /** Reads of flags, as clients report them, and where they are added up. */
  readonly tally: Pick<UsageTally, 'take' | 'add'>;
  readonly usage: UsageStore;
  /** Days after which personal data is removed from the audit log; absent: never. */
  readonly auditPersonalDays?: number;
  readonly log: Logger;
}

/** Background work: stores when keys were last used, and removes old records. */
export class Housekeeping {
  readonly #parts: HousekeepingParts;
  readonly #timers: readonly Timer[];

  constructor(parts: HousekeepingParts) {
    this.#parts = parts;
    this.#timers = [
      setInterval(() => void this.noteUses(), TOUCH_MS),
      setInterval(() => void this.storeUsage(), USAGE_MS),
      setTimeout(() => void this.#prune(), FIRST_PRUNE_MS),
      setInterval(() => void this.#prune(), PRUNE_MS),
    ];
    for (const timer of this.#timers) timer.unref();
  }

  /** Stores which keys have been used since the last time. A failure costs only these dates. */
  async noteUses(): Promise<void> {
    const { store, readers, logServer } = this.#parts;
    const now = Date.now();

    try {
      await storeLastUse(store, 'project_keys', usedAt(now, await readers.takeUsedKeys()));
      await storeLastUse(store, 'relay_tokens', usedAt(now, logServer.takeContacts()));
    } catch (err) {
      this.#noteFailure(err, 'the last use of keys and relay tokens could not be stored');
    }
  }

  /**
   * Stores how often flags have been read since the last time. What was not stored counts the next time; what may have been is
   * dropped, because it must not count twice.
   */
  async storeUsage(): Promise<void> {
    const { tally, usage } = this.#parts;
    for (const part of usageParts(tally.take(), FLAGS_AT_ONCE)) {
      try {
        await usage.add(part, Date.now());
      } catch (err) {
        if (err instanceof CommitUncertainError) {
          this.#noteFailure(
            err,
            'some reads of flags may be lost: the connection broke while they were stored',
          );
          continue;
        }
        for (const each of part) tally.add(each);
        this.#noteFailure(err, 'the reads of flags could not be stored; retrying in a minute');
      }
    }
  }

  /** Stops the timers. Safe to call twice. */
  close(): void {
    for (const timer of this.#timers) clearInterval(timer);
  }

  async #prune(): Promise<void> {
    try {
      await this.#parts.deliveries.prune(Date.now());
      await this.#parts.usage.prune(Date.now());
      await this.#parts.store.unlogged((tx) => removeEnded(tx, tx.now(), SIGN_IN_LIMIT.windowMs));
      await this.#parts.store.unlogged((tx) => removeOldReferences(tx, tx.now()));
      const now = Date.now();
      const pruned = await pruneLog(this.#parts.database, {
        now,
        olderThan: now - LOG_RETENTION.days * DAY_MS,
        keepRows: LOG_RETENTION.rows,
      });
      if (pruned > 0) this.#parts.log.info({ pruned }, 'old rows of the change log removed');
      await this.#removePersonalData(now);
    } catch (err) {
      this.#noteFailure(err, 'old records could not be removed; retrying in an hour');
    }
  }

  async #removePersonalData(now: number): Promise<void> {
    const { auditPersonalDays: days, store, log } = this.#parts;
    if (days === undefined) return;
    const blocks = await removePersonalData(store, now - days * DAY_MS);
    if (blocks > 0) log.info({ blocks }, 'personal data removed from old entries of the audit log');
  }

  /** The follower reports outages, and a standby can never be written. */
  #noteFailure(err: unknown, message: string): void {
    this.#parts.log[err instanceof StoreOutage ? 'debug' : 'warn']({ err }, message);
  }
}

/** Each id with the time. */
function* usedAt(now: number, ids: Iterable<string>): Generator<readonly [string, number]> {
  for (const id of ids) yield [id, now];
}
