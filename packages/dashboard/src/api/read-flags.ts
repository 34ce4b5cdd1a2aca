import { mergeChange } from './flag-merge.ts';
import type { LiveConnection } from './live-connection.ts';
import type { LiveChange } from './live-events.ts';
import { api, request } from './request.ts';
import type { FlagRecord } from './types.ts';

/** How long a list waits for the event stream, which would otherwise miss what happens between the two. */
const STREAM_WAIT_MS = 1_500;

/** As often it is read when each time something happens meanwhile that an event does not tell in full. */
const MOST_READS = 3;

/** What flags are read with. */
export interface FlagReader {
  readonly project: string;
  readonly live: LiveConnection | undefined;
  readonly signal?: AbortSignal;
}

/** Reads every flag of a project that is not archived, after the stream has opened. */
export function readFlags(reader: FlagReader): Promise<readonly FlagRecord[]> {
  return readBesideStream(reader, {
    read: async () => {
      const path = api`projects/${reader.project}/flags`;
      const { signal } = reader;
      return (await request<{ flags: readonly FlagRecord[] }>('GET', path, { signal })).flags;
    },
    concerns: (change) => change,
  });
}

/** Reads one flag, after the stream has opened. Rejects with `flag_not_found`. */
export async function readFlag(key: string, reader: FlagReader): Promise<FlagRecord> {
  const { project, signal } = reader;
  const [flag] = await readBesideStream(reader, {
    read: async () => [await request<FlagRecord>('GET', api`projects/${project}/flags/${key}`, { signal })],
    concerns: ({ changes, ...rest }) => ({
      ...rest,
      ...(changes === undefined ? {} : { changes: changes.filter((each) => each.key === key) }),
    }),
  });
  if (flag === undefined) throw new Error('one flag was read, and one is given');
  return flag;
}

interface Reading {
  readonly read: () => Promise<readonly FlagRecord[]>;
  /** What of a change is about the flags that are read. */
  readonly concerns: (change: LiveChange) => LiveChange;
}

/** Changes that are committed while the answer is on its way are applied to it; where that cannot be, it is read again. */
async function readBesideStream(
  { project, live }: FlagReader,
  { read, concerns }: Reading,
): Promise<readonly FlagRecord[]> {
  await live?.opened(STREAM_WAIT_MS);
  for (let reads = 1; ; reads++) {
    const meanwhile: LiveChange[] = [];
    const stop = live?.on('change', (change) => {
      if (change.project === project) meanwhile.push(concerns(change));
    });
    try {
      let flags = await read();
      let isWhole = true;
      for (const change of meanwhile) {
        const merged = mergeChange(flags, change);
        flags = merged.flags;
        isWhole &&= merged.unknown.length === 0 && isToldInFull(change);
      }
      if (isWhole || reads === MOST_READS) return flags;
    } finally {
      stop?.();
    }
  }
}

/** Whether a change says all that it does to flags. A state that goes away may be a flag that was archived. */
function isToldInFull({ kind, changes, actions = [] }: LiveChange): boolean {
  if (kind === 'flags.changed') return changes?.every(({ state }) => state !== null) ?? false;
  return !kind.startsWith('environment.') && !actions.some((action) => action.startsWith('flag.'));
}
