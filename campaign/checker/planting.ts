import type { ChangeEvent, Frame, History, Read, StreamSession, Write } from './history.ts';

/**
 * Spoils a correct history. `choice` picks one of the places where it can. Returns `undefined` if the history has no place
 * for it.
 */
export type Plant = (history: History, choice: number) => History | undefined;

/** Changes the frames of a stream that has at least so many; `at` is the index of one of them. */
export function inFrames(
  least: number,
  change: (frames: readonly Frame[], at: number) => readonly Frame[],
): Plant {
  return (history, choice) => {
    const stream = pickFrom(history.streams, choice, (each) => each.frames.length >= least);
    if (stream === undefined) return undefined;
    const frames = change(stream.frames, choice % stream.frames.length);
    // The times stay in order: what is wrong is the content.
    const inTime = frames.map((frame, index) => ({ ...frame, at: stream.frames[index]?.at ?? frame.at }));
    return { ...history, streams: replaced(history.streams, stream, { ...stream, frames: inTime }) };
  };
}

/** As {@link inFrames}, for events. */
export function inEvents(
  least: number,
  change: (events: readonly ChangeEvent[], at: number) => readonly ChangeEvent[],
): Plant {
  return (history, choice) => {
    const stream = pickFrom(history.eventStreams, choice, (each) => each.frames.length >= least);
    if (stream === undefined) return undefined;
    const frames = change(stream.frames, choice % stream.frames.length);
    const eventStreams = replaced(history.eventStreams, stream, { ...stream, frames });
    return { ...history, eventStreams };
  };
}

/** The places of all frames that fit. */
export function framesWhere(
  history: History,
  isPlace: (frame: Frame, stream: StreamSession) => boolean,
): { stream: StreamSession; index: number }[] {
  return history.streams.flatMap((stream) =>
    stream.frames.flatMap((frame, index) => (isPlace(frame, stream) ? [{ stream, index }] : [])),
  );
}

/** Changes the frame at one of the places. */
export function replaceFrame(
  history: History,
  places: readonly { stream: StreamSession; index: number }[],
  choice: number,
  change: (frame: Frame) => Frame,
): History | undefined {
  const place = pickFrom(places, choice);
  if (place === undefined) return undefined;
  const { stream, index } = place;
  const frames = stream.frames.with(index, change(stream.frames[index] ?? missing()));
  return { ...history, streams: replaced(history.streams, stream, { ...stream, frames }) };
}

/** Takes an acknowledged change from the end of an open stream, and lets the recording end later. */
export function withoutLastFrame(longerMs: number): Plant {
  return (history, choice) => {
    const stream = pickFrom(
      history.streams,
      choice,
      (each) => each.ended === undefined && endsWithAcknowledged(history, each),
    );
    if (stream === undefined) return undefined;
    const silent = { ...stream, frames: stream.frames.slice(0, -1) };
    return {
      ...history,
      streams: replaced(history.streams, stream, silent),
      endedAt: history.endedAt + longerMs,
    };
  };
}

function endsWithAcknowledged(history: History, stream: StreamSession): boolean {
  const last = stream.frames.at(-1);
  if (last === undefined || stream.frames.length < 2) return false;
  const id = counterIn(last.content);
  return history.writes.some((write) => write.id === id && write.outcome === 'acknowledged');
}

/** Adds a read that lacks an acknowledged change although it was asked for `afterMs` later. */
export function lateRead({
  afterMs,
  ...said
}: Pick<Read, 'freshness' | 'ageSeconds'> & { readonly afterMs: number }): Plant {
  return (history, choice) => {
    const write = pickFrom(history.writes, choice, (each) => each.outcome === 'acknowledged');
    if (write?.revision === undefined) return undefined;
    const requestedAt = write.finishedAt + afterMs;
    const read: Read = {
      kind: 'bulk',
      node: write.node,
      environment: write.environment,
      key: 'reader',
      status: 200,
      requestedAt,
      answeredAt: requestedAt + 1,
      revision: write.revision - 1,
      ...said,
    };
    return { ...history, reads: [...history.reads, read] };
  };
}

/** Ends the key of a stream before the stream's last change. */
export function endKey(cause: 'revoked' | 'expired', at: (write: Write) => number): Plant {
  return (history, choice) => {
    const stream = pickFrom(history.streams, choice, (each) => endsWithAcknowledged(history, each));
    const id = counterIn(stream?.frames.at(-1)?.content ?? '{}');
    const write = history.writes.find((each) => each.id === id);
    if (stream === undefined || write === undefined) return undefined;
    const endedAt = at(write);
    return { ...history, endedKeys: [{ key: stream.key, cause, mayEndAt: endedAt, endedAt }] };
  };
}

/** The newest write of each environment, if it was acknowledged. */
export function newestAcknowledged(history: History): readonly Write[] {
  return history.finals.flatMap((final) => {
    const id = counterIn(final.content);
    return history.writes.filter((write) => write.id === id && write.outcome === 'acknowledged');
  });
}

/** The history of a fleet that forgot a write: no reader saw it, although it was acknowledged. */
export function withoutTraceOf(history: History, write: Write): History | undefined {
  const isTrace = (content: string): boolean => counterIn(content) === write.id;
  const before = contentBefore(history, write);
  if (before === undefined) return undefined;
  return {
    ...history,
    streams: history.streams
      .filter((stream) => !isTrace(stream.frames[0]?.content ?? '{}'))
      .map((stream) => ({ ...stream, frames: stream.frames.filter((frame) => !isTrace(frame.content)) })),
    reads: history.reads.filter((read) => !isTrace(read.content ?? '{}')),
    finals: history.finals.map((final) => (isTrace(final.content) ? { ...final, ...before } : final)),
  };
}

function contentBefore(history: History, write: Write): { revision: number; content: string } | undefined {
  const revision = (write.revision ?? 0) - 1;
  const base = history.environments.get(write.environment);
  if (base?.revision === revision) return base;
  for (const stream of history.streams) {
    const frame = stream.frames[revision - stream.revision];
    if (stream.environment === write.environment && frame !== undefined)
      return { revision, content: frame.content };
  }
  return undefined;
}

/** The id of the write that a map ends with. */
export function counterIn(content: string): number | undefined {
  const flags: unknown = JSON.parse(content);
  // The tests' own maps: the counter is always there and an integer.
  return (flags as { counter?: { value: number } }).counter?.value;
}

/** The list with another element in the place of `old`. */
export function replaced<T>(list: readonly T[], old: T, next: NoInfer<T>): readonly T[] {
  return list.map((each) => (each === old ? next : each));
}

/** The element of a list that `choice` picks among those that fit. */
export function pickFrom<T>(
  list: readonly T[],
  choice: number,
  fits: (each: T) => boolean = () => true,
): T | undefined {
  const fitting = list.filter(fits);
  return fitting[choice % fitting.length];
}

/** Stands for what a well-chosen place always has. */
export function missing(): never {
  throw new Error('the place for the fault is not there');
}
