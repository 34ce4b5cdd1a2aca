import { type NodeProcess, startNode } from '@halyard/testing';
import type { Bench } from './bench.ts';
import { ENVIRONMENT, fillNode, flagKey, PROJECT } from './fixture.ts';
import { milliseconds, verdict } from './format.ts';
import { openRawStream } from './raw-stream.ts';
import type { Row } from './row.ts';
import { percentile } from './statistics.ts';
import { within } from './within.ts';

const FLAGS = 1000;
const WARM_UP = 30;
const CHANGES = 300;

/** The goal of one hop at the median, in milliseconds. */
const GOAL_MS = 5;

/** How much later a change arrives behind one relay, and behind two in a row. */
export async function measureRelay(bench: Bench): Promise<readonly Row[]> {
  bench.say('relay: a node and two relays in a row');
  const nodes: NodeProcess[] = [await startNode()];
  const [origin] = nodes;
  if (origin === undefined) return [];

  try {
    const { management, headers } = await fillNode(origin, FLAGS);
    const { token } = await management.createRelayToken('bench');
    for (const hop of [0, 1]) {
      const upstream = nodes[hop]?.url ?? '';
      nodes.push(await startNode({ relay: { upstream, token } }));
    }

    const streams = await Promise.all(nodes.map((node) => openArrivals(node, headers)));
    const hops: number[][] = [[], []];
    for (let serial = 0; serial < WARM_UP + CHANGES; serial++) {
      const arrivals = Promise.all(streams.map((stream) => stream.next()));
      await management.putState(PROJECT, ENVIRONMENT, flagKey(0), { enabled: true, value: serial });
      const [first = 0, ...later] = await within(arrivals, 'the frames of a change');
      if (serial < WARM_UP) continue;
      later.forEach((at, index) => {
        hops[index]?.push(at - (index === 0 ? first : (later[index - 1] ?? 0)));
      });
    }

    for (const stream of streams) stream.close();
    return hops.map((delays, index) => {
      const median = percentile(delays, 0.5);
      return {
        what: `relay: from a frame of ${FLAGS} flags to the same behind hop ${index + 1}`,
        measured: `median ${milliseconds(median)}, p99 ${milliseconds(percentile(delays, 0.99))}`,
        reference: '',
        ratio: '',
        goal: `median < ${GOAL_MS} ms`,
        verdict: verdict(median < GOAL_MS),
      };
    });
  } finally {
    for (const node of nodes.reverse()) await node.stop();
  }
}

/** The moments at which frames begin to arrive, one after another. */
async function openArrivals(node: NodeProcess, headers: Readonly<Record<string, string>>) {
  let arrival = Promise.withResolvers<number>();
  let startedAt = 0;
  const opened = arrival.promise;
  const stream = await openRawStream(`${node.url}/v1/stream?env=${ENVIRONMENT}`, headers, {
    onFrameStart: () => {
      startedAt = performance.now();
    },
    onFrame: () => arrival.resolve(startedAt),
    onEnd: (problem) => arrival.reject(new Error(problem)),
  });
  await within(opened, 'the first frame');
  return {
    /** The next frame's arrival, from now on. */
    next: () => {
      arrival = Promise.withResolvers();
      return arrival.promise;
    },
    close: () => stream.close(),
  };
}
