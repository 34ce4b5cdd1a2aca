import type { LogSource } from '../domain/change-log.ts';
import type { Database } from './database.ts';
import type { DatabaseOpener } from './database-opener.ts';
import { changeIdAt, readLogPage } from './log.ts';
import { loadSnapshot } from './snapshot.ts';

/** The log as a database keeps it: sessions and snapshots for the follower, on either engine. */
export function logSourceOf(database: Database): LogSource {
  return {
    loadSnapshot: () => loadSnapshot(database),
    open: async () => {
      const feed = await database.openFeed();
      return {
        head: () => feed.head(),
        read: (afterSeq) => readLogPage(feed, afterSeq),
        changeIdAt: (seq) => changeIdAt(feed, seq),
        onWake: (listener) => feed.onWake(listener),
        onLost: (listener) => feed.onLost(listener),
        close: () => feed.close(),
      };
    },
  };
}

/** The log of a database that is opened when it is first needed, and again when that failed. */
export function databaseLog(opener: DatabaseOpener): LogSource {
  const source = async () => logSourceOf((await opener.get()).database);
  return {
    open: async () => (await source()).open(),
    loadSnapshot: async () => (await source()).loadSnapshot(),
  };
}
