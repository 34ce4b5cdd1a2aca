import { brotliCompressSync } from 'node:zlib';
import { Management, startTcpProxy, temporaryFolder, within } from '@halyard/testing';
import { buildPackage } from '../packages/client/scripts/build.ts';
import { createClient, type FlagsClient } from '../packages/client/src/index.ts';
import { type Bench, PATIENCE_MS } from './bench.ts';
import { milliseconds } from './format.ts';
import { ENVIRONMENT, fill, openNode, PROJECT } from './node.ts';
import { inTurn } from './rounds.ts';
import { type Row, rowOf } from './row.ts';
import { median } from './statistics.ts';

const KEYS = Array.from({ length: 1_000 }, (_, index) => `flag-${index}`);
const READS = 2_000_000;
const ROUNDS = 15;
const RESETS = 10;
const OUTAGES = 2;
/** What a read of the client may take beyond that of a plain member, in nanoseconds. */
const READ_NS = 15;

/** The client library: what a read costs, how soon it finds a lost server again, and what it weighs. */
export async function measureClient(bench: Bench): Promise<readonly Row[]> {
  bench.say('client: sizes');
  using folder = temporaryFolder();
  const built = folder.file('built');
  await buildPackage(built);
  const sizes = await measureSizes(built, folder.file('entry.ts'));

  await using node = await openNode(bench);
  const management = new Management(node);
  const states = KEYS.map((key, index) => ({ key, state: { enabled: index % 2 === 0, value: index } }));
  const headers = await fill(management, states);
  const options = { apiKey: headers['X-Service-Key'] ?? '', environment: ENVIRONMENT, baseUrl: node.url };

  bench.say('client: reads');
  // Reads are those of the package as it is published.
  const library: typeof import('../packages/client/src/index.ts') = await import(`${built}/index.js`);
  const reads = await measureReads(library.createClient, options);
  await management.request('PATCH', `/api/projects/${PROJECT}`, { body: { usage: true } });
  reads.push(await measureReported(library.createClient, options));
  bench.say('client: propagation and recovery, about a minute');
  return [
    ...reads,
    await measurePropagation(options, management),
    ...(await measureRecovery(options)),
    ...sizes,
  ];
}

/** What every client here is made with. */
interface Options {
  readonly apiKey: string;
  readonly environment: string;
  readonly baseUrl: string;
}

async function measureReads(create: typeof createClient, options: Options): Promise<Row[]> {
  await using client = create(options);
  await within('the first map', client.ready());

  const plain: Record<string, { readonly enabled: boolean }> = { ...client.all() };
  let sum = 0;
  const reference = nanosecondsOf((key) => {
    if (plain[key]?.enabled) sum++;
  });
  const subjects: Readonly<Record<string, (key: string) => void>> = {
    'isEnabled(key)': (key) => {
      if (client.isEnabled(key)) sum++;
    },
    'getValue(key, 0)': (key) => {
      sum += client.getValue(key, 0);
    },
    'isEnabled(key) of a flag that is absent': () => {
      if (client.isEnabled('absent')) sum++;
    },
  };
  const rows = Object.entries(subjects).map(([what, read]) => {
    return readRow(`client: ${what}`, nanosecondsOf(read), 'a member of a plain object', reference);
  });

  const perRead = bytesPerRead(() => KEYS.forEach((key) => void client.isEnabled(key)), KEYS.length);
  const allocated = (count: number) => `${count.toFixed(3)} bytes`;
  rows.push(rowOf('client: memory allocated by a read', allocated, perRead, { goal: '< 0.1 bytes' }));
  // What was read is used, or the engine might leave the reads out.
  return sum >= 0 ? rows : [];
}

/** Reads by a client whose reads are counted, in turn with one that does not report. */
async function measureReported(create: typeof createClient, options: Options): Promise<Row> {
  await using counted = create(options);
  await using silent = create({ ...options, reportUsage: false });
  for (const client of [counted, silent]) await within('the first map', client.ready());
  const rounds = await inTurn([counted, silent], 5, async (client) =>
    nanosecondsOf((key) => void client.isEnabled(key)),
  );
  const [on = [], off = []] = rounds.values();
  const what = 'client: isEnabled(key) while reads are reported';
  return readRow(what, median(on), 'reportUsage: false', median(off));
}

function readRow(what: string, ns: number, reference: string, referenceNs: number): Row {
  return rowOf(what, (figure) => `${figure.toFixed(1)} ns`, ns, {
    beside: [reference, referenceNs],
    goal: { [`<= ${READ_NS} ns beyond it`]: ns - referenceNs },
  });
}

