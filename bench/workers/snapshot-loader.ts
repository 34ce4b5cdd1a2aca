import { LOG_PATH } from '../../packages/server/src/evaluation/log/messages.ts';
import { serveCommands } from '../worker-commands.ts';

/** Whose state to load, all at once. */
export interface LoadPlan {
  readonly url: string;
  readonly tokens: readonly string[];
}

/** What loading took. */
export interface LoadResult {
  readonly bytes: number;
  /** Refusals that said when to come again. */
  readonly refused: number;
  /** Until each follower had its whole state, in milliseconds. */
  readonly tookMs: readonly number[];
}

/** The commands of this worker. */
export type LoaderCommands = {
  load(plan: LoadPlan): Promise<LoadResult>;
};

serveCommands({ load } satisfies LoaderCommands);

/** Bytes before a message: its length and its coding. */
const HEADER_BYTES = 5;

async function load({ url, tokens }: LoadPlan): Promise<LoadResult> {
  const begunAt = performance.now();
  const loaded = await Promise.all(
    tokens.map(async (token) => ({ ...(await loadOne(url, token)), tookMs: performance.now() - begunAt })),
  );
  return {
    bytes: loaded.reduce((sum, { bytes }) => sum + bytes, 0),
    refused: loaded.reduce((sum, { refused }) => sum + refused, 0),
    tookMs: loaded.map(({ tookMs }) => tookMs),
  };
}

/** Comes again when it is asked to, and as soon as a relay would. */
async function loadOne(url: string, token: string): Promise<{ bytes: number; refused: number }> {
  for (let refused = 0; ; refused++) {
    const canceled = new AbortController();
    const response = await fetch(`${url}${LOG_PATH}`, {
      headers: { Authorization: `Bearer ${token}` },
      signal: canceled.signal,
    });
    if (response.status === 503) {
      await response.body?.cancel();
      await Bun.sleep(Number(response.headers.get('Retry-After') ?? 1) * 1000 * (1 + Math.random()));
      continue;
    }
    if (!response.ok) throw new Error(`the log was answered with ${response.status}`);
    const bytes = await untilEnd(response);
    canceled.abort();
    return { bytes, refused };
  }
}

/** Reads until the state is complete, and does not look into it: that would take more than making it. */
async function untilEnd(response: Response): Promise<number> {
  let [bytes, rest] = [0, Buffer.alloc(0)];
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length;
    rest = rest.length === 0 ? Buffer.from(chunk) : Buffer.concat([rest, chunk]);
    for (; rest.length >= HEADER_BYTES; ) {
      const end = HEADER_BYTES + rest.readUInt32BE(0);
      if (rest.length < end) break;
      // Short messages are not compressed.
      if (rest.subarray(HEADER_BYTES, HEADER_BYTES + 40).includes('"snapshot-end"')) return bytes;
      rest = rest.subarray(end);
    }
  }
  throw new Error('the log ended before the state was complete');
}
