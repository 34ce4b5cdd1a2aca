import type { Bench } from './bench.ts';
import { milliseconds } from './format.ts';
import { ENVIRONMENT, flagKey, openFilled, openNode, PROJECT } from './node.ts';
import { openArrivals } from './raw-stream.ts';
import type { Row } from './row.ts';
import { percentile } from './statistics.ts';

const FLAGS = 1000;
const HOPS = 2;
const WARM_UP = 30;
const CHANGES = 300;

/** The goal of one hop at the median, in milliseconds. */
const GOAL_MS = 5;

/** How much later a change arrives behind one relay, and behind two in a row. All of them share the core of servers. */
export async function measureRelay(bench: Bench): Promise<readonly Row[]> {
  bench.say('relay: a node and two relays in a row');
  await using nodes = new AsyncDisposableStack();
  const origin = nodes.use(await openFilled(bench, FLAGS));
  const { token } = await origin.management.createRelayToken('bench');
  const urls = [origin.url];
  for (let hop = 0; hop < HOPS; hop++) {
    const upstream = urls[hop] ?? '';
    urls.push(nodes.use(await openNode(bench, { relay: { upstream, token } })).url);
  }

  const { headers } = origin;
  const streams = await Promise.all(
    urls.map((url) => openArrivals({ url: `${url}/v1/stream?env=${ENVIRONMENT}`, headers })),
  );
  const delays = Array.from({ length: HOPS }, (): number[] => []);
  for (let serial = 0; serial < WARM_UP + CHANGES; serial++) {
    const arrivals = Promise.all(streams.map((stream) => stream.next()));
    const state = { enabled: true, value: serial };
    await origin.management.putState(PROJECT, ENVIRONMENT, flagKey(0), state);
    const at = await arrivals;
    if (serial < WARM_UP) continue;
    for (const [hop, all] of delays.entries()) all.push((at[hop + 1] ?? 0) - (at[hop] ?? 0));
  }
  for (const stream of streams) stream.close();

  return delays.map((all, hop) => {
    const median = percentile(all, 0.5);
    return {
      what: `relay: from a frame of ${FLAGS} flags to the same behind hop ${hop + 1}`,
      measured: `median ${milliseconds(median)}, p99 ${milliseconds(percentile(all, 0.99))}`,
      goal: `median < ${GOAL_MS} ms`,
      isReached: median < GOAL_MS,
    };
  });
}
