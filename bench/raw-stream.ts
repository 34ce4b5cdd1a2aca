import { rawRequest } from './raw-request.ts';

/** Hears of one stream. */
export interface StreamListener {
  /** The first bytes of a frame have arrived; not called for keep-alives. */
  readonly onFrameStart?: () => void;
  /** A frame has arrived to its last byte. */
  readonly onFrame: () => void;
  /** The stream ended or never began. */
  readonly onEnd: (problem: string) => void;
}

/** An open stream. */
export interface RawStream {
  close(): void;
}

/** The largest piece that is only keep-alives: they are a few bytes each. */
const MAX_BEAT_BYTES = 16;

/**
 * Opens an event stream on a socket of its own and says when its frames come. It looks at the ends of the pieces only,
 * so that ten thousand of them cost the reader less than the server.
 */
export async function openRawStream(
  url: string,
  headers: Readonly<Record<string, string>>,
  listener: StreamListener,
): Promise<RawStream> {
  const { hostname, port } = new URL(url);
  const request = rawRequest({ url, headers });
  let isInside = false;
  const socket = await Bun.connect({
    hostname,
    port: Number(port),
    socket: {
      open: (opened) => void opened.write(request),
      data(_socket, chunk) {
        if (!isInside) {
          if (chunk.length <= MAX_BEAT_BYTES) return;
          isInside = true;
          listener.onFrameStart?.();
        }
        if (!endsFrame(chunk)) return;
        isInside = false;
        listener.onFrame();
      },
      close: () => listener.onEnd('the stream was closed'),
      error: (_socket, error) => listener.onEnd(error.message),
    },
  });
  return { close: () => socket.terminate() };
}

/** Whether a piece ends in a blank line and the end of its HTTP chunk; an answer's head ends in `\r\n\r\n`. */
function endsFrame(chunk: Uint8Array): boolean {
  const end = chunk.length;
  return (
    chunk[end - 1] === 0x0a && chunk[end - 2] === 0x0d && chunk[end - 3] === 0x0a && chunk[end - 4] === 0x0a
  );
}
