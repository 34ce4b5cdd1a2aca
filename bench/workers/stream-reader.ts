import type { ChangeRequest } from '../raw-request.ts';
import { openRawStream, type RawStream, type StreamListener } from '../raw-stream.ts';
import { serveCommands } from '../worker-commands.ts';

/** Which streams to open. */
interface OpenPlan {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly count: number;
  /** Whether a stream is open with its first frame (default), or already with the head of its answer. */
  readonly opensWith?: 'frame' | 'head';
  /** The address of this machine to open them from. Default: the system's choice. */
  readonly localAddress?: string;
}

/** Milliseconds from sending the request to the end of the frame on the first and on the last stream. */
export interface ChangeTimes {
  readonly firstMs: number;
  readonly lastMs: number;
}

const commands = { open, burst, burstUnread, await: nextFrames, close };
/** The commands of this worker. */
export type StreamReaderCommands = typeof commands;

serveCommands(commands);

/** Streams on their way at the same time while opening; more would overrun the server's queue of connections. */
const PARALLEL = 200;

const streams: RawStream[] = [];
let onFrame: () => void = () => {};
let failed = Promise.withResolvers<never>();

/** Returns the seconds until every stream had its first frame. */
async function open(plan: OpenPlan): Promise<number> {
  failed = Promise.withResolvers<never>();
  const start = performance.now();
  let asked = 0;
  const openNext = async (): Promise<void> => {
    while (asked < plan.count) {
      asked++;
      await openOne(plan);
    }
  };
  await Promise.race([Promise.all(Array.from({ length: PARALLEL }, openNext)), failed.promise]);
  return (performance.now() - start) / 1000;
}

async function openOne({ url, headers, opensWith = 'frame', localAddress }: OpenPlan): Promise<void> {
  const first = Promise.withResolvers<void>();
  let isOpen = opensWith === 'head';
  const listener: StreamListener = {
    onHead: () => {
      if (opensWith === 'head') first.resolve();
    },
    onFrame: () => {
      if (isOpen) return onFrame();
      isOpen = true;
      first.resolve();
    },
    onEnd: (problem) => failed.reject(new Error(problem)),
  };
  streams.push(await openRawStream(url, headers, listener, localAddress));
  await first.promise;
}

/** Sends them all at once; the times are those to the first frame of any and to the last frame of all. */
async function burst(requests: readonly ChangeRequest[]): Promise<ChangeTimes> {
  const frames = nextFrames(requests.length);
  const [times] = await Promise.all([frames, ...requests.map(send)]);
  return times;
}

/** As {@link burst}, but no stream is read until every request has been answered and 200 ms have passed. */
async function burstUnread(requests: readonly ChangeRequest[]): Promise<ChangeTimes> {
  for (const stream of streams) stream.pause();
  const frames = nextFrames(requests.length);
  frames.catch(() => {
    // Awaited below, after the requests.
  });
  for (const request of requests) await send(request);
  await Bun.sleep(200);
  for (const stream of streams) stream.resume();
  return await frames;
}

/** Settles once every stream has had so many frames from now on. */
function nextFrames(count: number): Promise<ChangeTimes> {
  const { promise, resolve } = Promise.withResolvers<ChangeTimes>();
  const start = performance.now();
  const expected = count * streams.length;
  let firstMs = 0;
  let arrived = 0;
  onFrame = () => {
    if (arrived++ === 0) firstMs = performance.now() - start;
    if (arrived === expected) resolve({ firstMs, lastMs: performance.now() - start });
  };
  return Promise.race([promise, failed.promise]);
}

async function send({ url, file, ...init }: ChangeRequest): Promise<void> {
  if (file !== undefined) await Bun.write(file.path, file.text);
  const response = await fetch(url, init);
  if (!response.ok) throw new Error(`the change was answered ${response.status}: ${await response.text()}`);
  await response.arrayBuffer();
}

function close(): number {
  failed.promise.catch(() => {
    // Streams that end from here on were ended by us.
  });
  const count = streams.length;
  for (const stream of streams.splice(0)) stream.close();
  return count;
}
