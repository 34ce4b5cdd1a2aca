import { createSseParser } from '@halyard/protocol';
import { FlagsError } from './errors.ts';
import { parseJson, readBody, refuseEndless, reportUsage, revisionOf, send } from './request.ts';
import type { Target } from './target.ts';

/** What becomes of a stream. */
export interface StreamEvents {
  /** The stream is open; `revision` is that of the first frame, if the server numbers its maps. */
  readonly onOpen: (revision: number | undefined) => void;
  /** A frame's JSON and its revision, if the server numbers its maps. May throw, which ends the stream. */
  readonly onFrame: (data: unknown, revision: number | undefined) => void;
  /** The server set the reconnection time. */
  readonly onRetry: (ms: number) => void;
}

/**
 * Opens the stream and follows it to its end: resolves when the server closes it, throws when it breaks or falls
 * silent. A frame that was cut by the end is dropped. (Spec: S6)
 */
export async function followStream(
  target: Target,
  controller: AbortController,
  { onOpen, onFrame, onRetry }: StreamEvents,
): Promise<void> {
  const response = await send(target, '/v1/stream', controller);
  const type = response.headers.get('Content-Type') ?? '';
  if (!/^text\/event-stream\s*(;|$)/i.test(type))
    throw new FlagsError('invalid_response', 'it is not an event stream');
  if (!response.body?.getReader) throw new FlagsError('stream_error', 'this fetch cannot stream');

  let revision = revisionOf(response);
  onOpen(revision);

  await readBody(target, response, controller, (alive) =>
    createSseParser({
      onComment: (text) => {
        alive();
        if (text.startsWith('usage ')) reportUsage(target, text.slice(6));
      },
      onRetry,
      onPending: refuseEndless,
      onData: (data) => {
        alive();
        onFrame(parseJson(data), revision);
        if (revision !== undefined) revision++;
      },
    }),
  );
}
