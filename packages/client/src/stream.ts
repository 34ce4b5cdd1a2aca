import { HEARTBEAT_SECONDS } from '@halyard/protocol';
import { createParser } from 'eventsource-parser';
import { FlagsError } from './errors.ts';
import { MAX_ANSWER_BYTES, parseJson, piecesOf, revisionOf, send } from './request.ts';
import type { Target } from './target.ts';

/** A stream that shows no sign of life for three heartbeats is dead. */
export const READ_DEADLINE_MS = 3 * HEARTBEAT_SECONDS * 1_000;

/** What {@link followStream} throws after {@link READ_DEADLINE_MS} of silence. */
export const SILENT = Symbol('silent');

/** So many bytes are a sign of life in the middle of a frame; a drip of single bytes is none. */
const LIVELY_BYTES = 1_024;

/** What becomes of a stream. */
export interface StreamEvents {
  /** The stream is open; `revision` is that of the first frame, if the server numbers its maps. */
  readonly onOpen: (revision: number | undefined) => void;
  /** A frame's JSON. May throw, which ends the stream. */
  readonly onFrame: (data: unknown) => void;
  /** The server set the reconnection time. */
  readonly onRetry: (ms: number) => void;
}

/**
 * Opens the stream and follows it to its end: resolves when the server closes it, throws when it breaks or falls
 * silent. A frame that was cut by the end is dropped. (Spec: Events)
 */
export async function followStream(
  target: Target,
  controller: AbortController,
  events: StreamEvents,
): Promise<void> {
  const response = await send(target, { path: '/v1/stream', accept: 'text/event-stream', controller });
  const type = response.headers.get('Content-Type') ?? '';
  if (response.status !== 200 || !/^\s*text\/event-stream\s*(;|$)/i.test(type))
    throw new FlagsError('invalid_response', 'the answer is not an event stream');
  events.onOpen(revisionOf(response));

  const { now, setTimer } = target.platform;
  let aliveAt = now();
  let bytesSince = 0;
  const alive = () => {
    aliveAt = now();
    bytesSince = 0;
  };
  const watch = (): (() => void) =>
    setTimer(
      () => {
        if (now() - aliveAt < READ_DEADLINE_MS) cancel = watch();
        else controller.abort(SILENT);
      },
      aliveAt + READ_DEADLINE_MS - now(),
    );
  let cancel = watch();

  const decoder = new TextDecoder('utf-8', { ignoreBOM: true }); // the parser strips the one that may be there
  const parser = createParser({
    maxBufferSize: MAX_ANSWER_BYTES,
    onComment: alive,
    onRetry: events.onRetry,
    onError: ({ type }) => {
      if (type === 'max-buffer-size-exceeded') throw new FlagsError('invalid_response', 'a frame has no end');
    },
    onEvent: ({ event, data }) => {
      alive();
      // Frames have no event name; one that has is not for us. [spec Events 4]
      if (!event || event === 'message') events.onFrame(parseJson(data));
    },
  });
  try {
    for await (const piece of piecesOf(response, controller.signal)) {
      bytesSince += piece.length;
      if (bytesSince >= LIVELY_BYTES) alive();
      parser.feed(decoder.decode(piece, { stream: true }));
    }
  } finally {
    cancel();
  }
}
