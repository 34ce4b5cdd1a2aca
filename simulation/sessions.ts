import type {
  CommittedRows,
  Cursor,
  LogHead,
  LogSession,
  LogSource,
} from '../packages/server/src/domain/change-log.ts';
import { StoreOutage } from '../packages/server/src/domain/errors.ts';
import { StandbyProof } from '../packages/server/src/storage/engines/standby-proof.ts';
import type { Database } from './database.ts';
import type { Kernel, Owner } from './kernel.ts';
import type { Link } from './link.ts';
import type { Standby } from './standby.ts';

/** Marks the change ids that followers get: what stands for the seal that only nodes can make. */
const SEAL = '.sealed';

/** How long the engine waits for an answer before its session counts as lost. */
const ANSWER_MS = 2_000;

/** How long until a standby is asked again that has not proven anything yet. */
const PROOF_PAUSE_MS = 50;

/** A change id as the database has it. */
export function unsealed(changeId: string): string {
  return changeId.endsWith(SEAL) ? changeId.slice(0, -SEAL.length) : changeId;
}

/** The row of a sealed cursor; `undefined` without a seal. */
function opened(cursor: Cursor): Cursor | undefined {
  const changeId = unsealed(cursor.changeId);
  return changeId === cursor.changeId ? undefined : { ...cursor, changeId };
}

/** What a node asks of the database. */
export interface DatabaseParts {
  readonly kernel: Kernel;
  readonly database: Database;
  /** The process of the server. */
  readonly server: Owner;
  /** The way from the node to it. */
  readonly link: Link;
}

/** Asks a server. `onLost` hears that the answer did not come, or that the connection is gone. */
type Ask = <T>(answer: () => T, onLost?: (cause: Error) => void) => Promise<T>;

/** The log of a database as a node gets it over a link, with the time limits of the PostgreSQL engine. */
export function sourceOver(parts: DatabaseParts): LogSource {
  const ask = askOver(parts);
  return {
    open: async () => {
      await ask(() => undefined);
      return openSession(parts, ask);
    },
    ...historyOver(parts, ask),
  };
}

/** The log as a standby shows it, and the history that its primary has. */
export function standbySourceOver(parts: DatabaseParts, standby: Standby, link: Link): LogSource {
  const { kernel } = parts;
  const ask = askOver({ kernel, server: standby.owner, link });
  return {
    open: async () => {
      await ask(() => undefined);
      return openStandbySession(kernel, standby, ask, parts.database);
    },
    ...historyOver(parts, askOver(parts)),
  };
}

function historyOver(
  { database }: DatabaseParts,
  ask: Ask,
): Required<Pick<LogSource, 'history' | 'beginEpochAfter'>> {
  return {
    beginEpochAfter: async (lost) => void (await ask(() => database.beginEpochAfter(lost))),
    history: {
      seal: ({ changeId }) => (changeId === '' ? '' : changeId + SEAL),
      hasLost: async (cursor) => {
        const row = opened(cursor);
        if (row === undefined) return false;
        return ask(() => database.beginEpochAfter(row) || database.copy.epoch !== row.epoch);
      },
      isOver: ({ epoch }) => ask(() => database.isOver(epoch)),
    },
  };
}

/** Asks a server over a link, and loses patience after a while. */
export function askOver({
  kernel,
  server,
  link,
  database,
}: Pick<DatabaseParts, 'kernel' | 'server' | 'link'> & Partial<Pick<DatabaseParts, 'database'>>): Ask {
  return (answer, onLost) => {
    const client = kernel.owner;
    const { promise, resolve, reject } = Promise.withResolvers<ReturnType<typeof answer>>();
    const fail = (cause: Error): void => {
      cancel();
      forget();
      onLost?.(cause);
      reject(cause);
    };
    const cancel = kernel.after(ANSWER_MS, () =>
      fail(new StoreOutage('the database did not answer in time')),
    );
    const forget = link.onReset(() => {
      forget();
      kernel.after(0, () => fail(new StoreOutage('the connection was reset')), client);
    });

    const back = link.lane();
    link.lane()(server, () => {
      const isUp = database?.isUp ?? true;
      const value = isUp ? answer() : undefined;
      back(client, () => {
        cancel();
        forget();
        // An answer, where there is a server that gives one.
        if (isUp) resolve(value as ReturnType<typeof answer>);
        else reject(new StoreOutage('the database cannot be reached'));
      });
    });
    return promise;
  };
}

function openSession({ kernel, database, link }: DatabaseParts, ask: Ask): LogSession {
  const client = kernel.owner;
  const down = link.lane();
  let isOpen = true;
  let onLost: (cause: Error) => void = () => {};
  let onWake: (committed?: CommittedRows) => void = () => {};

  const lose = (cause: Error): void => {
    if (!isOpen) return;
    close();
    onLost(cause);
  };
  const listener = {
    owner: client,
    wake: () => down(client, () => isOpen && onWake()),
    handOver: (committed: CommittedRows) => {
      if (isOpen) onWake(committed);
    },
    lose: (cause: Error) => down(client, () => lose(cause)),
  };

  const forget = link.onReset(() => {
    kernel.after(0, () => lose(new StoreOutage('the connection was reset')), client);
  });
  const close = (): void => {
    isOpen = false;
    forget();
    database.listeners.delete(listener);
  };

  database.listeners.add(listener);
  return {
    snapshot: () => ask(() => database.copy.snapshot()),
    head: (seq) => ask(() => ({ ...database.copy.head(seq), pushed: true }), lose),
    read: (afterSeq) => ask(() => database.copy.read(afterSeq, database.pageRows), lose),
    onWake: (callback) => {
      onWake = callback;
    },
    onLost: (callback) => {
      onLost = callback;
    },
    close,
  };
}

/** Nothing wakes it: a standby takes no subscription. */
function openStandbySession(kernel: Kernel, standby: Standby, ask: Ask, database: Database): LogSession {
  const proof = new StandbyProof();
  let isOpen = true;
  let onLost: (cause: Error) => void = () => {};
  const lose = (cause: Error): void => {
    if (isOpen) onLost(cause);
    isOpen = false;
  };

  const head = async (seq?: number): Promise<LogHead> => {
    for (;;) {
      const askedAt = kernel.monotonicMs();
      const answer = await ask(() => ({ end: standby.copy.head(seq), state: standby.state() }), lose);
      let provenAt: number | undefined;
      try {
        provenAt = proof.take(answer.state, askedAt);
      } catch (error) {
        // It throws only these.
        lose(error as StoreOutage);
        throw error;
      }
      if (provenAt !== undefined) return { ...answer.end, pushed: false, isCopy: true, provenAt };
      await new Promise<void>((resolve) => void kernel.after(PROOF_PAUSE_MS, resolve));
    }
  };

  return {
    head,
    snapshot: () => ask(() => standby.copy.snapshot()),
    read: (afterSeq) => ask(() => standby.copy.read(afterSeq, database.pageRows), lose),
    onWake: () => {},
    onLost: (callback) => {
      onLost = callback;
    },
    close: () => {
      isOpen = false;
    },
  };
}
