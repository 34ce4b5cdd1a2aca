import type { Machine, Role } from './machine.ts';
import type { SubjectStream } from './running.ts';
import { Worker } from './worker.ts';
import type { ChangeTimes, StreamReaderCommands } from './workers/stream-reader.ts';

/** Streams that are opened from the address that the system chooses. */
const PORTS = 20_000;

/** Processes that read streams: as many as it takes, since the ports and files of one are limited. */
export class StreamReaders implements AsyncDisposable {
  readonly #machine: Machine;
  readonly #perReader: number;
  readonly #role: Role;
  readonly #readers: Worker<StreamReaderCommands>[] = [];
  #room = 0;
  #open = 0;

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
      if (this.#room === 0) await this.#add();
      const some = Math.min(left, this.#room);
      const plan = { url, headers, count: some, ...(opensWith && { opensWith }) };
      // One address has ports for 28,000 streams to a server, and Linux has all of 127.0.0.0/8. A port of an address that
      // is named takes milliseconds to find once there are 6,500.
      const isNamed = this.#open + some > PORTS && process.platform === 'linux';
      const from = isNamed && { localAddress: `127.0.0.${this.#readers.length + 1}` };
      seconds += (await this.#readers.at(-1)?.ask('open', { ...plan, ...from })) ?? 0;
      this.#room -= some;
      this.#open += some;
      left -= some;
    }
    return seconds;
  }

  /** Makes so many changes at once, and waits for the last frame of the last stream. The first process sends them. */
  async change({ change }: Pick<SubjectStream, 'change'>, serial: number, count = 1): Promise<ChangeTimes> {
    const [first, ...others] = this.#readers;
    if (first === undefined) throw new Error('no stream is open');
    const waiting = others.map((reader) => reader.ask('await', { count }));
    for (const each of waiting) {
      each.catch(() => {
        // The first one may fail before; here it must not count as unhandled.
      });
    }
    // They must be ready before the change is made.
    if (others.length > 0) await Bun.sleep(50);

    const startedAt = performance.now();
    const requests = Array.from({ length: count }, (_, index) => change(serial * count + index));
    const own = await first.ask('burst', requests);
    await Promise.all(waiting);
    const lastMs = others.length === 0 ? own.lastMs : Math.max(own.lastMs, performance.now() - startedAt);
    return { firstMs: own.firstMs, lastMs };
  }

  /** Ends all streams with their processes. More may be opened afterwards. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#room = 0;
    this.#open = 0;
    for (const reader of this.#readers.splice(0)) await reader[Symbol.asyncDispose]();
  }

  async #add(): Promise<void> {
    const reader = await Worker.start<StreamReaderCommands>(this.#machine, 'stream-reader.ts', this.#role);
    this.#readers.push(reader);
    this.#room = this.#perReader;
  }
}
