import { createSseParser, type FlagMap, REVISION_HEADER } from '@halyard/protocol';
import { FlagsError } from './errors.ts';
import { parseJson, readBody, readRevision, refuseEndless, reportUsage, send } from './request.ts';
import type { Target } from './target.ts';

/** A change of the map as it came: foreign data that should be a `MapChange`. A frame is a change from nothing. */
export interface ForeignChange {
  readonly from?: unknown;
  /** Not a number where the server does not number its maps. */
  readonly to?: unknown;
  readonly set?: unknown;
  readonly removed?: unknown;
}

/** What becomes of a stream. */
export interface StreamEvents {
  /** The stream is open; `revision` is that of the first frame, if the server numbers its maps. */
  readonly onOpen: (revision: number | undefined) => void;
  /** The next change. Gives the map that it makes. May throw, which ends the stream. */
  readonly onMapChange: (change: ForeignChange) => FlagMap;
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
  { onOpen, onMapChange, onRetry }: StreamEvents,
): Promise<void> {
  const response = await send(target, 'stream?changes=1&', controller);
  const type = response.headers.get('Content-Type') ?? '';
  if (!/^text\/event-stream\s*(;|$)/i.test(type))
    throw new FlagsError('invalid_response', 'it is not an event stream');
  if (!response.body?.getReader) throw new FlagsError('stream_error', 'this fetch cannot stream');

  let revision = readRevision(response.headers.get(REVISION_HEADER)) as number; // or nothing, of which nothing is counted
  onOpen(revision);

  await readBody(target, response, controller, (alive) =>
    createSseParser({
      onComment: (text) => {
        alive();
        if (text.startsWith('usage ')) reportUsage(target, text.slice(6));
      },
      onRetry,
      onPending: refuseEndless,
      onData: (text, name) => {
        const isChange = name === 'change';
        if (!isChange && name !== 'message') return;
        alive();
        const data = parseJson(text);
        onMapChange(isChange ? (data as ForeignChange) : { from: null, to: revision++, set: data });
      },
    }),
  );
}
