import type { Logger } from 'pino';
import {
  type LastKnown,
  LastKnownError,
  type LastKnownPlace,
  readLastKnown,
} from '../evaluation/last-known/last-known-file.ts';

/** Reads the last known flags, to start from them while the source is away. Says in one line why a file is ignored. */
export async function findLastKnown(place: LastKnownPlace, log: Logger): Promise<LastKnown | undefined> {
  const { path } = place;
  try {
    const found = await readLastKnown(place, Date.now());
    if (found !== undefined) {
      const staleSeconds = Math.ceil((Date.now() - found.provenAt) / 1000);
      log.info({ path, seq: found.snapshot.cursor.seq, staleSeconds }, 'starting from the last known flags');
    }
    return found;
  } catch (error) {
    if (!(error instanceof LastKnownError)) throw error;
    log.warn({ path }, `the last known flags are ignored: the file ${error.message}`);
    return undefined;
  }
}
