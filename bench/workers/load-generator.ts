import { AnswerCounter } from '../answer-counter.ts';
import { type RepeatedRequest, rawRequest } from '../raw-request.ts';
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
  /** How long requests took in milliseconds, where the generator knows it. */
  readonly p50Ms?: number;
  readonly p99Ms?: number;
}

/** The commands of this worker. */
export type LoadCommands = { run(plan: LoadPlan): Promise<LoadResult> };

serveCommands({ run } satisfies LoadCommands);

async function run(plan: LoadPlan): Promise<LoadResult> {
  const { hostname, port } = new URL(plan.url);
  const request = rawRequest(plan);
  const failed = Promise.withResolvers<never>();
  let requests = 0;
  const start = performance.now();
  const end = start + plan.seconds * 1000;

  const sockets = await Promise.all(
    Array.from({ length: plan.connections }, () =>
      Bun.connect<AnswerCounter>({
        hostname,
        port: Number(port),
        socket: {
          open(socket) {
            socket.data = new AnswerCounter();
            socket.write(request);
          },
          data(socket, chunk) {
            const ended = socket.data.take(chunk);
            if (ended === 0) return;
            requests += ended;
            if (performance.now() < end) socket.write(request);
          },
          error: (_socket, error) => failed.reject(error),
        },
      }),
    ),
  );

  await Promise.race([Bun.sleep(plan.seconds * 1000), failed.promise]);
  for (const socket of sockets) socket.terminate();
  return { requests, seconds: (performance.now() - start) / 1000 };
}
