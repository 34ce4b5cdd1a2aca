import { readFileSync } from 'node:fs';
import { type NodeProcess, startNode } from '@halyard/testing';
import type { Bench } from './bench.ts';
import { changeRequest } from './changes.ts';
import { ENVIRONMENT, type Fixture, fillNode } from './fixture.ts';
import { bytes, milliseconds, percent } from './format.ts';
import { cpuTimeMs, proportionalBytes } from './process-figures.ts';
import type { Row } from './row.ts';
import { median } from './statistics.ts';
import { Worker } from './worker.ts';
import type { ChangeTimes, StreamReaderCommands } from './workers/stream-reader.ts';

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
const IDLE_MS = 3000;

/** Real relays in two tiers, each with real streams: from a change to its frame on the last of them. */
export async function measureTree(bench: Bench): Promise<readonly Row[]> {
  if (process.platform !== 'linux') {
    bench.leaveOut('the tree: only Linux tells how much memory processes share');
    return [];
  }

  const nodes: NodeProcess[] = [await startNode()];
  const readers: Worker<StreamReaderCommands>[] = [];
  try {
    const [origin] = nodes;
    if (origin === undefined) return [];
    const fixture = await fillNode(origin, FLAGS);
    await startRelays(bench, nodes, fixture);
    const relays = nodes.slice(1);
    const memory = proportionalBytes(relays.map(({ pid }) => pid));
    bench.say(`tree: ${relays.length} relays take ${bytes(memory)}`);

    const streams = await openStreams(bench, readers, relays, fixture.headers);
    bench.say(`tree: ${streams} streams are open`);
    const what = `${relays.length} relays in two tiers, ${streams} streams`;
    const rows = [row(`${what}: memory of a relay before`, bytes(memory / relays.length))];
    const idle = await shareOf(origin, () => Bun.sleep(IDLE_MS));
    rows.push(row(`${what}: processor time of the node, idle`, percent(idle)));

    const cpuBefore = cpuTimeMs(origin.pid);
    const times: ChangeTimes[] = [];
    try {
      for (let serial = 0; serial < CHANGES; serial++) times.push(await changeSeen(readers, origin, serial));
    } catch (error) {
      // A relay that has no processor for three seconds closes its streams, as it must.
      bench.leaveOut(`changes to ${what}, after ${times.length} of them: ${error}`);
      return rows;
    }
    const cpuMs = (cpuTimeMs(origin.pid) - cpuBefore) / CHANGES;
    const last = times.map(({ lastMs }) => lastMs);
    return [
      ...rows,
      row(`${what}: processor time of the node for a change`, milliseconds(cpuMs)),
      row(
        `${what}: from the request to the frame on the first and on the last stream`,
        `median ${milliseconds(median(times.map(({ firstMs }) => firstMs)))} and ${milliseconds(median(last))}, ` +
          `slowest ${milliseconds(Math.max(...last))}`,
      ),
    ];
  } finally {
    for (const reader of readers) await reader[Symbol.asyncDispose]();
    await Promise.all(nodes.map((node) => node.kill()));
  }
}

/** Starts relays until there are enough, or memory or time is over. */
async function startRelays(bench: Bench, nodes: NodeProcess[], { management }: Fixture): Promise<void> {
  const { token } = await management.createRelayToken('tree');
  const until = performance.now() + SIZE.startingMs;
  for (let count = 0; count < SIZE.relays; count += AT_ONCE) {
    const used = proportionalBytes(nodes.slice(1).map(({ pid }) => pid)) || 0;
    const reason =
      performance.now() > until
        ? 'time'
        : used > SIZE.bytes || availableBytes() < LEFT_BYTES
          ? 'memory'
          : undefined;
    if (reason !== undefined) return bench.leaveOut(`relays beyond ${count}, for want of ${reason}`);

    const numbers = Array.from(
      { length: Math.min(AT_ONCE, SIZE.relays - count) },
      (_, index) => count + index,
    );
    const started = numbers.map((number) => {
      const upstream = nodes[number < FIRST_TIER ? 0 : 1 + (number % FIRST_TIER)]?.url ?? '';
      return startNode({ relay: { upstream, token }, timeoutMs: 60_000 });
    });
    nodes.push(...(await Promise.all(started)));
    if (count % 50 === 0) bench.say(`tree: ${nodes.length - 1} relays`);
  }
}

async function openStreams(
  { machine, say }: Bench,
  readers: Worker<StreamReaderCommands>[],
  relays: readonly NodeProcess[],
  headers: Fixture['headers'],
): Promise<number> {
  let room = 0;
  for (const { url } of relays) {
    if (room < SIZE.streams) {
      readers.push(await Worker.start<StreamReaderCommands>(machine, 'stream-reader.ts', 'load'));
      room = STREAMS_OF_READER;
      say(`tree: streams of reader ${readers.length}`);
    }
    const address = `${url}/v1/stream?env=${ENVIRONMENT}`;
    await readers.at(-1)?.ask('open', { url: address, headers, count: SIZE.streams });
    room -= SIZE.streams;
  }
  return relays.length * SIZE.streams;
}

/** The first reader makes the change; the others wait for it. */
async function changeSeen(
  readers: readonly Worker<StreamReaderCommands>[],
  origin: NodeProcess,
  serial: number,
): Promise<ChangeTimes> {
  const [first, ...others] = readers;
  if (first === undefined) throw new Error('there is no reader');
  const waiting = others.map((reader) => reader.ask('await', { count: 1 }));
  for (const each of waiting) {
    each.catch(() => {
      // The first reader may fail before; here it must not count as unhandled.
    });
  }
  // They must be ready before it is made.
  await Bun.sleep(50);
  const startedAt = performance.now();
  const own = await first.ask('change', changeRequest(origin, serial));
  await Promise.all(waiting);
  return { firstMs: own.firstMs, lastMs: Math.max(own.lastMs, performance.now() - startedAt) };
}

async function shareOf({ pid }: NodeProcess, work: () => Promise<void>): Promise<number> {
  const [before, startedAt] = [cpuTimeMs(pid), performance.now()];
  await work();
  return (cpuTimeMs(pid) - before) / (performance.now() - startedAt);
}

function availableBytes(): number {
  const kilobytes = /^MemAvailable:\s+(\d+)/m.exec(readFileSync('/proc/meminfo', 'utf8'))?.[1];
  return Number(kilobytes) * 1024;
}

function row(what: string, measured: string): Row {
  return { what, measured, reference: '', ratio: '', goal: '', verdict: '' };
}
