import type { Machine, Role } from './machine.ts';
import { metered } from './process-figures.ts';
import type { Streaming, SubjectStream } from './running.ts';
import { mean, median, sum } from './statistics.ts';
import { Worker } from './worker.ts';
import type { ChangeTimes, StreamReaderCommands } from './workers/stream-reader.ts';

/** Streams that are opened from the address that the system chooses. */
const PORTS = 20_000;

/** A process that reads streams, and how many it has open. */
interface Reader {
  readonly worker: Worker<StreamReaderCommands>;
  streams: number;
}

/** Processes that read streams: as many as it takes, since the ports and files of one are limited. */
export class StreamReaders implements AsyncDisposable {
  readonly #machine: Machine;
  readonly #perReader: number;
  readonly #role: Role;
  readonly #readers: Reader[] = [];

  /** `perReader`: streams that one process holds. */
  constructor(machine: Machine, perReader = 5_500, role: Role = 'readers') {
    this.#machine = machine;
    this.#perReader = perReader;
    this.#role = role;
  }

  /** Opens streams. Returns the seconds until each had its first frame. */
  async open({ url, headers, opensWith }: Omit<SubjectStream, 'change'>, count: number): Promise<number> {
    let seconds = 0;
    for (let left = count; left > 0; ) {
      const reader = this.#withRoom();
      const some = Math.min(left, this.#perReader - reader.streams);
      const plan = { url, headers, count: some, ...(opensWith && { opensWith }) };
      // One address has ports for 28,000 streams to a server, and Linux has all of 127.0.0.0/8. A port of an address that
      // is named takes milliseconds to find once there are 6,500.
      const open = sum(this.#readers.map(({ streams }) => streams));
      const isNamed = open + some > PORTS && process.platform === 'linux';
      const from = isNamed && { localAddress: `127.0.0.${this.#readers.indexOf(reader) + 2}` };
      seconds += await reader.worker.ask('open', { ...plan, ...from });
      reader.streams += some;
      left -= some;
    }
    return seconds;
  }

  /** Makes so many changes at once, and waits for the last frame of the last stream. The first process sends them. */
  async change({ change }: Pick<SubjectStream, 'change'>, serial: number, count = 1): Promise<ChangeTimes> {
    const [first, ...others] = this.#readers.filter(({ streams }) => streams > 0);
    if (first === undefined) throw new Error('no stream is open');
    const waiting = others.map(({ worker }) => worker.ask('await', count));
    for (const each of waiting) {
      each.catch(() => {
        // The first one may fail before; here it must not count as unhandled.
      });
    }
    // They must be ready before the change is made.
    if (others.length > 0) await Bun.sleep(50);

    const startedAt = performance.now();
    const requests = Array.from({ length: count }, (_, index) => change(serial * count + index));
    const own = await first.worker.ask('burst', requests);
    await Promise.all(waiting);
    const lastMs = others.length === 0 ? own.lastMs : Math.max(own.lastMs, performance.now() - startedAt);
    return { firstMs: own.firstMs, lastMs };
  }

  /** Ends all streams; their processes remain for more. */
  async close(): Promise<void> {
    for (const reader of this.#readers) {
      await reader.worker.ask('close');
      reader.streams = 0;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { worker } of this.#readers.splice(0)) await worker[Symbol.asyncDispose]();
  }

  #withRoom(): Reader {
    const found = this.#readers.find(({ streams }) => streams < this.#perReader);
    if (found !== undefined) return found;
    const reader = {
      worker: new Worker<StreamReaderCommands>(this.#machine, 'stream-reader.ts', this.#role),
      streams: 0,
    };
    this.#readers.push(reader);
    return reader;
  }
}

/** A change to all open streams, with the processor time of the server. */
export type ChangeFigures = ChangeTimes & { readonly cpuMs: number };

/** Makes a change of streams that are open, and looks at the server's processes. */
export async function meteredChange(
  readers: StreamReaders,
  { pids, stream }: Pick<Streaming, 'pids' | 'stream'>,
  serial: number,
): Promise<ChangeFigures> {
  const { result, cpuMs } = await metered(pids, () => readers.change(stream, serial));
  return { ...result, cpuMs };
}

/** The medians of some changes; of processor times the mean, since the kernel reports them in ticks. */
export function middleOf(changes: readonly ChangeFigures[]): ChangeFigures {
  return {
    firstMs: median(changes.map(({ firstMs }) => firstMs)),
    lastMs: median(changes.map(({ lastMs }) => lastMs)),
    cpuMs: mean(changes.map(({ cpuMs }) => cpuMs)),
  };
}
