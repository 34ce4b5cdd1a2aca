import { within } from '@halyard/testing';
import type { Arrivals } from './changes.ts';
import { type RepeatedRequest, rawRequest } from './raw-request.ts';

/** Hears of one stream. */
export interface StreamListener {
  /** The first bytes of the answer have arrived. */
  readonly onHead?: () => void;
  /** The first bytes of a frame have arrived; not called for keep-alives. */
  readonly onFrameStart?: () => void;
  /** A frame has arrived to its last byte. */
  readonly onFrame: () => void;
  /** The stream ended or never began. */
  readonly onEnd: (problem: string) => void;
}

/** An open stream. */
export interface RawStream {
  /** Reads nothing until {@link RawStream.resume}, as a slow reader does. */
  pause(): void;
  resume(): void;
  close(): void;
}

/** The largest piece that is only keep-alives: they are a few bytes each. */
const MAX_KEEP_ALIVE_BYTES = 16;

/** The end of a map and of its frame. Neither a map nor a keep-alive holds these bytes anywhere else. */
const FRAME_END = new TextEncoder().encode('}\n\n');

/**
 * Opens an event stream on a socket of its own and says when its frames come. It searches for their ends only, so that
 * ten thousand streams cost the reader less than the server. One address has ports for 28,000 streams to a server;
 * `localAddress` names another, as in `127.0.0.2`, which is quick for the first 6,500.
 */
export async function openRawStream(
  url: string,
  headers: Readonly<Record<string, string>>,
  listener: StreamListener,
  localAddress?: string,
): Promise<RawStream> {
  const { hostname, port } = new URL(url);
  const request = rawRequest({ url, headers });
  const ends = new FrameEnds();
  let isInside = false;
  let hasBegun = false;

  const socket = await Bun.connect({
    hostname,
    port: Number(port),
    // Bun passes it on to `bind`; its types do not have it.
    ...(localAddress === undefined ? {} : ({ localAddress } as object)),
    socket: {
      open: (opened) => void opened.write(request),
      data(_socket, chunk) {
        if (!hasBegun) {
          hasBegun = true;
          listener.onHead?.();
        }
        if (!isInside) {
          if (chunk.length <= MAX_KEEP_ALIVE_BYTES) return;
          isInside = true;
          listener.onFrameStart?.();
        }
        const ended = ends.take(chunk);
        if (ended > 0) isInside = false;
        for (let frame = 0; frame < ended; frame++) listener.onFrame();
      },
      close: () => listener.onEnd('the stream was closed'),
      error: (_socket, error) => listener.onEnd(error.message),
    },
  });

  return {
    pause: () => socket.pause(),
    resume: () => socket.resume(),
    close: () => socket.terminate(),
  };
}

/** The moments at which the frames of one stream begin to arrive, one after another. */
export async function openArrivals({
  url,
  headers,
}: Pick<RepeatedRequest, 'url' | 'headers'>): Promise<Arrivals> {
  let arrival = Promise.withResolvers<number>();
  let startedAt = 0;
  const opened = arrival.promise;
  const stream = await openRawStream(url, headers, {
    onFrameStart: () => {
      startedAt = performance.now();
    },
    onFrame: () => arrival.resolve(startedAt),
    onEnd: (problem) => arrival.reject(new Error(problem)),
  });
  await within('the first frame', opened);
  return {
    next: () => {
      arrival = Promise.withResolvers();
      return within('the frame of a change', arrival.promise);
    },
    close: () => stream.close(),
  };
}

/** Counts the ends of frames in the pieces of one stream, wherever the pieces are cut. */
export class FrameEnds {
  /** How many bytes of an end the last piece closed with. */
  #matched = 0;

  /** Returns how many frames ended in this piece. */
  take(piece: Uint8Array): number {
    let at = 0;
    let ended = 0;
    for (; this.#matched > 0 && at < piece.length; at++) {
      if (piece[at] !== FRAME_END[this.#matched]) {
        this.#matched = 0;
        break;
      }
      this.#matched++;
      if (this.#matched < FRAME_END.length) continue;
      this.#matched = 0;
      ended++;
    }
    const bytes = Buffer.from(piece.buffer, piece.byteOffset, piece.length);
    for (at = bytes.indexOf(FRAME_END, at); at >= 0; at = bytes.indexOf(FRAME_END, at + FRAME_END.length)) {
      ended++;
    }
    if (bytes.at(-1) === FRAME_END[0]) this.#matched = 1;
    else if (bytes.at(-1) === FRAME_END[1] && bytes.at(-2) === FRAME_END[0]) this.#matched = 2;
    return ended;
  }
}
