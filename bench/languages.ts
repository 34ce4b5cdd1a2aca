import { type Management, type NodeProcess, startNode, temporaryFolder } from '@halyard/testing';
import { CLIENTS, prepareClient } from '../interop/clients.ts';
import { LANGUAGES, type Language } from '../interop/languages.ts';
import { type PreparedProgram, prepare } from '../interop/programs.ts';
import { ProviderProgram } from '../interop/protocol.ts';
import type { Bench } from './bench.ts';
import { ENVIRONMENT, fillNode, PROJECT } from './fixture.ts';
import { mebibytes, milliseconds, times, verdict } from './format.ts';
import { pin } from './machine.ts';
import { openRawStream } from './raw-stream.ts';
import type { Row } from './row.ts';
import { median, percentile } from './statistics.ts';
import { within } from './within.ts';

/** Flags in the large environment. */
const FLAGS = 10_000;

/** The environment with one flag, which changes. */
const SMALL = 'staging';
/** A switch in both environments, which is read. */
const KEY = 'switch';

const WARM_UP = 10;
const CHANGES = 100;

/** How long reads are timed in each round, and before the first. */
const ROUND_MS = 1_000;
const ROUNDS = 3;

/** The provider of our client and the one for OFREP of the same language. */
const PAIRS = [
  { name: 'TypeScript', memory: 'halyard', ofrep: 'javascript' },
  { name: 'Python', memory: 'clients/python', ofrep: 'python' },
  { name: 'Go', memory: 'clients/go', ofrep: 'go' },
  { name: 'Java', memory: 'clients/java', ofrep: 'java' },
] as const;

/** A node with both environments, and a key of both. */
interface Filled {
  readonly node: NodeProcess;
  readonly management: Management;
  readonly key: string;
  /** The large map as text. */
  readonly mapBytes: number;
}

/** What reading from memory costs in each language, beside OFREP in the same language, and how soon changes are read. */
export async function measureLanguages(bench: Bench): Promise<readonly Row[]> {
  using folder = temporaryFolder();
  const node = await startNode({ dataFolder: folder.path });
  try {
    const filled = await fill(node);
    const rows: Row[] = [];
    for (const pair of PAIRS) rows.push(...(await measurePair(bench, filled, pair)));
    return rows;
  } finally {
    await node.stop();
  }
}

async function fill(node: NodeProcess): Promise<Filled> {
  const { management } = await fillNode(node, FLAGS);
  for (const environment of [ENVIRONMENT, SMALL])
    await management.putState(PROJECT, environment, KEY, { enabled: true });
  const { key } = await management.createKey(PROJECT, [ENVIRONMENT, SMALL]);

  const map = await fetch(`${node.url}/v1/flags?env=${ENVIRONMENT}`, { headers: { 'X-Service-Key': key } });
  return { node, management, key, mapBytes: (await map.bytes()).length };
}

/** A language without its tools, or whose programs fail, costs its own rows only. */
async function measurePair(bench: Bench, filled: Filled, pair: (typeof PAIRS)[number]): Promise<Row[]> {
  const rows: Row[] = [];
  const attempt = async (what: string, work: () => Promise<Row[]>) => {
    bench.say(`languages: ${pair.name}, ${what}`);
    try {
      rows.push(...(await work()));
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      bench.leaveOut(`languages: ${pair.name}, ${what}: ${why}`);
    }
  };

  const client = programOf(pair.memory);
  await attempt('its client', async () => {
    const prepared = await preparedOf(client);
    const opened = (use: typeof measureMemory) =>
      openedBy(client, prepared, (program) => use(filled, pair.name, program));
    return [await opened(measureMemory), await opened(measureChanges)];
  });
  await attempt('reads', async () => {
    const ofrep = programOf(pair.ofrep);
    const [ours, theirs] = [await preparedOf(client), await preparedOf(ofrep)];
    return await openedBy(client, ours, (program) =>
      openedBy(ofrep, theirs, (other) => measureReads(bench, filled, pair.name, program, other)),
    );
  });
  return rows;
}

function programOf(folder: string): Language {
  const found = [...LANGUAGES, ...CLIENTS].find((each) => each.folder === folder);
  if (found === undefined) throw new Error(`there is no program ${folder}`);
  return found;
}

