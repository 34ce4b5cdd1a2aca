import type { Bench } from './bench.ts';
import { timeChanges } from './changes.ts';
import { milliseconds } from './format.ts';
import { ENVIRONMENT, flagKey, openFilled, openNode, PROJECT } from './node.ts';
import { openArrivals } from './raw-stream.ts';
import { type Row, rowOf } from './row.ts';
import { median, percentile } from './statistics.ts';

const FLAGS = 1000;
const HOPS = 2;
const PLAN = { warmUp: 30, count: 300 };

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
  const change = (value: number) =>
    origin.management.putState(PROJECT, ENVIRONMENT, flagKey(0), { enabled: true, value });
  const changes = await timeChanges(streams, change, PLAN);

  return Array.from({ length: HOPS }, (_, hop) => {
    const delays = changes.map(({ arrivedAt }) => (arrivedAt[hop + 1] ?? 0) - (arrivedAt[hop] ?? 0));
    const middle = median(delays);
    return rowOf(
      `relay: from a frame of ${FLAGS} flags to the same behind hop ${hop + 1}`,
      (ms) => `median ${milliseconds(ms)}, p99 ${milliseconds(percentile(delays, 0.99))}`,
      middle,
      { goal: 'median < 5 ms' },
    );
  });
}
