import type { Actor } from '../packages/server/src/domain/audit.ts';
import { RightsChanged, StoreOutage } from '../packages/server/src/domain/errors.ts';
import { UNLIMITED } from '../packages/server/src/domain/rights.ts';
import {
  insertAccessToken,
  readTokenByDigest,
  storeRevocation,
} from '../packages/server/src/nouns/access-tokens/access-token-table.ts';
import { takeReference } from '../packages/server/src/nouns/history/reference-table.ts';
import { StateWriters } from '../packages/server/src/nouns/states/state-writers.ts';
import { readLogPage } from '../packages/server/src/storage/change-log.ts';
import { CommitUncertainError } from '../packages/server/src/storage/database.ts';
import { SqlStore } from '../packages/server/src/storage/store.ts';
import { makeToken, seed as seedProject } from '../packages/server/src/storage/test-records.ts';
import { Chance } from './chance.ts';
import { SimulatedEngine } from './engine.ts';
import { takeOver } from './globals.ts';
import { Kernel } from './kernel.ts';

/** How long writers write, and what the last of them may take, in virtual milliseconds. */
const [WRITING_MS, ENDING_MS] = [4_000, 60_000] as const;

const [NODES, WRITERS] = [2, 4] as const;

const ADA: Actor = { name: 'operator:ada@example.com', permissions: UNLIMITED };

/** What a writer was told of a change. */
interface Told {
  readonly actor: Actor;
  readonly value: string;
  readonly outcome: 'made' | 'not made' | 'unknown' | 'no rights';
  readonly seq?: number | undefined;
  readonly begunAt: number;
}

/** What came of a history of writers. */
export interface StoreHistoryResult {
  readonly violations: readonly string[];
  readonly counts: ReadonlyMap<string, number>;
  readonly digest: number;
}

/**
 * Writers of two nodes change states in groups, while answers to COMMIT get lost, tokens are revoked and references are
 * closed. Then the log is compared with what each was told. `empty`: {@link SimulatedEngine.empty}.
 */
export function simulateStore(seed: number, empty: Uint8Array): StoreHistoryResult {
  const kernel = new Kernel(seed);
  const never = () => {
    throw new Error('a store asks no server and has no files');
  };
  const giveBack = takeOver({ kernel, fetch: never, files: never });
  const history = new StoreHistory(kernel, seed, empty);
  try {
    kernel.after(0, () => void history.run());
    kernel.runUntil(WRITING_MS + ENDING_MS);
    return { violations: history.violations(), counts: history.counts, digest: kernel.digest };
  } finally {
    giveBack();
    history.close();
  }
}

class StoreHistory {
  readonly counts = new Map<string, number>();
  readonly #kernel: Kernel;
  readonly #chance: Chance;
  readonly #engine: SimulatedEngine;
  readonly #stores: SqlStore[];
  readonly #told: Told[] = [];
  /** When each token was revoked, by its actor's name, for one who was told so. */
  readonly #revokedAt = new Map<string, number>();
  /** References that were closed with no change under them, by their changes' values. */
  readonly #closed = new Set<string>();
  readonly #violations: string[] = [];
  #actors: Actor[] = [];
  #values = 0;
  #running = 0;
  #rows: Awaited<ReturnType<typeof readLogPage>>['rows'] | undefined;

  constructor(kernel: Kernel, seed: number, empty: Uint8Array) {
    this.#kernel = kernel;
    this.#chance = Chance.of(seed, 'writers');
    this.#engine = new SimulatedEngine(empty, kernel, Chance.of(seed, 'engine'));
    const sources = { now: () => kernel.wallMs(), newId: () => kernel.chance.hex() };
    this.#stores = Array.from({ length: NODES }, () => new SqlStore(this.#engine, sources));
  }

  /** Gives back the memory of its database: the garbage collector does not see how much that is. */
  close(): void {
    void this.#engine.close();
  }

  async run(): Promise<void> {
    const [store] = this.#stores;
    if (store === undefined) return;
    await seedProject(store, ['a', 'b', 'c']);
    for (let index = 0; index < 3; index++) await this.#addToken(store, index);
    this.#engine.trouble = this.#chance.pick([0, 0.05, 0.3]);

    void this.#revokeAgain(store);
    for (const each of this.#stores) {
      const writers = new StateWriters(each, 'environment');
      for (let index = 0; index < WRITERS; index++) void this.#writeAgain(each, writers);
    }
    await this.#pause(WRITING_MS + ENDING_MS - 1_000);
    this.#rows = (await readLogPage(this.#engine, 0, { rows: 100_000, bytes: 1e9 })).rows;
  }

