import { readFileSync } from 'node:fs';
import type { NodeProcess } from '@halyard/testing';
import { attempt, type Bench, PATIENCE_MS } from './bench.ts';
import { bytes, milliseconds } from './format.ts';
import { ENVIRONMENT, type FilledNode, openFilled } from './node.ts';
import { proportionalBytes } from './process-figures.ts';
import { type ChangeFigures, meteredChange, middleOf, StreamReaders } from './readers.ts';
import { type Row, rowOf } from './row.ts';

/** How large the tree is, at most. Fewer relays are started where memory or time ends before, and the rows say how many. */
const RELAYS = 300;
const STREAMS_OF_EACH = 100;
/** The memory that all relays together may take, in bytes, and how long they are started, so that the measurement has time. */
const MOST_BYTES = 8 * 1024 ** 3;
const STARTING_MS = 150_000;
/** Relays that follow the node; the others follow one of these. */
const FIRST_TIER = 10;
/** Relays that start at one time. */
const AT_ONCE = 5;
/** Memory that must be left to everything else on the machine, in bytes. */
const LEFT_BYTES = 4 * 1024 ** 3;
/** One process may open 20,000 files on many machines. */
const STREAMS_OF_READER = 10_000;
const FLAGS = 20;
const CHANGES = 10;

/** Real relays in two tiers, each with real streams: from a change to its frame on the last of them. On all cores. */
export async function measureTree(bench: Bench): Promise<readonly Row[]> {
  if (process.platform !== 'linux') {
    bench.leaveOut('the tree: only Linux tells how much memory processes share');
    return [];
  }

  const unpinned = { ...bench, machine: { ...bench.machine, canPin: false } };
  const relays: NodeProcess[] = [];
  await using readers = new StreamReaders(bench.machine, STREAMS_OF_READER, 'any');
  await using origin = await openFilled(unpinned, FLAGS);
  try {
    await startRelays(unpinned, origin, relays);
    const memory = proportionalBytes(relays.map(({ pid }) => pid));
    bench.say(`tree: ${relays.length} relays take ${bytes(memory)}`);
    for (const { url } of relays) {
      await readers.open({ ...origin.stream, url: `${url}/v1/stream?env=${ENVIRONMENT}` }, STREAMS_OF_EACH);
    }
    const streams = relays.length * STREAMS_OF_EACH;
    const what = `${relays.length} relays in two tiers, ${streams} streams`;
    const rows = [rowOf(`${what}: memory of a relay before`, bytes, memory / relays.length)];

    const changes: ChangeFigures[] = [];
    const change = async () => {
      for (let n = 0; n < CHANGES; n++) changes.push(await meteredChange(readers, origin, n));
    };
    // A relay that has no processor for three seconds closes its streams, as it must.
    await attempt(bench, `some changes to ${what}`, change, PATIENCE_MS);
    if (changes.length < CHANGES) return rows;

    const { firstMs, lastMs, cpuMs } = middleOf(changes);
    const slowest = Math.max(...changes.map((each) => each.lastMs));
    return [
      ...rows,
      rowOf(`${what}: processor time of the node for a change`, milliseconds, cpuMs),
      rowOf(
        `${what}: from the request to the frame on the first and on the last stream`,
        (ms) => `median ${milliseconds(ms)} and ${milliseconds(lastMs)}, slowest ${milliseconds(slowest)}`,
        firstMs,
      ),
    ];
  } finally {
    await Promise.all(relays.map((relay) => relay.kill()));
  }
}

/** Starts relays until there are enough, or memory or time is over. */
async function startRelays(bench: Bench, origin: FilledNode, relays: NodeProcess[]): Promise<void> {
  const { token } = await origin.management.createRelayToken('tree');
  const until = performance.now() + STARTING_MS;
  while (relays.length < RELAYS) {
    const used = proportionalBytes(relays.map(({ pid }) => pid)) || 0;
    const isFull = used > MOST_BYTES || availableBytes() < LEFT_BYTES;
    const reason = performance.now() > until ? 'time' : isFull ? 'memory' : undefined;
    if (reason !== undefined) return bench.leaveOut(`relays beyond ${relays.length}, for want of ${reason}`);

    const many = Math.min(AT_ONCE, RELAYS - relays.length);
    const started = Array.from({ length: many }, (_, index) => {
      const number = relays.length + index;
      const { url: upstream = origin.url } =
        (number < FIRST_TIER ? undefined : relays[number % FIRST_TIER]) ?? {};
      return bench.checkout.startNode({ relay: { upstream, token }, timeoutMs: 60_000 });
    });
    relays.push(...(await Promise.all(started)));
    if (relays.length % 50 === 0) bench.say(`tree: ${relays.length} relays`);
  }
}

function availableBytes(): number {
  const kilobytes = /^MemAvailable:\s+(\d+)/m.exec(readFileSync('/proc/meminfo', 'utf8'))?.[1];
  return Number(kilobytes) * 1024;
}
