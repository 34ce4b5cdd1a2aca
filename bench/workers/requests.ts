import { AnswerCounter } from '../answer-counter.ts';
import { type RepeatedRequest, rawRequest } from '../raw-request.ts';
import { percentile } from '../statistics.ts';
import { serveCommands } from '../worker-commands.ts';

/** The load to make: `connections` callers, each sending its next request when the last is answered. */
export interface LoadPlan extends RepeatedRequest {
  readonly connections: number;
  readonly seconds: number;
}

/** How far the callers came. */
export interface LoadResult {
  readonly requests: number;
  readonly seconds: number;
}

/** What to ask, and how often. */
export interface Pace extends RepeatedRequest {
  readonly perSecond: number;
}

/** Latencies in milliseconds; all 0 when nothing was asked. */
export interface ProbeResult {
  readonly count: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
}

const commands = { load, each, begin, end };
/** The commands of this worker. */
export type RequestCommands = typeof commands;

serveCommands(commands);

/** Enough that a request never waits for an earlier one: a server that stalls must not slow down the asking. */
const PACED_CONNECTIONS = 200;
const CONNECTIONS = 32;

let current: { isOver: boolean; readonly result: Promise<ProbeResult> } | undefined;

/** Asks as fast as the server answers. */
async function load({ connections, seconds, ...repeated }: LoadPlan): Promise<LoadResult> {
  const request = rawRequest(repeated);
  const start = performance.now();
  const end = start + seconds * 1000;
  const callers = await open(repeated.url, connections);
  let requests = 0;
  const call = async (connection: Connection) => {
    for (; performance.now() < end; requests++) await connection.ask(request);
    connection.close();
  };
  await Promise.all(callers.map(call));
  return { requests, seconds: (performance.now() - start) / 1000 };
}

/** Sends each of these once. Returns how many were answered; rejects when one is refused. */
async function each(requests: readonly RepeatedRequest[]): Promise<number> {
  const callers = await open(requests[0]?.url ?? '', CONNECTIONS);
  const left = requests.values();
  let answered = 0;
  const call = async (connection: Connection) => {
    for (const request of left) {
      await connection.ask(rawRequest(request));
      answered++;
    }
    connection.close();
  };
  await Promise.all(callers.map(call));
  return answered;
}

/** Asks at a steady pace, whether answers come or not, until {@link end}; settles once it has begun. */
async function begin(pace: Pace): Promise<void> {
  const connections = await open(pace.url, PACED_CONNECTIONS);
  const state = { isOver: false };
  const result = askAtPace(connections, pace, () => state.isOver);
  result.catch(() => {
    // `end` reports it.
  });
  current = Object.assign(state, { result });
}

/** What the requests since {@link begin} took, the last ones too. */
async function end(): Promise<ProbeResult> {
  if (current === undefined) throw new Error('begin first');
  current.isOver = true;
  return await current.result;
}

async function askAtPace(
  connections: readonly Connection[],
  { perSecond, ...repeated }: Pace,
  isOver: () => boolean,
): Promise<ProbeResult> {
  const request = rawRequest(repeated);
  const free = [...connections];
  const latencies: number[] = [];
  const pending = new Set<Promise<void>>();

  const start = performance.now();
  let isBehind = false;
  for (let sent = 0; !isOver(); ) {
    const due = Math.floor(((performance.now() - start) / 1000) * perSecond);
    while (sent < due) {
      // In turn: a connection that is kept for a stall would be idle, and the server closes those.
      const connection = free.shift();
      // A stall has used up all connections: those that were due in it count from when they were due.
      isBehind = connection === undefined || (isBehind && sent < due - 1);
      if (connection === undefined) break;
      const from = isBehind ? start + (sent * 1000) / perSecond : performance.now();
      sent++;
      const asked = connection.ask(request, from).then((ms) => {
        latencies.push(ms);
        free.push(connection);
        pending.delete(asked);
      });
      pending.add(asked);
    }
    await Promise.race([Bun.sleep(1), ...(isBehind ? pending : [])]);
  }

  await Promise.all(pending);
  for (const connection of connections) connection.close();
  const at = (p: number) => (latencies.length === 0 ? 0 : percentile(latencies, p));
  return { count: latencies.length, p50Ms: at(0.5), p99Ms: at(0.99), maxMs: at(1) };
}

interface Connection {
  /** Sends the request and returns the milliseconds from `from`, or else from now, to the end of its answer. */
  ask(request: Uint8Array, from?: number): Promise<number>;
  close(): void;
}

function open(url: string, count: number): Promise<Connection[]> {
  return Promise.all(Array.from({ length: count }, () => connect(url)));
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
        try {
          if (counter.take(chunk) > 0) waiting?.resolve(performance.now() - sentAt);
        } catch (error) {
          waiting?.reject(error);
        }
      },
      close: () => {
        isClosed = true;
        waiting?.reject(new Error('the connection was closed'));
      },
      error: (_socket, error) => waiting?.reject(error),
    },
  });

  return {
    ask(request, from = performance.now()) {
      if (isClosed) return Promise.reject(new Error('the connection was closed while it was idle'));
      waiting = Promise.withResolvers();
      sentAt = from;
      socket.write(request);
      return waiting.promise;
    },
    close: () => {
      waiting = undefined;
      socket.terminate();
    },
  };
}
