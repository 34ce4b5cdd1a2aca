import { AnswerCounter } from '../answer-counter.ts';
import { rawRequest } from '../raw-request.ts';
import { percentile } from '../statistics.ts';
import { serveCommands } from '../worker-commands.ts';

/** How often to ask, for how long. */
export interface ProbePlan {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly perSecond: number;
  readonly seconds: number;
}

/** Latencies in milliseconds. */
export interface ProbeResult {
  readonly count: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
}

/** The commands of this worker. */
export type ProbeCommands = { run(plan: ProbePlan): Promise<ProbeResult> };

serveCommands({ run } satisfies ProbeCommands);

/** Enough that a request never waits for an earlier one: a server that stalls must not slow down the asking. */
const CONNECTIONS = 200;

/** Asks at a steady pace, whether answers come or not, and takes the time of each. */
async function run(plan: ProbePlan): Promise<ProbeResult> {
  const request = rawRequest(plan);
  const latencies: number[] = [];
  const free = await Promise.all(Array.from({ length: CONNECTIONS }, () => connect(plan.url)));
  const all = [...free];
  const pending: Promise<void>[] = [];
  const start = performance.now();
  const total = plan.perSecond * plan.seconds;
  for (let sent = 0; sent < total; ) {
    const due = Math.min(total, Math.floor(((performance.now() - start) / 1000) * plan.perSecond));
    for (; sent < due; sent++) {
      const connection = free.pop();
      if (connection === undefined) throw new Error('the server did not answer for too long');
      pending.push(
        connection.ask(request).then((ms) => {
          latencies.push(ms);
          free.push(connection);
        }),
      );
    }
    await Bun.sleep(1);
  }
  await Promise.all(pending);
  for (const connection of all) connection.close();
  return {
    count: latencies.length,
    p50Ms: percentile(latencies, 0.5),
    p99Ms: percentile(latencies, 0.99),
    maxMs: percentile(latencies, 1),
  };
}

interface Connection {
  /** Sends the request and returns the milliseconds to the end of its answer. */
  ask(request: Uint8Array): Promise<number>;
  close(): void;
}

async function connect(url: string): Promise<Connection> {
  const { hostname, port } = new URL(url);
  const counter = new AnswerCounter();
  let waiting: PromiseWithResolvers<number> | undefined;
  let sentAt = 0;
  const socket = await Bun.connect({
    hostname,
    port: Number(port),
    socket: {
      data(_socket, chunk) {
        if (counter.take(chunk) > 0) waiting?.resolve(performance.now() - sentAt);
      },
      close: () => waiting?.reject(new Error('the connection was closed')),
      error: (_socket, error) => waiting?.reject(error),
    },
  });
  return {
    ask(request) {
      waiting = Promise.withResolvers();
      sentAt = performance.now();
      socket.write(request);
      return waiting.promise;
    },
    close: () => socket.terminate(),
  };
}
