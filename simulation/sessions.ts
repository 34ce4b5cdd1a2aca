import type { CommittedRows, LogSession, LogSource } from '../packages/server/src/domain/change-log.ts';
import { StoreOutage } from '../packages/server/src/domain/errors.ts';
import type { Database } from './database.ts';
import type { Kernel, Owner } from './kernel.ts';
import type { Link } from './link.ts';

/** Marks the change ids that followers get: what stands for the seal that only nodes can make. */
const SEAL = '.sealed';

/** How long the engine waits for an answer before its session counts as lost. */
const ANSWER_MS = 2_000;

/** A change id as the database has it. */
export function unsealed(changeId: string): string {
  return changeId.endsWith(SEAL) ? changeId.slice(0, -SEAL.length) : changeId;
}

/** The log of a database as a node gets it over a link, with the time limits of the PostgreSQL engine. */
export function sourceOver(kernel: Kernel, database: Database, link: Link, server: Owner): LogSource {
  /** Asks the server, and loses patience after a while. */
  const ask = <T>(answer: () => T, onLate?: (cause: Error) => void, onReset = onLate): Promise<T> => {
    const client = kernel.owner;
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    const [there, back] = [link.lane(), link.lane()];
    const cancel = kernel.after(ANSWER_MS, () => {
      forget();
      const cause = new StoreOutage('the database did not answer in time');
      onLate?.(cause);
      reject(cause);
    });
    const forget = link.onReset(() => {
      kernel.after(
        0,
        () => {
          cancel();
          const cause = new StoreOutage('the connection was reset');
          onReset?.(cause);
          reject(cause);
        },
        client,
      );
      forget();
    });
    there(server, () => {
      const isUp = database.isUp;
      const value = isUp ? answer() : undefined;
      back(client, () => {
        cancel();
        forget();
        if (isUp) resolve(value as T);
        else reject(new StoreOutage('the database cannot be reached'));
      });
    });
    return promise;
  };

  return {
    open: async () => {
      await ask(() => undefined);
      return openSession(kernel, database, link, ask);
    },
    beginEpochAfter: async (lost) => void (await ask(() => database.beginEpochAfter(lost))),
    history: {
      seal: ({ changeId }) => (changeId === '' ? '' : changeId + SEAL),
      hasLost: (lost) => {
        const changeId = unsealed(lost.changeId);
        if (changeId === lost.changeId || changeId === '') return Promise.resolve(false);
        return ask(
          () => database.beginEpochAfter({ ...lost, changeId }) || database.end.epoch !== lost.epoch,
        );
      },
      holds: (cursor) => {
        const changeId = unsealed(cursor.changeId);
        if (changeId === cursor.changeId) return Promise.resolve(false);
        return ask(() => database.holds({ ...cursor, changeId }));
      },
    },
  };
}

function openSession(
  kernel: Kernel,
  database: Database,
  link: Link,
  ask: <T>(answer: () => T, onLate?: (cause: Error) => void) => Promise<T>,
): LogSession {
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
    snapshot: () => ask(() => database.snapshot()),
    head: (seq) => ask(() => database.head(seq), lose),
    read: (afterSeq) => ask(() => database.read(afterSeq), lose),
    onWake: (callback) => {
      onWake = callback;
    },
    onLost: (callback) => {
      onLost = callback;
    },
    close,
  };
}
