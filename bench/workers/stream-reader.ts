import { openRawStream, type RawStream } from '../raw-stream.ts';
import { serveCommands } from '../worker-commands.ts';

/** Which streams to open. */
export interface OpenPlan {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly count: number;
}

/** A request that makes a frame on every stream. */
export interface ChangeRequest {
  readonly url: string;
  readonly method: 'PUT' | 'POST';
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Milliseconds from sending the request to the end of the frame on the first and on the last stream. */
export interface ChangeTimes {
  readonly firstMs: number;
  readonly lastMs: number;
}

/** The commands of this worker. */
export type StreamReaderCommands = {
  /** Returns the seconds until every stream had its first frame. */
  open(plan: OpenPlan): Promise<number>;
  change(request: ChangeRequest): Promise<ChangeTimes>;
  close(argument: null): number;
};

serveCommands({ open, change, close } satisfies StreamReaderCommands);

/** Streams on their way at the same time while opening; more would overrun the server's queue of connections. */
const PARALLEL = 200;

const streams: RawStream[] = [];
let onFrame: () => void = () => {};
let failed = Promise.withResolvers<never>();

async function open({ url, headers, count }: OpenPlan): Promise<number> {
  failed = Promise.withResolvers<never>();
  const start = performance.now();
  let asked = 0;
  const openNext = async (): Promise<void> => {
    while (asked < count) {
      asked++;
      await openOne(url, headers);
    }
  };
  await Promise.race([Promise.all(Array.from({ length: PARALLEL }, openNext)), failed.promise]);
  return (performance.now() - start) / 1000;
}

async function openOne(url: string, headers: Readonly<Record<string, string>>): Promise<void> {
  const first = Promise.withResolvers<void>();
  let isOpen = false;
  const stream = await openRawStream(url, headers, {
    onFrame: () => {
      if (isOpen) return onFrame();
      isOpen = true;
      first.resolve();
    },
    onEnd: (problem) => failed.reject(new Error(problem)),
  });
  streams.push(stream);
  await first.promise;
}

async function change({ url, ...init }: ChangeRequest): Promise<ChangeTimes> {
  const { promise, resolve } = Promise.withResolvers<ChangeTimes>();
  const start = performance.now();
  let firstMs = 0;
  let arrived = 0;
  onFrame = () => {
    if (arrived++ === 0) firstMs = performance.now() - start;
    if (arrived === streams.length) resolve({ firstMs, lastMs: performance.now() - start });
  };
  const answered = fetch(url, init).then(async (response) => {
    if (!response.ok) throw new Error(`the change was answered ${response.status}: ${await response.text()}`);
    await response.arrayBuffer();
  });
  const [times] = await Promise.all([Promise.race([promise, failed.promise]), answered]);
  return times;
}

function close(): number {
  failed.promise.catch(() => {
    // Streams that end from here on were ended by us.
  });
  const count = streams.length;
  for (const stream of streams.splice(0)) stream.close();
  return count;
}
