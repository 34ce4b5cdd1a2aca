import { type Mutation, type QueryClient, useMutationState } from '@tanstack/react-query';
import type { StatePlace } from './flag-states.ts';
import type { StateRecord } from './types.ts';

/** The status of a write from this tab. */
export type WriteStatus = 'saving' | 'saved' | 'failed';

const STATUSES = { idle: undefined, pending: 'saving', success: 'saved', error: 'failed' } as const;

/** How long a write is remembered after its end, in milliseconds: as long as its status is on the screen. */
const SHOWN_MS = { saved: 2_500, failed: 8_000 } as const;

/** Flags of one environment whose states are written together. */
interface WrittenPlaces extends Omit<StatePlace, 'key'> {
  readonly keys: readonly string[];
}

/** A write of this tab that is waiting, under way, or ended a moment ago. The cache of mutations holds it. */
export type StateWrite<Written> = Mutation<Written, Error, void>;

/** A write of one state; its data has the record that it wrote. */
interface RecordWrite {
  readonly state: { readonly data: { readonly record: StateRecord | undefined } | undefined };
}

interface WriteParts<Written> {
  readonly run: (write: StateWrite<Written>) => Promise<Written>;
  /** Whether a failure leaves no mark on the screen. */
  readonly isQuiet: (error: unknown) => boolean;
}

/**
 * Writes states once earlier writes of the same ones have ended: the server knows only then the state that this one begins
 * from. While it lasts, and for a moment after it, {@link useWriteStatus} knows it. Rejects as `run` does.
 */
export async function writeInTurn<Written>(
  queries: QueryClient,
  { project, environment, keys }: WrittenPlaces,
  { run, isQuiet }: WriteParts<Written>,
): Promise<Written> {
  const cache = queries.getMutationCache();
  const mutationKey = ['write', project, environment, ...keys];
  const write: StateWrite<Written> = cache.build(queries, {
    mutationKey,
    scope: { id: mutationKey.join('\n') },
    mutationFn: () => run(write),
    // Without a connection, a request finds out by itself what became of it.
    networkMode: 'always',
    gcTime: Infinity,
  });
  const forget = () => cache.remove(write);

  try {
    const written = await write.execute();
    setTimeout(forget, SHOWN_MS.saved);
    return written;
  } catch (error) {
    if (isQuiet(error)) forget();
    else setTimeout(forget, SHOWN_MS.failed);
    throw error;
  }
}

/** The status of this tab's last write of a state; `undefined` without one. */
export function useWriteStatus(place: StatePlace): WriteStatus | undefined {
  return useMutationState({
    filters: { predicate: isWriteOf(place) },
    select: ({ state }) => STATUSES[state.status],
  }).at(-1);
}

/** Whether this tab is writing the state now. */
export function isWriting(queries: QueryClient, place: StatePlace): boolean {
  const filters = { predicate: isWriteOf(place), status: 'pending' } as const;
  return queries.getMutationCache().find(filters) !== undefined;
}

function isWriteOf({ project, environment, key }: StatePlace) {
  return ({ options: { mutationKey = [] } }: Mutation): boolean => {
    const [name, inProject, inEnvironment] = mutationKey;
    const isHere = name === 'write' && inProject === project && inEnvironment === environment;
    return isHere && mutationKey.includes(key, 3);
  };
}

/**
 * The records of the caches that come from this tab: shown before they are written, with their write, or the server's answer
 * to one. All others come from lists that were read, or from the stream.
 */
const origins = new WeakMap<StateRecord, RecordWrite | 'answer'>();

/** Marks a state as written by this tab, so that it is not shown as another person's change. */
export function markOwnWrite(record: StateRecord): void {
  origins.set(record, 'answer');
}

/** Whether this tab wrote the state, or is writing it. */
export function isOwnWrite(record: StateRecord): boolean {
  return origins.has(record);
}

/** Marks a state that is shown before the server has confirmed it. */
export function markOptimistic(record: StateRecord, write: RecordWrite): void {
  origins.set(record, write);
}

/** Whether the state is shown before the server has confirmed it. */
export function isOptimistic(record: StateRecord | undefined): boolean {
  return writeOf(record) !== undefined;
}

/** The server's record in place of an optimistic one whose write has ended; `undefined` if nothing was written. */
export function confirmedRecord(record: StateRecord): StateRecord | undefined {
  return writeOf(record)?.state.data?.record;
}

function writeOf(record: StateRecord | undefined): RecordWrite | undefined {
  const origin = record && origins.get(record);
  return origin === 'answer' ? undefined : origin;
}