/** The median over some rounds: other work on the machine makes single rounds slow. */
function nanosecondsOf(read: (key: string) => void): number {
  const rounds = Array.from({ length: ROUNDS }, () => {
    const start = performance.now();
    for (let i = 0; i < READS / ROUNDS; i++) read(KEYS[i % KEYS.length] ?? '');
    return ((performance.now() - start) * 1e6 * ROUNDS) / READS;
  });
  return median(rounds);
}

function bytesPerRead(readAll: () => void, count: number): number {
  for (let i = 0; i < 200; i++) readAll();
  Bun.gc(true);
  const before = process.memoryUsage().heapUsed;
  for (let i = 0; i < 2_000; i++) readAll();
  const after = process.memoryUsage().heapUsed;
  return Math.max(0, after - before) / (2_000 * count);
}

async function measurePropagation(options: Options, management: Management): Promise<Row> {
  await using client = createClient(options);
  await within('the first map', client.ready());
  const times: number[] = [];
  for (let i = 0; i < 50; i++) {
    const start = performance.now();
    const seen = until(client, 'the value written', () => client.getValue('moving', -1) === i);
    await management.putState(PROJECT, ENVIRONMENT, 'moving', { enabled: true, value: i });
    await seen;
    times.push(performance.now() - start);
  }
  const what = 'client: from the write’s request to the new value read';
  return rowOf(what, (ms) => `${ms.toFixed(1)} ms (median of 50)`, median(times));
}

async function measureRecovery(options: Options): Promise<Row[]> {
  const proxy = await startTcpProxy({ port: Number(new URL(options.baseUrl).port) });

  // A new client each time: one that was healthy for less than a minute would wait longer and longer.
  const recover = async (fault: () => void, downMs: number): Promise<number> => {
    await using client = createClient({
      ...options,
      baseUrl: `http://127.0.0.1:${proxy.port}`,
      staleAfterMs: 0,
      logger: false,
    });
    await within('the first map', client.ready());
    const lost = until(client, 'the end of the stream', () => client.status !== 'ready');
    fault();
    // The client is ready with an answer of REST too: then its stream came after the fault, and needs another.
    const again = setInterval(fault, 1_000);
    await lost.finally(() => clearInterval(again));
    await Bun.sleep(downMs);
    proxy.restore();
    const start = performance.now();
    await until(client, 'the recovery', () => client.status === 'ready');
    return performance.now() - start;
  };

  const resets: number[] = [];
  for (let i = 0; i < RESETS; i++) resets.push(await recover(() => proxy.reset(), 0));
  const outages: number[] = [];
  for (let i = 0; i < OUTAGES; i++) outages.push(await recover(() => proxy.refuse(), 10_000));
  await proxy.close();

  const what = 'client: current again after';
  return [
    rowOf(`${what} a reset connection, slowest of ${RESETS}`, milliseconds, Math.max(...resets), {
      goal: '<= 35 s',
    }),
    rowOf(`${what} 10 s without a server, slowest of ${OUTAGES}`, milliseconds, Math.max(...outages), {
      goal: '<= 35 s',
    }),
  ];
}

/** Resolves once it holds, checked now and after each change that the client reports; rejects with `what` after a minute. */
async function until(client: FlagsClient, what: string, holds: () => boolean): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const check = () => {
    if (holds()) resolve();
  };
  const stops = [client.onChange(check), client.onStatus(check)];
  check();
  try {
    await within(what, promise, PATIENCE_MS);
  } finally {
    for (const stop of stops) stop();
  }
}

async function measureSizes(built: string, entry: string): Promise<Row[]> {
  const inBytes = (count: number) => `${count} bytes`;
  const core = `export { createClient, FlagsError } from '${built}/index.js';`;
  const alone = await compressedSize(entry, core);
  const rows = [
    rowOf('client: core, minified and compressed (brotli)', inBytes, alone, { goal: '<= 5120 bytes' }),
  ];
  for (const [name, limit] of [
    ['react', 1024],
    ['openfeature/server', 2048],
    ['openfeature/web', 2048],
  ] as const) {
    const size = (await compressedSize(entry, `${core} export * from '${built}/${name}.js';`)) - alone;
    rows.push(rowOf(`client: ${name}, beside the core`, inBytes, size, { goal: `<= ${limit} bytes` }));
  }
  return rows;
}

async function compressedSize(entry: string, source: string): Promise<number> {
  await Bun.write(entry, source);
  const result = await Bun.build({
    entrypoints: [entry],
    minify: true,
    target: 'browser',
    external: ['react', '@openfeature/*'],
    // The part that only pages load is a file of its own, as in the test of the package.
    splitting: true,
    modulePreload: false,
    naming: { chunk: '[name]-0a1b2c3d.js' },
  });
  const loaded = result.outputs.find(({ kind }) => kind === 'entry-point');
  return brotliCompressSync((await loaded?.text()) ?? '').length;
}
