import {
  counterIn,
  endKey,
  framesWhere,
  inEvents,
  inFrames,
  lateRead,
  missing,
  newestAcknowledged,
  type Plant,
  pickFrom,
  replaced,
  replaceFrame,
  withoutLastFrame,
  withoutTraceOf,
} from './planting.ts';
import type { ViolationKind } from './violation.ts';

/** A fault, and how to spoil a correct history with it. */
export interface PlantedFault {
  /** The fault of the server that it imitates. */
  readonly name: string;
  /** At least one of these must be reported. */
  readonly caughtAs: readonly ViolationKind[];
  readonly plant: Plant;
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
    name: 'a change follows another revision than its reader has',
    caughtAs: ['wrong-change'],
    plant: (history, choice) =>
      replaceFrame(
        history,
        framesWhere(history, ({ change }) => typeof change?.from === 'number'),
        choice,
        (frame) => ({
          ...frame,
          change: { from: (frame.change?.from ?? missing()) - 1, to: frame.change?.to ?? missing() },
        }),
      ),
  },
  {
    name: 'a stream of changes does not begin with the whole map',
    caughtAs: ['wrong-change'],
    plant: (history, choice) =>
      replaceFrame(
        history,
        framesWhere(history, ({ change }) => change?.from === null),
        choice,
        (frame) => ({ ...frame, change: { from: 0, to: frame.change?.to ?? missing() } }),
      ),
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
        history.eventStreams,
        choice,
        ({ frames: [first] }) => first?.asksToRead === true,
      );
      if (stream === undefined) return undefined;
      const frames = stream.frames.with(0, { ...(stream.frames[0] ?? missing()), asksToRead: false });
      const eventStreams = replaced(history.eventStreams, stream, { ...stream, frames });
      return { ...history, eventStreams };
    },
  },
  {
    name: 'a read for an event is answered from before it',
    caughtAs: ['behind-event'],
    plant: (history, choice) => {
      const read = pickFrom(history.reads, choice, ({ after }) => after !== undefined);
      if (read?.revision === undefined) return undefined;
      const late = { ...read, after: read.revision + 1 };
      return { ...history, reads: replaced(history.reads, read, late) };
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
      const stream = pickFrom(history.streams, choice, (each) => each.frames.length > 1);
      if (stream === undefined) return undefined;
      const at = stream.openedAt + 1;
      const frames = stream.frames.map((frame, index) =>
        index === 0 ? frame : { ...frame, at: frame.at + 2_000 },
      );
      const { ended, ...open } = stream;
      const later = ended === undefined ? {} : { ended: { ...ended, at: ended.at + 2_000 } };
      return {
        ...history,
        streams: replaced(history.streams, stream, { ...open, ...later, frames }),
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
      const write = pickFrom(history.writes, choice, (each) => each.outcome === 'acknowledged');
      if (write?.revision === undefined) return undefined;
      const late = { ...write, expected: write.revision - 2 };
      return { ...history, writes: replaced(history.writes, write, late) };
    },
  },
  {
    name: 'a revision is given to two writes',
    caughtAs: ['double-revision'],
    plant: (history, choice) => {
      const write = pickFrom(history.writes, choice, (each) => each.outcome === 'acknowledged');
      return write && { ...history, writes: [...history.writes, { ...write, id: 999_999 }] };
    },
  },
  {
    name: 'a refused write shows',
    caughtAs: ['phantom'],
    plant: (history, choice) => {
      const seen = new Set(history.streams.flatMap((each) => each.frames.map((frame) => frame.content)));
      const write = pickFrom(history.writes, choice, (each) =>
        [...seen].some((text) => counterIn(text) === each.id),
      );
      if (write === undefined) return undefined;
      const { revision: _, ...rest } = write;
      return {
        ...history,
        writes: replaced(history.writes, write, { ...rest, outcome: 'refused' }),
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
        history.finals,
        choice,
        (each) => each.revision > (history.environments.get(each.environment)?.revision ?? 0),
      );
      if (final === undefined) return undefined;
      const old = history.environments.get(final.environment) ?? missing();
      return {
        ...history,
        finals: replaced(history.finals, final, { ...final, ...old }),
      };
    },
  },
  {
    name: 'a node goes back in time',
    caughtAs: ['went-back'],
    plant: (history, choice) => {
      const final = pickFrom(history.writes, choice, (each) => each.outcome === 'acknowledged');
      if (final === undefined) return undefined;
      const base = history.environments.get(final.environment) ?? missing();
      return {
        ...history,
        reads: [
          ...history.reads,
          {
            kind: 'read',
            node: final.node,
            environment: final.environment,
            key: 'reader',
            ...base,
            requestedAt: final.finishedAt + 1,
            answeredAt: final.finishedAt + 2,
            status: 200,
            freshness: 'stale',
          },
        ],
      };
    },
  },
  {
    name: 'a read that calls itself current lacks a change of five seconds ago',
    caughtAs: ['not-current'],
    plant: lateRead({ afterMs: 5_000, freshness: 'current' }),
  },
  {
    name: 'a read is older than it admits',
    caughtAs: ['age-too-small'],
    plant: lateRead({ afterMs: 10_000, freshness: 'stale', ageSeconds: 4 }),
  },
  {
    name: 'a restarted node answers from before its restart',
    caughtAs: ['restarted-in-the-past'],
    plant: (history, choice) => {
      const spoiled = lateRead({ afterMs: 5_000, freshness: 'stale', ageSeconds: 60 })(history, choice);
      const late = spoiled?.reads.at(-1);
      if (late === undefined) return undefined;
      const times = { stoppedAt: late.requestedAt - 1_000, readyAt: late.requestedAt + 1_000 };
      return spoiled && { ...spoiled, restarts: [{ node: late.node, ...times }] };
    },
  },
  {
    name: 'a node whose workers are killed answers nothing for ten seconds',
    caughtAs: ['silent'],
    plant: (history) => ({
      ...history,
      silences: [{ node: 'node-1', from: history.endedAt - 10_000, ms: 10_000 }],
    }),
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
      const stream = pickFrom(history.streams, choice, (each) => each.ended === undefined);
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
    name: 'a pointer names an object that was removed',
    caughtAs: ['missing-object'],
    plant: (history) => ({
      ...history,
      missingObjects: [...history.environments.keys()].map((environment) => ({
        environment,
        at: history.endedAt,
        object: '7-00.json',
      })),
    }),
  },
  {
    name: 'the revision header is off by one',
    caughtAs: ['wrong-revision'],
    plant: (history, choice) => {
      const read = pickFrom(history.reads, choice, ({ content }) => content !== undefined);
      if (read?.revision === undefined) return undefined;
      const wrong = { ...read, revision: read.revision + 1 };
      return { ...history, reads: replaced(history.reads, read, wrong) };
    },
  },
];