  /** What does not fit together. */
  violations(): readonly string[] {
    if (this.#running > 0) this.#violations.push(`${this.#running} writers were never answered`);
    if (this.#rows === undefined) return [...this.#violations, 'the log could not be read'];
    const made = new Map<string, number>();
    for (const { seq, kind, payload } of this.#rows) {
      if (kind !== 'flags.changed') continue;
      for (const [, state] of JSON.parse(payload) as [string, string | null][]) {
        const { value } = JSON.parse(state ?? '{}') as { value?: string };
        if (value === undefined) continue;
        if (made.has(value)) this.#violations.push(`${value} was made twice`);
        made.set(value, seq);
      }
    }
    for (const told of this.#told) this.#compare(told, made.get(told.value));
    return this.#violations;
  }

  #compare({ value, outcome, seq, actor, begunAt }: Told, found: number | undefined): void {
    const say = (what: string) => this.#violations.push(`${value} of ${actor.name} ${what}`);
    if (outcome === 'made' && (found === undefined || found !== seq))
      say(`was acknowledged as row ${seq}, and is ${found ?? 'nowhere'}`);
    if ((outcome === 'not made' || outcome === 'no rights') && found !== undefined)
      say(`was called not made, and is row ${found}`);
    if (this.#closed.has(value) && found !== undefined)
      say(`is row ${found}, and its reference was closed before`);
    const revokedAt = this.#revokedAt.get(actor.name);
    if (found !== undefined && revokedAt !== undefined && begunAt > revokedAt)
      say(`is row ${found}, and its token was revoked before`);
    const revocation = this.#seqs.get(actor.name);
    if (found !== undefined && revocation !== undefined && found > revocation)
      say(`is row ${found}, after the revocation of its token, row ${revocation}`);
  }

  /** The end of the log when each token had been revoked. */
  readonly #seqs = new Map<string, number>();

  async #addToken(store: SqlStore, index: number): Promise<void> {
    const token = { ...makeToken(`t${index}`), id: this.#kernel.chance.hex() };
    await store.commit(ADA, (tx) => insertAccessToken(tx, token, `digest-${token.id}`));
    const found = await readTokenByDigest(store, `digest-${token.id}`);
    if (found === undefined) throw new Error('a new token is not there');
    this.#actors.push({ name: `token:${token.id}`, permissions: UNLIMITED, credential: found.credential });
  }

  /** Revokes one token after the other; the writers that have it go on. */
  async #revokeAgain(store: SqlStore): Promise<void> {
    for (const actor of this.#actors.slice(1)) {
      await this.#pause(this.#chance.between(300, 1_500));
      const id = actor.name.slice('token:'.length);
      try {
        const { seq } = await store.commit(ADA, (tx) =>
          storeRevocation(tx, { ...makeToken(), id }, tx.now()),
        );
        this.#revokedAt.set(actor.name, this.#kernel.now);
        if (seq !== undefined) this.#seqs.set(actor.name, seq);
        this.count('revoked');
      } catch (error) {
        if (!(error instanceof StoreOutage || error instanceof CommitUncertainError)) throw error;
      }
    }
  }

  async #writeAgain(store: SqlStore, writers: StateWriters): Promise<void> {
    const chance = this.#chance;
    while (this.#kernel.now < WRITING_MS) {
      await this.#pause(chance.between(1, 120));
      const value = `v${++this.#values}`;
      const actor = { ...chance.pick(this.#actors), reference: value };
      const begunAt = this.#kernel.now;
      this.#running++;
      const told = this.#write(writers, actor, value).then((outcome) => {
        this.count(outcome.outcome);
        this.#told.push({ actor, value, begunAt, ...outcome });
        this.#running--;
      });
      // Some do not wait: they ask what became of it, and close its reference.
      if (chance.happens(0.2)) await this.#close(store, actor, value);
      else await told;
    }
  }

  async #write(writers: StateWriters, actor: Actor, value: string): Promise<Pick<Told, 'outcome' | 'seq'>> {
    try {
      const { seq } = await writers.add({
        actor,
        project: 'demo',
        environment: 'production',
        key: this.#chance.pick(['a', 'b', 'c']),
        next: () => JSON.stringify({ enabled: true, value }),
      });
      return { outcome: 'made', seq };
    } catch (error) {
      if (error instanceof RightsChanged) return { outcome: 'no rights' };
      if (error instanceof CommitUncertainError) return { outcome: 'unknown' };
      if (error instanceof StoreOutage) return { outcome: 'not made' };
      throw error;
    }
  }

  async #close(store: SqlStore, { name }: Actor, reference: string): Promise<void> {
    await this.#pause(this.#chance.between(0, 60));
    try {
      const { isClosed } = await store.unlogged((tx) => takeReference(tx, { actor: name, reference }));
      if (isClosed) this.#closed.add(reference);
      this.count(isClosed ? 'reference closed' : 'reference used');
    } catch (error) {
      if (!(error instanceof StoreOutage || error instanceof CommitUncertainError)) throw error;
    }
  }

  count(what: string): void {
    this.counts.set(what, (this.counts.get(what) ?? 0) + 1);
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => void this.#kernel.after(ms, resolve));
  }
}