/** Builds a program. Rejects with what is missing on this machine. */
async function preparedOf(language: Language): Promise<PreparedProgram> {
  const client = CLIENTS.find(({ folder }) => folder === language.folder);
  const prepared = client === undefined ? await prepare(language) : await prepareClient(client);
  if (typeof prepared === 'string') throw new Error(prepared);
  return prepared;
}

async function openedBy<T>(
  language: Language,
  prepared: PreparedProgram,
  use: (program: ProviderProgram) => Promise<T>,
): Promise<T> {
  const { program } = await ProviderProgram.start(language.run, prepared);
  await using _ = program;
  return await use(program);
}

async function connect({ node, key }: Filled, program: ProviderProgram, environment: string): Promise<void> {
  await program.connect(`${node.url}/environments/${environment}`, { 'X-API-Key': key });
}

/** One flag first, so that what the client itself takes does not count. */
async function measureMemory(filled: Filled, name: string, program: ProviderProgram): Promise<Row> {
  await connect(filled, program, SMALL);
  const before = await program.memory();
  await connect(filled, program, ENVIRONMENT);
  const after = await program.memory();

  return {
    what: `${name}: memory of ${FLAGS} flags`,
    measured: mebibytes(after - before),
    reference: `their map as text: ${mebibytes(filled.mapBytes)}`,
    ratio: times((after - before) / filled.mapBytes),
    goal: '',
    verdict: '',
  };
}

/** A bare reader of the stream hears of the same changes. */
async function measureChanges(filled: Filled, name: string, program: ProviderProgram): Promise<Row> {
  const { node, management, key } = filled;
  const [client, stream]: [number[], number[]] = [[], []];
  let heard = Promise.withResolvers<number>();
  let framed = Promise.withResolvers<number>();
  let wanted = -1;

  await connect(filled, program, SMALL);
  await program.watch(KEY, ({ value }) => {
    if (value === wanted) heard.resolve(performance.now());
  });
  const headers = { 'X-Service-Key': key };
  const opened = Promise.withResolvers<void>();
  const raw = await openRawStream(`${node.url}/v1/stream?env=${SMALL}`, headers, {
    onFrame: () => {
      opened.resolve();
      framed.resolve(performance.now());
    },
    onEnd: (problem) => framed.reject(new Error(problem)),
  });
  await within(opened.promise, 'the first frame');

  for (let serial = 1; serial <= WARM_UP + CHANGES; serial++) {
    [heard, framed] = [Promise.withResolvers(), Promise.withResolvers()];
    wanted = serial;
    const sentAt = performance.now();
    const answered = management.putState(PROJECT, SMALL, KEY, { enabled: true, value: serial });
    const [heardAt, framedAt] = await within(
      Promise.all([heard.promise, framed.promise]),
      'the line and the frame of a change',
    );
    await answered;
    if (serial <= WARM_UP) continue;
    client.push(heardAt - sentAt);
    stream.push(framedAt - sentAt);
  }
  raw.close();

  return {
    what: `${name}: from sending a change to the line of the program that reads it`,
    measured: describe(client),
    reference: `a bare reader of the stream: ${describe(stream)}`,
    ratio: times(median(client) / median(stream)),
    goal: 'p99 < 1 s',
    verdict: verdict(percentile(client, 0.99) < 1_000),
  };
}

/** Both read the same flag by the same SDK, in turn. */
async function measureReads(
  bench: Bench,
  filled: Filled,
  name: string,
  client: ProviderProgram,
  ofrep: ProviderProgram,
): Promise<Row[]> {
  await pin(bench.machine, filled.node.pid, 'server');
  for (const program of [client, ofrep]) {
    await pin(bench.machine, program.pid, 'load');
    await connect(filled, program, ENVIRONMENT);
    await program.time(KEY, ROUND_MS); // warms up
  }

  const [memory, requests]: [number[], number[]] = [[], []];
  for (let round = 0; round < ROUNDS; round++) {
    memory.push(await client.time(KEY, ROUND_MS));
    requests.push(await ofrep.time(KEY, ROUND_MS));
  }

  const [fast, slow] = [median(memory), median(requests)];
  return [
    {
      what: `${name}: a read with OpenFeature, from memory`,
      measured: milliseconds(fast),
      reference: `by OFREP, a request each: ${milliseconds(slow)}`,
      ratio: times(slow / fast),
      goal: '',
      verdict: '',
    },
  ];
}

function describe(figures: readonly number[]): string {
  return `p99 ${milliseconds(percentile(figures, 0.99))}, median ${milliseconds(median(figures))}`;
}
