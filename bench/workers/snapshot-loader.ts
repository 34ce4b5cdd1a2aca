import { LOG_PATH } from '../../packages/server/src/evaluation/log/messages.ts';
import { serveCommands } from '../worker-commands.ts';

/** Whose state to load, all at once. */
interface LoadPlan {
  readonly url: string;
  readonly tokens: readonly string[];
}

const commands = { load };
/** The commands of this worker. */
export type LoaderCommands = typeof commands;

serveCommands(commands);

/** Bytes before a message: its length and its coding. */
const HEADER_BYTES = 5;

/** For each follower, its bytes, the refusals that said when to come again, and the milliseconds until it had all. */
function load({ url, tokens }: LoadPlan) {
  const begunAt = performance.now();
  return Promise.all(
    tokens.map(async (token) => ({ ...(await loadOne(url, token)), tookMs: performance.now() - begunAt })),
  );
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
