import { onTestFinished } from 'bun:test';
import { within } from '@halyard/testing';
import type { Cursor, LogRow, LogSession, LogSource } from '../../domain/change-log.ts';
import { type Environment, type Flag, PLAIN_APPEARANCE, PLAIN_DETAILS } from '../../domain/project.ts';
import { UNLIMITED } from '../../domain/rights.ts';
import { insertEnvironment } from '../../nouns/environments/environment-table.ts';
import { storeFlag } from '../../nouns/flags/flag-table.ts';
import { insertProject } from '../../nouns/projects/project-table.ts';
import { changeStates } from '../../nouns/states/change-states.ts';
import { logSourceOf } from '../../storage/change-log.ts';
import type { Database } from '../../storage/database.ts';
import { openSqlite } from '../../storage/engines/sqlite.ts';
import { migrate } from '../../storage/schema.ts';
import { SqlStore } from '../../storage/store.ts';
import { Catalog } from '../catalog/catalog.ts';
import { Follower, type FollowerOptions } from './follower.ts';

/** The author of changes. */
export const ACTOR = { name: 'system', permissions: UNLIMITED };
const PLACE = { id: 'e', projectId: 'p', name: 'production', revision: 0, createdAt: 1 };

/** The only environment. */
export const ENVIRONMENT: Environment = { ...PLACE, ...PLAIN_APPEARANCE };

/** The only flag. */
export const COUNTER: Flag = { ...PLAIN_DETAILS, projectId: 'p', key: 'counter', createdAt: 1 };

/** A log source whose sessions can be tampered with; everything else is the real thing. */
class FaultySource implements LogSource {
  readonly #source: LogSource;
  #lost: (cause: Error) => void = () => undefined;
  /** Applied to every batch of rows that is read. */
  tamper: (rows: readonly LogRow[]) => readonly LogRow[] = (rows) => rows;
  isSilent = false;
  /** Whether wake-ups come with the rows that were committed. */
  handsOver = false;
  reads = 0;
  /** Runs once between the answer of the next heartbeat and its arrival. */
  beforeHead: (() => Promise<unknown>) | undefined;
  refuses = false;
  snapshots = 0;
  /** Runs once before a session is opened, and before a snapshot is loaded. */
  beforeOpening: (() => Promise<unknown>) | undefined;
  beforeLoading: (() => Promise<unknown>) | undefined;
  /** The newest session. */
  session: LogSession | undefined;
  /** Whether sessions are lost at their first question, before or after its answer, and how many were. */
  isDying: false | 'unanswered' | 'answered' = false;
  deaths = 0;
  /** Whether the next snapshot is of a server whose log has a different last row. */
  isNextForeign = false;
  /** Whether the log is read from a copy, such as a standby. */
  isCopy = false;

  constructor(database: Database) {
    this.#source = logSourceOf(database);
  }

  async open(): Promise<LogSession> {
    if (this.refuses) throw new Error('refused');
    const work = this.beforeOpening;
    this.beforeOpening = undefined;
    await work?.();
    const session = await this.#source.open();
    this.session = session;
    let isDead = false;
    return {
      snapshot: () => this.#snapshot(session),
      head: (seq) => {
        if (this.isCopy) return session.head(seq).then((head) => ({ ...head, isCopy: true }));
        if (!this.isDying) return this.#head(session, seq);
        if (!isDead) this.deaths++;
        isDead = true;
        this.lose();
        return this.isDying === 'answered' ? session.head(seq) : Promise.reject(new Error('lost'));
      },
      read: async (after) => {
        this.reads++;
        const page = await session.read(after);
        return { ...page, rows: this.tamper(page.rows) };
      },
      onWake: (callback) =>
        session.onWake((committed) => this.isSilent || callback(this.handsOver ? committed : undefined)),
      onLost: (callback) => {
        this.#lost = callback;
      },
      close: () => session.close(),
    };
  }

  async #head(session: LogSession, seq?: number) {
    const head = await session.head(seq);
    const work = this.beforeHead;
    this.beforeHead = undefined;
    await work?.();
    return head;
  }

  async #snapshot(session: LogSession) {
    this.snapshots++;
    const work = this.beforeLoading;
    this.beforeLoading = undefined;
    await work?.();
    const snapshot = await session.snapshot();
    if (!this.isNextForeign) return snapshot;
    this.isNextForeign = false;
    return { ...snapshot, cursor: { ...snapshot.cursor, changeId: 'another' } };
  }

  async beginEpochAfter(lost: Cursor): Promise<void> {
    await this.#source.beginEpochAfter?.(lost);
  }

  /** Ends the session as a failure would. */
  lose(): void {
    this.#lost(new Error('lost'));
  }
}

/** A follower that is live, over a project with the flag "counter", and what it reports; closed when the test ends. */
export async function setUp(options: Pick<FollowerOptions, 'patienceMs'> = {}) {
  const database = await openSqlite({ path: ':memory:' });
  await migrate(database);
  const store = new SqlStore(database);
  await store.commit(ACTOR, async (transaction) => {
    await insertProject(transaction, { id: 'p', name: 'demo', createdAt: 1 });
    await insertEnvironment(transaction, ENVIRONMENT);
    await storeFlag(transaction, COUNTER);
  });

  const source = new FaultySource(database);
  const heard: string[] = [];
  const events = new EventTarget();
  const hear = (event: string) => {
    heard.push(event);
    events.dispatchEvent(new Event(event));
  };

  const catalog = new Catalog({
    changed: (environment, row) => hear(`revision ${row.revision}: ${environment.select(['counter'])}`),
    environmentGone: () => undefined,
    keyGone: () => undefined,
    malformed: () => undefined,
  });

  const room: { wait?: () => Promise<void> } = {};
  const callbacks = {
    live: () => hear('live'),
    lost: () => hear('lost'),
    room: () => room.wait?.(),
    stillLost: () => hear('still lost'),
  };
  const timings = { heartbeatMs: 50, pollMs: 20, random: () => 0, ...options };

  const follower = new Follower({ source, catalog, callbacks, ...timings });
  const running = follower.run();
  onTestFinished(async () => {
    follower.close();
    await running;
    await database.close();
  });

  /** Waits until the event has happened `times` times in all. */
  const until = async (event: string, times = 1) => {
    while (heard.filter((known) => known === event).length < times) {
      const next = new Promise<void>((resolve) =>
        events.addEventListener(event, () => resolve(), { once: true }),
      );
      await within(`"${event}" is heard ${times} times in all; so far: ${heard.join(', ')}`, next);
    }
  };

  /** Sets the counter to `n`; returns the log row. */
  const write = async (n: number) => {
    const operation = [['counter', `{"enabled":true,"value":${n}}`]] as const;
    const { seq } = await store.commit(ACTOR, (transaction) =>
      changeStates(transaction, ENVIRONMENT, operation),
    );
    return seq ?? 0;
  };

  await until('live');
  return { database, store, source, follower, running, heard, until, write, room };
}

/** What is reported when the counter has been set to `n`. */
export function seen(n: number): string {
  return `revision ${n}: {"environment":"production","flags":{"counter":{"enabled":true,"value":${n}}}}`;
}
