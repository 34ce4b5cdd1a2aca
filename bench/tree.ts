import { readFileSync } from 'node:fs';
import type { NodeProcess } from '@halyard/testing';
import type { Bench } from './bench.ts';
import { bytes, milliseconds, percent } from './format.ts';
import { ENVIRONMENT, type FilledNode, openFilled } from './node.ts';
import { idleShare, metered, proportionalBytes } from './process-figures.ts';
import { StreamReaders } from './readers.ts';
import type { Row } from './row.ts';
import { median } from './statistics.ts';
import type { ChangeTimes } from './workers/stream-reader.ts';

/**
 * How large a tree to start, at most: relays, streams of each, and the memory that all relays together may take. Fewer are started where
 * memory or time ends before, and the table says how many there were. A variable of the environment changes each of them.
 */
const SIZE = {
  relays: Number(process.env.BENCH_TREE_RELAYS ?? 300),
  streams: Number(process.env.BENCH_TREE_STREAMS ?? 100),
  bytes: Number(process.env.BENCH_TREE_MIB ?? 8192) * 1024 * 1024,
  /** How long relays are started, in milliseconds, so that the measurement has time. */
  startingMs: Number(process.env.BENCH_TREE_SECONDS ?? 150) * 1000,
} as const;

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
const IDLE_SECONDS = 3;

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
      await readers.open({ ...origin.stream, url: `${url}/v1/stream?env=${ENVIRONMENT}` }, SIZE.streams);
    }
    const streams = relays.length * SIZE.streams;
    const what = `${relays.length} relays in two tiers, ${streams} streams`;
    const rows = [
      { what: `${what}: memory of a relay before`, measured: bytes(memory / relays.length) },
      {
        what: `${what}: processor time of the node, idle`,
        measured: percent(await idleShare(origin.pids, IDLE_SECONDS)),
      },
    ];

    const times: ChangeTimes[] = [];
    const changing = metered(origin.pids, async () => {
      for (let serial = 0; serial < CHANGES; serial++) {
        times.push(await readers.change(origin.stream, serial));
      }
    });
    // A relay that has no processor for three seconds closes its streams, as it must.
    const problem = await changing.then(() => undefined, String);
    if (problem !== undefined) {
      bench.leaveOut(`changes to ${what}, after ${times.length} of them: ${problem}`);
      return rows;
    }

    const { cpuMs } = await changing;
    const [first, last] = [times.map(({ firstMs }) => firstMs), times.map(({ lastMs }) => lastMs)];
    return [
      ...rows,
      { what: `${what}: processor time of the node for a change`, measured: milliseconds(cpuMs / CHANGES) },
      {
        what: `${what}: from the request to the frame on the first and on the last stream`,
        measured:
          `median ${milliseconds(median(first))} and ${milliseconds(median(last))}, ` +
          `slowest ${milliseconds(Math.max(...last))}`,
      },
    ];
  } finally {
    await Promise.all(relays.map((relay) => relay.kill()));
  }
}

/** Starts relays until there are enough, or memory or time is over. */
async function startRelays(bench: Bench, origin: FilledNode, relays: NodeProcess[]): Promise<void> {
  const { token } = await origin.management.createRelayToken('tree');
  const until = performance.now() + SIZE.startingMs;
  while (relays.length < SIZE.relays) {
    const used = proportionalBytes(relays.map(({ pid }) => pid)) || 0;
    const isFull = used > SIZE.bytes || availableBytes() < LEFT_BYTES;
    const reason = performance.now() > until ? 'time' : isFull ? 'memory' : undefined;
    if (reason !== undefined) return bench.leaveOut(`relays beyond ${relays.length}, for want of ${reason}`);

    const many = Math.min(AT_ONCE, SIZE.relays - relays.length);
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
