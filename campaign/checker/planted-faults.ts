import type { ChangeEvent, Frame, History, StreamSession, Write } from './history.ts';
import type { ViolationKind } from './violation.ts';

/** A way to spoil a correct history. Returns `undefined` if the history has no place for it. */
export interface PlantedFault {
  /** The fault of the server that it imitates. */
  readonly name: string;
  /** At least one of these must be reported. */
  readonly caughtAs: readonly ViolationKind[];
  /** `choice` picks one of the places where it can be planted. */
  readonly plant: (history: History, choice: number) => History | undefined;
}

/** Every kind of fault the checker must catch. */
export const PLANTED_FAULTS: readonly PlantedFault[] = [
  {
    name: 'a frame is skipped',
    caughtAs: ['skip', 'wrong-revision'],
    plant: inFrames(2, (frames, at) => frames.toSpliced(Math.min(at, frames.length - 2), 1)),
  },
  {
    name: 'a frame is sent twice',
    caughtAs: ['repeat'],
    plant: inFrames(1, (frames, at) => frames.toSpliced(at, 0, frames[at] ?? missing())),
  },
  {
    name: 'two frames are swapped',
    caughtAs: ['skip', 'wrong-revision'],
    plant: inFrames(2, (frames, at) => {
      const first = Math.min(at, frames.length - 2);
      return frames.toSpliced(first, 2, frames[first + 1] ?? missing(), frames[first] ?? missing());
    }),
  },
  {
    name: 'an event is skipped',
    caughtAs: ['skip'],
    plant: inEvents(3, (events, at) => events.toSpliced(Math.max(1, Math.min(at, events.length - 2)), 1)),
  },
  {
    name: 'an event is sent twice',
    caughtAs: ['repeat'],
    plant: inEvents(1, (events, at) => events.toSpliced(at, 0, events[at] ?? missing())),
  },
  {
    name: 'an event does not ask its reader to read',
    caughtAs: ['skip'],
    plant: inEvents(2, (events, at) => {
      const later = Math.max(1, at);
      return events.with(later, { ...(events[later] ?? missing()), asksToRead: false });
    }),
  },
  {
    name: 'a reader that missed a change is not asked to read',
    caughtAs: ['skip'],
    plant: (history, choice) => {
      const stream = pickFrom(
        history.eventStreams.filter(({ frames: [first] }) => first?.asksToRead === true),
        choice,
      );
      if (stream === undefined) return undefined;
      const frames = stream.frames.with(0, { ...(stream.frames[0] ?? missing()), asksToRead: false });
      const eventStreams = history.eventStreams.map((each) => (each === stream ? { ...each, frames } : each));
      return { ...history, eventStreams };
    },
  },
  {
    name: 'a read for an event is answered from before it',
    caughtAs: ['behind-event'],
    plant: (history, choice) => {
      const read = pickFrom(
        history.reads.filter(({ after }) => after !== undefined),
        choice,
      );
      if (read?.revision === undefined) return undefined;
      const late = { ...read, after: read.revision + 1 };
      return { ...history, reads: history.reads.map((each) => (each === read ? late : each)) };
    },
  },
  {
    name: 'an older frame follows a newer one',
    caughtAs: ['went-back', 'repeat'],
    plant: inFrames(3, (frames, at) => [...frames, frames[at % (frames.length - 1)] ?? missing()]),
  },
  {
    name: 'a frame mixes two revisions',
    caughtAs: ['mix'],
    plant: (history, choice) => {
      const places = framesWhere(history, (frame) => frame.content.includes('"left":{"enabled":true'));
      return replaceFrame(history, places, choice, (frame) => ({
        ...frame,
        content: frame.content.replace(/"left":\{"enabled":true/, '"left":{"enabled":false'),
      }));
    },
  },
  {
    name: 'a frame holds a flag that was removed',
    caughtAs: ['mix'],
    plant: (history, choice) =>
      replaceFrame(
        history,
        framesWhere(history, () => true),
        choice,
        (frame) => ({
          ...frame,
          content: `${frame.content.slice(0, -1)},"gone":{"enabled":true}}`,
        }),
      ),
  },
  {
    name: 'a frame of another environment is sent',
    caughtAs: ['foreign'],
    plant: (history, choice) => {
      const foreign = history.finals.at(choice % history.finals.length) ?? missing();
      const places = framesWhere(history, (_, stream) => stream.environment !== foreign.environment);
      return replaceFrame(history, places, choice, (frame) => ({ ...frame, content: foreign.content }));
    },
  },
  {
    name: 'a node sends on after it lost the log',
    caughtAs: ['sent-after-loss'],
    plant: (history, choice) => {
      const stream = pickFrom(
        history.streams.filter((each) => each.frames.length > 1),
        choice,
      );
      if (stream === undefined) return undefined;
      const at = stream.openedAt + 1;
      const frames = stream.frames.map((frame, index) =>
        index === 0 ? frame : { ...frame, at: frame.at + 2_000 },
      );
      const { ended, ...open } = stream;
      const later = ended === undefined ? {} : { ended: { ...ended, at: ended.at + 2_000 } };
      return {
        ...replaceStream(history, stream, { ...open, ...later, frames }),
        losses: [{ node: stream.node, at }],
      };
    },
  },
  {
    name: 'the newest acknowledged write is lost',
    caughtAs: ['lost-write'],
    plant: (history, choice) => {
      const write = pickFrom(newestAcknowledged(history), choice);
      return write === undefined ? undefined : withoutTraceOf(history, write);
    },
  },
  {
    name: 'a conditional write overwrites what its writer had not seen',
    caughtAs: ['lost-update'],
    plant: (history, choice) => {
      const write = pickFrom(
        history.writes.filter((each) => each.outcome === 'acknowledged'),
        choice,
      );
      if (write?.revision === undefined) return undefined;
      const late = { ...write, expected: write.revision - 2 };
      return { ...history, writes: history.writes.map((each) => (each === write ? late : each)) };
    },
  },
  {
    name: 'a revision is given to two writes',
    caughtAs: ['double-revision'],
    plant: (history, choice) => {
      const write = pickFrom(
        history.writes.filter((each) => each.outcome === 'acknowledged'),
        choice,
      );
      return write && { ...history, writes: [...history.writes, { ...write, id: 999_999 }] };
    },
  },
  {
    name: 'a refused write shows',
    caughtAs: ['phantom'],
    plant: (history, choice) => {
      const seen = new Set(history.streams.flatMap((each) => each.frames.map((frame) => frame.content)));
      const write = pickFrom(
        history.writes.filter((each) => [...seen].some((text) => counterIn(text) === each.id)),
        choice,
      );
      if (write === undefined) return undefined;
      const { revision: _, ...rest } = write;
      return {
        ...history,
        writes: history.writes.map((each) => (each === write ? { ...rest, outcome: 'refused' } : each)),
      };
    },
  },
  {
    name: 'a reader never gets the newest state',
    caughtAs: ['not-converged'],
    plant: withoutLastFrame(0),
  },
  {
    name: 'a stream stays open and silent',
    caughtAs: ['stuck'],
    plant: withoutLastFrame(60_000),
  },
  {
    name: 'a node ends with an older map than it shows elsewhere',
    caughtAs: ['not-converged', 'lost-write'],
    plant: (history, choice) => {
      const final = pickFrom(
        history.finals.filter(
          (each) => each.revision > (history.environments.get(each.environment)?.revision ?? 0),
        ),
        choice,
      );
      if (final === undefined) return undefined;
      const old = history.environments.get(final.environment) ?? missing();
      return {
        ...history,
        finals: history.finals.map((each) => (each === final ? { ...final, ...old } : each)),
      };
    },
  },
  {
    name: 'a node goes back in time',
    caughtAs: ['went-back'],
    plant: (history, choice) => {
      const final = pickFrom(
        history.writes.filter((each) => each.outcome === 'acknowledged'),
        choice,
      );
      if (final === undefined) return undefined;
      const base = history.environments.get(final.environment) ?? missing();
      return {
        ...history,
        reads: [
          ...history.reads,
          {
            ...{ kind: 'read', node: final.node, environment: final.environment, key: 'reader', ...base },
            ...{ requestedAt: final.finishedAt + 1, answeredAt: final.finishedAt + 2 },
            ...{ status: 200, freshness: 'stale' },
          },
        ],
      };
    },
  },
  {
    name: 'a revoked key receives a later change',
    caughtAs: ['served-after-end'],
    plant: endKey('revoked', (write) => write.startedAt - 1),
  },
  {
    name: 'an expired key receives a later change',
    caughtAs: ['served-after-end'],
    plant: endKey('expired', (write) => write.startedAt - 2_000),
  },
  {
    name: 'a stream stays open after its key was revoked',
    caughtAs: ['not-closed'],
    plant: (history, choice) => {
      const stream = pickFrom(
        history.streams.filter((each) => each.ended === undefined),
        choice,
      );
      if (stream === undefined) return undefined;
      const at = history.endedAt;
      return {
        ...history,
        endedAt: at + 20_000,
        endedKeys: [{ key: stream.key, cause: 'revoked', mayEndAt: at, endedAt: at }],
      };
    },
  },
  {
    name: 'a valid key is refused while the database is away',
    caughtAs: ['wrong-refusal'],
    plant: (history, choice) => {
      const read = pickFrom(history.reads, choice);
      if (read === undefined) return undefined;
      const { revision: _, content: __, ...rest } = read;
      return {
        ...history,
        reads: [...history.reads, { ...rest, status: choice % 2 === 0 ? 401 : 404 }],
      };
    },
  },
  {
    name: 'the audit log lacks a change',
    caughtAs: ['wrong-audit'],
    plant: (history, choice) => {
      const gone = pickFrom(history.audit ?? [], choice);
      return gone && { ...history, audit: history.audit?.filter(({ id }) => id !== gone.id) ?? [] };
    },
  },
  {
    name: 'the audit log tells another order',
    caughtAs: ['wrong-audit'],
    plant: (history, choice) => {
      const place = pickFrom(history.writes, choice)?.environment;
      const [first, second] = history.writes.filter(
        (write) => write.environment === place && write.outcome === 'acknowledged',
      );
      if (first === undefined || second === undefined) return undefined;
      const swapped = new Map([
        [first.id, second.id],
        [second.id, first.id],
      ]);
      const audit = (history.audit ?? []).map((entry) => ({
        ...entry,
        id: swapped.get(entry.id) ?? entry.id,
      }));
      return { ...history, audit };
    },
  },
  {
    name: 'a node crashes',
    caughtAs: ['crashed'],
    plant: (history) => ({
      ...history,
      crashes: [{ node: 'node-1', at: history.endedAt, story: 'Exit code 1.' }],
    }),
  },
  {
    name: 'the revision header is off by one',
    caughtAs: ['wrong-revision'],
    plant: (history, choice) => {
      const read = pickFrom(
        history.reads.filter(({ content }) => content !== undefined),
        choice,
      );
      if (read?.revision === undefined) return undefined;
      const wrong = { ...read, revision: read.revision + 1 };
      return { ...history, reads: history.reads.map((each) => (each === read ? wrong : each)) };
    },
  },
];

function inFrames(
  least: number,
  change: (frames: readonly Frame[], at: number) => readonly Frame[],
): PlantedFault['plant'] {
  return (history, choice) => {
    const stream = pickFrom(
      history.streams.filter((each) => each.frames.length >= least),
      choice,
    );
    if (stream === undefined) return undefined;
    const frames = change(stream.frames, choice % stream.frames.length);
    // The times stay in order: what is wrong is the content.
    const inTime = frames.map((frame, index) => ({ ...frame, at: stream.frames[index]?.at ?? frame.at }));
    return replaceStream(history, stream, { ...stream, frames: inTime });
  };
}

function inEvents(
  least: number,
  change: (events: readonly ChangeEvent[], at: number) => readonly ChangeEvent[],
): PlantedFault['plant'] {
  return (history, choice) => {
    const stream = pickFrom(
      history.eventStreams.filter((each) => each.frames.length >= least),
      choice,
    );
    if (stream === undefined) return undefined;
    const frames = change(stream.frames, choice % stream.frames.length);
    const eventStreams = history.eventStreams.map((each) => (each === stream ? { ...each, frames } : each));
    return { ...history, eventStreams };
  };
}

function framesWhere(
  history: History,
  isPlace: (frame: Frame, stream: StreamSession) => boolean,
): { stream: StreamSession; index: number }[] {
  return history.streams.flatMap((stream) =>
    stream.frames.flatMap((frame, index) => (isPlace(frame, stream) ? [{ stream, index }] : [])),
  );
}

function replaceFrame(
  history: History,
  places: readonly { stream: StreamSession; index: number }[],
  choice: number,
  change: (frame: Frame) => Frame,
): History | undefined {
  const place = pickFrom(places, choice);
  if (place === undefined) return undefined;
  const { stream, index } = place;
  const frames = stream.frames.with(index, change(stream.frames[index] ?? missing()));
  return replaceStream(history, stream, { ...stream, frames });
}

function replaceStream(history: History, old: StreamSession, next: StreamSession): History {
  return { ...history, streams: history.streams.map((each) => (each === old ? next : each)) };
}

function withoutLastFrame(longerMs: number): PlantedFault['plant'] {
  return (history, choice) => {
    const stream = pickFrom(
      history.streams.filter((each) => each.ended === undefined && endsWithAcknowledged(history, each)),
      choice,
    );
    if (stream === undefined) return undefined;
    const silent = { ...stream, frames: stream.frames.slice(0, -1) };
    return { ...replaceStream(history, stream, silent), endedAt: history.endedAt + longerMs };
  };
}

function endsWithAcknowledged(history: History, stream: StreamSession): boolean {
  const last = stream.frames.at(-1);
  if (last === undefined || stream.frames.length < 2) return false;
  const id = counterIn(last.content);
  return history.writes.some((write) => write.id === id && write.outcome === 'acknowledged');
}

function endKey(cause: 'revoked' | 'expired', at: (write: Write) => number): PlantedFault['plant'] {
  return (history, choice) => {
    const stream = pickFrom(
      history.streams.filter((each) => endsWithAcknowledged(history, each)),
      choice,
    );
    const id = counterIn(stream?.frames.at(-1)?.content ?? '{}');
    const write = history.writes.find((each) => each.id === id);
    if (stream === undefined || write === undefined) return undefined;
    const endedAt = at(write);
    return { ...history, endedKeys: [{ key: stream.key, cause, mayEndAt: endedAt, endedAt }] };
  };
}

function newestAcknowledged(history: History): readonly Write[] {
  return history.finals.flatMap((final) => {
    const id = counterIn(final.content);
    return history.writes.filter((write) => write.id === id && write.outcome === 'acknowledged');
  });
}

/** The history of a fleet that forgot a write: no reader saw it, although it was acknowledged. */
function withoutTraceOf(history: History, write: Write): History | undefined {
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

function counterIn(content: string): number | undefined {
  const flags: unknown = JSON.parse(content);
  // The tests' own maps: the counter is always there and an integer.
  return (flags as { counter?: { value: number } }).counter?.value;
}

function pickFrom<T>(list: readonly T[], choice: number): T | undefined {
  return list[choice % list.length];
}

function missing(): never {
  throw new Error('the place for the fault is not there');
}
