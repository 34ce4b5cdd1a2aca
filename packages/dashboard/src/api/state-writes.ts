import { type Mutation, type QueryClient, useMutationState } from '@tanstack/react-query';
import { useMemo } from 'react';
import { withState } from './flag-cache.ts';
import { type StatePlace, type ValueTexts, withValueOf } from './flag-states.ts';
import { keptName } from './named-values.ts';
import type { FlagRecord, FlagState, StateRecord } from './types.ts';

/** The status of a write from this tab. */
export type WriteStatus = 'saving' | 'saved' | 'failed';

const STATUSES = { idle: undefined, pending: 'saving', success: 'saved', error: 'failed' } as const;

/** How long a write is remembered after its end, in milliseconds: as long as its status is on the screen. */
const SHOWN_MS = { saved: 2_500, failed: 8_000 } as const;

/** Flags of one environment whose states are written together. */
interface WrittenPlaces extends Omit<StatePlace, 'key'> {
  readonly keys: readonly string[];
}

/** What a write is to leave; `null`: no state. */
interface Wished extends Pick<StateRecord, 'updatedBy'> {
  readonly before: ShownRecord | undefined;
  readonly after: FlagState | null;
  readonly texts?: ValueTexts | undefined;
}

/** What a write left. */
interface Written {
  /** Of the states; absent where they were removed. */
  readonly revision?: number | undefined;
  /** The state, where it was one. */
  readonly record?: StateRecord | undefined;
}

/** A write of this tab that is waiting, under way, or ended a moment ago. The cache of mutations holds it. */
type StateWrite = Mutation<Written, Error, Wished | undefined>;

/** A state on the screen. */
export interface ShownRecord extends StateRecord {
  /** The write that is to leave it: the server has not said it yet. */
  readonly write?: StateWrite;
}

interface WriteParts<Result> {
  readonly run: () => Promise<Result>;
  /** Whether a failure leaves no mark on the screen. */
  readonly isQuiet: (error: unknown) => boolean;
  /** What is shown while it runs; absent: what the server said last. */
  readonly wished?: Wished | undefined;
}

/**
 * Writes states once earlier writes of the same ones have ended: the server knows only then the state that this one begins
 * from. While it lasts, and for a moment after it, {@link useShownState} knows it. Rejects as `run` does.
 */
export async function writeInTurn<Result extends Written>(
  queries: QueryClient,
  { project, environment, keys }: WrittenPlaces,
  { run, isQuiet, wished }: WriteParts<Result>,
): Promise<Result> {
  const cache = queries.getMutationCache();
  const mutationKey = ['write', project, environment, ...keys];
  const write = cache.build<Result, Error, Wished | undefined, unknown>(queries, {
    mutationKey,
    scope: { id: mutationKey.join('\n') },
    mutationFn: run,
    // Without a connection, a request finds out by itself what became of it.
    networkMode: 'always',
    gcTime: Infinity,
  });
  const forget = () => cache.remove(write);

  try {
    const written = await write.execute(wished);
    setTimeout(forget, SHOWN_MS.saved);
    return written;
  } catch (error) {
    if (isQuiet(error)) forget();
    else setTimeout(forget, SHOWN_MS.failed);
    throw error;
  }
}

/** What the server said of a state that is shown: its record, or that of the write that was to leave it, once it has. */
export function saidOf(shown: ShownRecord | undefined): StateRecord | undefined {
  return shown?.write === undefined ? shown : shown.write.state.data?.record;
}

/** What is on the screen of a state: what the server said last, and over it what this tab is writing. */
export function shownState(
  record: StateRecord | undefined,
  write: StateWrite | undefined,
): ShownRecord | undefined {
  const { variables: wished, submittedAt } = write?.state ?? {};
  if (write === undefined || wished === undefined) return record;
  const { before, after, texts, ...who } = wished;
  // The server knows better by now: the write has been made, or another person's.
  if ((record?.revision ?? 0) > (saidOf(before)?.revision ?? 0)) return record;
  if (after === null) return undefined;

  const state = withValueOf(after, record?.state);
  return {
    state,
    // Its own is known once it is written.
    revision: record?.revision ?? 0,
    updatedAt: new Date(submittedAt ?? 0).toISOString(),
    ...who,
    ...keptName(record, state, texts?.before === texts?.after),
    write,
  };
}

/** The state on the screen now, and the status of this tab's last write of it; `undefined` without one. */
export function useShownState(place: StatePlace, record: StateRecord | undefined) {
  const writes = useMutationState({
    filters: { predicate: isWriteOf(place) },
    select: (write) => ({
      write: write as StateWrite,
      status: write.state.status,
      isRunning: isRunning(write),
    }),
  });
  const running = writes.find((each) => each.isRunning)?.write;
  const status: WriteStatus | undefined = STATUSES[writes.at(-1)?.status ?? 'idle'];
  return { status, shown: useMemo(() => shownState(record, running), [record, running]) };
}

/** The flags on the screen, with the states that this tab is writing. */
export function useShownFlags(project: string, flags: readonly FlagRecord[]): readonly FlagRecord[] {
  const writes = useMutationState({
    filters: { mutationKey: ['write', project] },
    // `StateWrite`: its key says so.
    select: (write) => (isRunning(write) ? (write as StateWrite) : undefined),
  });
  return useMemo(() => shownFlags(flags, writes), [flags, writes]);
}

function shownFlags(flags: readonly FlagRecord[], writes: readonly (StateWrite | undefined)[]) {
  return writes.reduce((all, write) => {
    if (write?.state.variables === undefined) return all;
    const [, , environment = '', key] = write.options.mutationKey as string[];
    return all.map((flag) =>
      flag.key === key
        ? withState(flag, environment, shownState(flag.environments[environment], write))
        : flag,
    );
  }, flags);
}

/** Whether this tab wrote the state with this revision, or is writing it: then it is not another person's change. */
export function isOwnWrite(queries: QueryClient, place: StatePlace, revision: number | undefined): boolean {
  // `StateWrite`: the keys of the others are not like these.
  const writes = queries.getMutationCache().findAll({ predicate: isWriteOf(place) }) as StateWrite[];
  return writes.some(
    ({ state: { status, data } }) =>
      status === 'pending' || (status === 'success' && data?.revision === revision),
  );
}

/** Whether its request may be on its way. One that waits for another is not shown: it begins from what that one leaves. */
function isRunning({ state }: Pick<Mutation, 'state'>): boolean {
  return state.status === 'pending' && !state.isPaused;
}

function isWriteOf({ project, environment, key }: StatePlace) {
  return ({ options: { mutationKey = [] } }: Mutation): boolean => {
    const [name, inProject, inEnvironment] = mutationKey;
    const isHere = name === 'write' && inProject === project && inEnvironment === environment;
    return isHere && mutationKey.includes(key, 3);
  };
}
