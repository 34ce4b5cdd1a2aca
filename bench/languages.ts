import { within } from '@halyard/testing';
import { CLIENTS, prepareClient } from '../interop/clients.ts';
import { LANGUAGES, type Language } from '../interop/languages.ts';
import { prepare } from '../interop/programs.ts';
import { ProviderProgram } from '../interop/protocol.ts';
import { attempt, type Bench } from './bench.ts';
import { delaysAt, timeChanges } from './changes.ts';
import { mebibytes, milliseconds, spread, times } from './format.ts';
import { pin } from './machine.ts';
import { ENVIRONMENT, type FilledNode, openFilled, PROJECT } from './node.ts';
import { openArrivals } from './raw-stream.ts';
import { inTurn } from './rounds.ts';
import { type Row, rowOf } from './row.ts';
import { median, percentile } from './statistics.ts';

/** Flags in the large environment; the small one has one, which changes. */
const FLAGS = 10_000;
const SMALL = 'staging';
/** A switch in both environments, which is read. */
const KEY = 'switch';
const PLAN = { warmUp: 10, count: 100 };
/** A program is compiled first. */
const PATIENCE_MS = 300_000;
/** How long reads are timed in each round. */
const ROUND_MS = 1_000;
const ROUNDS = 3;

/** The provider of our client and the one for OFREP of the same language. */
const PAIRS = [
  { name: 'TypeScript', memory: 'halyard', ofrep: 'javascript' },
  { name: 'Python', memory: 'clients/python', ofrep: 'python' },
  { name: 'Go', memory: 'clients/go', ofrep: 'go' },
  { name: 'Java', memory: 'clients/java', ofrep: 'java' },
] as const;

/** A node with both environments. Its key opens both. */
interface Filled {
  readonly node: FilledNode;
  readonly key: string;
  /** The large map as text. */
  readonly mapBytes: number;
}

/** What reading from memory costs in each language, beside OFREP in the same language, and how soon changes are read. */
export async function measureLanguages(bench: Bench): Promise<readonly Row[]> {
  await using node = await openFilled(bench, FLAGS);
  for (const environment of [ENVIRONMENT, SMALL]) {
    await node.management.putState(PROJECT, environment, KEY, { enabled: true });
  }
  const { key } = await node.management.createKey(PROJECT, [ENVIRONMENT, SMALL]);
  const map = await fetch(node.requests.all.url, { headers: node.headers });
  const filled = { node, key, mapBytes: (await map.bytes()).length };

  const rows: Row[] = [];
  for (const { name, memory, ofrep } of PAIRS) {
    // A language without its tools, or whose programs fail, costs its own rows only.
    const add = async (what: string, work: () => Promise<Row>) => {
      bench.say(`languages: ${name}, ${what}`);
      rows.push(...[(await attempt(bench, `languages: ${name}, ${what}`, work, PATIENCE_MS)) ?? []].flat());
    };
    await add('memory', () => opened(memory, (client) => measureMemory(filled, name, client)));
    await add('changes', () => opened(memory, (client) => measureChanges(filled, name, client)));
    await add('reads', () =>
      opened(memory, (client) =>
        opened(ofrep, (other) => measureReads(bench, filled, { name, client, ofrep: other })),
      ),
    );
  }
  return rows;
}

/** Builds and starts a program for as long as it is used. Rejects with what is missing on this machine. */
async function opened<T>(folder: string, use: (program: ProviderProgram) => Promise<T>): Promise<T> {
  const language = [...LANGUAGES, ...CLIENTS].find((each): each is Language => each.folder === folder);
  if (language === undefined) throw new Error(`there is no program ${folder}`);
  const client = CLIENTS.find((each) => each.folder === folder);
  const prepared = client === undefined ? await prepare(language) : await prepareClient(client);
  if (typeof prepared === 'string') throw new Error(prepared);
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
  const taken = (await program.memory()) - before;
  return rowOf(`${name}: memory of ${FLAGS} flags`, mebibytes, taken, {
    beside: ['their map as text', filled.mapBytes],
  });
}

/** A bare reader of the stream hears of the same changes. */
async function measureChanges(filled: Filled, name: string, program: ProviderProgram): Promise<Row> {
  const { node, key } = filled;
  let heard = Promise.withResolvers<number>();
  let wanted = -1;
  await connect(filled, program, SMALL);
  await program.watch(KEY, ({ value }) => {
    if (value === wanted) heard.resolve(performance.now());
  });
  const url = `${node.url}/v1/stream?env=${SMALL}`;
  const lines = {
    next: () => {
      heard = Promise.withResolvers();
      return within('the line of a change', heard.promise);
    },
    close: () => {},
  };
  const frames = await openArrivals({ url, headers: { 'X-Service-Key': key } });
  const change = (value: number) => {
    wanted = value;
    return node.management.putState(PROJECT, SMALL, KEY, { enabled: true, value });
  };

  const changes = await timeChanges([lines, frames], change, PLAN);
  const client = delaysAt(0, changes);
  return rowOf(`${name}: from sending a change to the line of the program that reads it`, spread, client, {
    by: median,
    beside: ['a bare reader of the stream', delaysAt(1, changes)],
    goal: { 'p99 < 1 s': percentile(client, 0.99) },
  });
}

/** Both read the same flag by the same SDK, in turn. */
async function measureReads(
  { machine }: Bench,
  filled: Filled,
  { name, client, ofrep }: { name: string; client: ProviderProgram; ofrep: ProviderProgram },
): Promise<Row> {
  for (const program of [client, ofrep]) {
    await pin(machine, program.pid, 'load');
    await connect(filled, program, ENVIRONMENT);
  }
  const rounds = await inTurn([client, ofrep], ROUNDS, (program) => program.time(KEY, ROUND_MS));
  const [memory = [], requests = []] = rounds.values();
  return rowOf(`${name}: a read with OpenFeature, from memory`, milliseconds, median(memory), {
    beside: ['by OFREP, a request each', median(requests)],
    // As a rate: more is better.
    ratio: (share) => times(1 / share),
  });
}
