import { AnswerCounter } from '../answer-counter.ts';
import { rawRequest } from '../raw-request.ts';
import { percentile } from '../statistics.ts';
import { serveCommands } from '../worker-commands.ts';

/** What to ask, and how often. */
export interface Pace {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly perSecond: number;
}

/** For how long to ask. */
export interface ProbePlan extends Pace {
  readonly seconds: number;
}

/** Latencies in milliseconds; all 0 when nothing was asked. */
export interface ProbeResult {
  readonly count: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
}

/** The commands of this worker. */
export type ProbeCommands = {
  run(plan: ProbePlan): Promise<ProbeResult>;
  /** Asks until {@link ProbeCommands.end}; settles once it has begun. */
  begin(pace: Pace): Promise<void>;
  /** Returns what the requests since `begin` took, the last ones too. */
  end(argument: null): Promise<ProbeResult>;
};

serveCommands({ run, begin, end } satisfies ProbeCommands);

/** Enough that a request never waits for an earlier one: a server that stalls must not slow down the asking. */
const CONNECTIONS = 200;

let current: { isOver: boolean; readonly result: Promise<ProbeResult> } | undefined;

async function run(plan: ProbePlan): Promise<ProbeResult> {
  const probe = await Probe.open(plan);
  return await probe.ask({ most: plan.perSecond * plan.seconds, isOver: () => false });
}

async function begin(pace: Pace): Promise<void> {
  const probe = await Probe.open(pace);
  const state = { isOver: false };
  const result = probe.ask({ most: Number.POSITIVE_INFINITY, isOver: () => state.isOver });
  result.catch(() => {
    // `end` reports it.
  });
  current = Object.assign(state, { result });
}

async function end(): Promise<ProbeResult> {
  if (current === undefined) throw new Error('begin first');
  current.isOver = true;
  return await current.result;
}

/** Asks at a steady pace, whether answers come or not, and takes the time of each. */
class Probe {
  readonly #pace: Pace;
  readonly #free: Connection[];

  private constructor(pace: Pace, connections: readonly Connection[]) {
    this.#pace = pace;
    this.#free = [...connections];
  }

  static async open(pace: Pace): Promise<Probe> {
    return new Probe(pace, await Promise.all(Array.from({ length: CONNECTIONS }, () => connect(pace.url))));
  }

  async ask({ most, isOver }: { most: number; isOver: () => boolean }): Promise<ProbeResult> {
    const request = rawRequest(this.#pace);
    const { perSecond } = this.#pace;
    const all = [...this.#free];
    const latencies: number[] = [];
    const pending = new Set<Promise<void>>();

    const start = performance.now();
    let isBehind = false;
    for (let sent = 0; sent < most && !isOver(); ) {
      const due = Math.min(most, Math.floor(((performance.now() - start) / 1000) * perSecond));
      while (sent < due) {
        // In turn: a connection that is kept for a stall would be idle, and the server closes those.
        const connection = this.#free.shift();
        // A stall has used up all connections: those that were due in it count from when they were due.
        isBehind = connection === undefined || (isBehind && sent < due - 1);
        if (connection === undefined) break;
        const from = isBehind ? start + (sent * 1000) / perSecond : performance.now();
        sent++;
        const asked = connection.ask(request, from).then((ms) => {
          latencies.push(ms);
          this.#free.push(connection);
          pending.delete(asked);
        });
        pending.add(asked);
      }
      await Promise.race([Bun.sleep(1), ...(isBehind ? pending : [])]);
    }

    await Promise.all(pending);
    for (const connection of all) connection.close();
    return resultOf(latencies);
  }
}

function resultOf(latencies: readonly number[]): ProbeResult {
  if (latencies.length === 0) return { count: 0, p50Ms: 0, p99Ms: 0, maxMs: 0 };
  return {
    count: latencies.length,
    p50Ms: percentile(latencies, 0.5),
    p99Ms: percentile(latencies, 0.99),
    maxMs: percentile(latencies, 1),
  };
}

interface Connection {
  /** Sends the request and returns the milliseconds from `from` to the end of its answer. */
  ask(request: Uint8Array, from: number): Promise<number>;
  close(): void;
}

async function connect(url: string): Promise<Connection> {
  const { hostname, port } = new URL(url);
  const counter = new AnswerCounter();
  let waiting: PromiseWithResolvers<number> | undefined;
  let sentAt = 0;
  let isClosed = false;

  const socket = await Bun.connect({
    hostname,
    port: Number(port),
    socket: {
      data(_socket, chunk) {
        if (counter.take(chunk) > 0) waiting?.resolve(performance.now() - sentAt);
      },
      close: () => {
        isClosed = true;
        waiting?.reject(new Error('the connection was closed'));
      },
      error: (_socket, error) => waiting?.reject(error),
    },
  });

  return {
    ask(request, from) {
      if (isClosed) return Promise.reject(new Error('the connection was closed while it was idle'));
      waiting = Promise.withResolvers();
      sentAt = from;
      socket.write(request);
      return waiting.promise;
    },
    close: () => socket.terminate(),
  };
}
