import type { Logger } from 'pino';
import type { Config } from '../config/config.ts';
import {
  type LastKnown,
  LastKnownError,
  type LastKnownPlace,
  lastKnownPlace,
  readLastKnown,
} from '../evaluation/last-known/last-known-file.ts';
import { LastKnownWriter } from '../evaluation/last-known/last-known-writer.ts';
import type { ReadPlane } from '../evaluation/read-plane.ts';
import type { ShutdownStep } from './shutdown.ts';

/**
 * How long a node that starts may take to become current before it listens all the same, in milliseconds: no reader gets
 * an answer that is older than what the node served before, unless the source does not answer. (Spec: S14.9)
 */
export const CURRENT_WITHIN_MS = 3000;

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

/** Where a node keeps its last known flags; on SQLite nowhere (docs/decisions/0022-last-known-flags.md). */
export function lastKnownOf({
  data,
  databaseUrl,
}: Pick<Config, 'data' | 'databaseUrl'>): LastKnownPlace | undefined {
  // Without credentials: a new password does not make it another database.
  return databaseUrl === undefined
    ? undefined
    : lastKnownPlace(data, databaseUrl.replace(/\/\/[^@/]*@/, '//'));
}

/** Starts to follow from the last known flags, where a node keeps them, and keeps them from then on. */
export async function startFromLastKnown(
  plane: ReadPlane,
  place: LastKnownPlace | undefined,
  log: Logger,
): Promise<ShutdownStep> {
  const writer = place && new LastKnownWriter({ place, plane, log });
  if (writer) plane.observe(writer);
  const found = place && (await findLastKnown(place, log));
  plane.start(found && { ...found, continues: false });
  return { name: 'keep the last known flags', kind: 'brief', run: () => writer?.close() };
}
