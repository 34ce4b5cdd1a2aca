import { expect, test } from 'bun:test';
import { findImports, findRings, type Import, sourceFiles } from '@halyard/testing';

const SOURCE = import.meta.dir;

/** Which rooms a room may import from, itself aside. `nodes` composes them all and may import every one. */
const ARROWS: Readonly<Record<string, readonly string[]>> = {
  domain: [],
  storage: ['domain'],
  // The two planes know nothing of each other.
  evaluation: ['http', 'domain'],
  // What operations are made of, below the nouns, and what mounts them, above.
  management: ['storage', 'http', 'domain'],
  nouns: ['management', 'storage', 'http', 'domain'],
  app: ['nouns', 'management', 'http', 'domain'],
  http: ['domain'],
  workers: ['domain'],
  observability: ['evaluation', 'domain'],
  config: ['domain'],
  cli: ['config', 'observability', 'domain'],
  main: ['cli', 'config'],
};

/** Files that may be imported from everywhere: they hold facts and import no room. */
const FACTS = new Set(['version.ts', 'http/docs/pages.ts', 'domain/postgres-url.ts']);

/** Types of nouns that every request carries: its session, and the writers of states. */
const OF_REQUESTS = new Set([
  'management/api/management-app.ts -> nouns/people/operator.ts',
  'management/context.ts -> nouns/states/state-writers.ts',
]);

function roomOf(file: string): string {
  return file.replace(/(\/.*|\.ts)$/, '');
}

function isAllowed({ from, to, isValue }: Import): boolean {
  const [room, target] = [roomOf(from), roomOf(to)];
  if (room === 'nodes' || room === target || FACTS.has(to) || to.startsWith('../')) return true;
  if (OF_REQUESTS.has(`${from} -> ${to}`)) return true;
  // The records of the API that commands talk to, as types.
  if (room === 'cli' && to === 'app/types.ts') return !isValue;
  // It converts files without a node.
  if (from === 'cli/convert.ts' && target === 'nouns') return true;
  // It works on the database of an installation without a node.
  if (from === 'cli/backup.ts' && /^(storage|nouns)$/.test(target)) return true;
  // These commands become nodes, and a thread of a node begins in main.
  if (target === 'nodes') return /^(main\.|cli\/(serve|relay\.))/.test(from);
  return ARROWS[room]?.includes(target) ?? false;
}

test('imports between the rooms of the server point one way', async () => {
  const imports = await findImports(SOURCE);
  expect(imports.length).toBeGreaterThan(50);
  expect(imports.filter((each) => !isAllowed(each)).map(({ from, to }) => `${from} -> ${to}`)).toEqual([]);
});

test('the tools of agents and their library are loaded by nothing but what serves agents, and only then', async () => {
  const early: string[] = [];
  for await (const [file, text] of sourceFiles(SOURCE)) {
    if (!file.startsWith('cli/mcp/') && /^import [^;]*from '@modelcontextprotocol\//m.test(text))
      early.push(file);
  }
  const isTool = (file: string) => file.startsWith('cli/mcp/');
  const serving = (await findImports(SOURCE)).filter(({ from, to }) => isTool(to) && !isTool(from));
  expect([...early, ...serving.filter(({ isLazy }) => !isLazy)]).toEqual([]);
  expect([...new Set(serving.map(({ from }) => from))].sort()).toEqual([
    'cli/mcp.ts',
    'nodes/mcp-endpoint.ts',
  ]);
});

/** What the management plane, relays and webhooks need, and the first answer of a flag does not. */
const LATER =
  /^import (?!type )[^;]*from '(zod|@asteasolutions\/.*|openid-client|pg|yaml|prom-client|node:(https?|zlib))'/m;

test('a node that starts loads no library that its first answer does not need', async () => {
  const imports = await findImports(SOURCE);
  const loaded = new Set(['main.ts', 'cli/serve.ts', 'nodes/full.ts']);
  // A set also visits what is added on the way.
  for (const file of loaded)
    for (const { from, to, isValue } of imports) if (isValue && from === file) loaded.add(to);
  expect(loaded.size).toBeGreaterThan(100);

  const early: string[] = [];
  for await (const [file, text] of sourceFiles(SOURCE))
    if (loaded.has(file) && LATER.test(text)) early.push(file);
  expect(early).toEqual([]);
});

test('every room has a rule', async () => {
  const rooms = new Set((await findImports(SOURCE)).map(({ from }) => roomOf(from)));
  // One wires everything, the other is a fact.
  for (const room of ['nodes', 'version']) rooms.delete(room);
  expect([...rooms].filter((room) => ARROWS[room] === undefined)).toEqual([]);
});

test('states are written by one draft, which pauses plans; what it removes, `changeStates` interrupts', async () => {
  const drafting: string[] = [];
  const writing: string[] = [];
  for await (const [file, text] of sourceFiles(SOURCE)) {
    if (text.includes('new StateDraft(')) drafting.push(file);
    if (/(INTO|UPDATE) flag_states|table: 'flag_states'/.test(text)) writing.push(file);
  }
  // One for a change of any kind; the other groups changes of single states, and can remove none.
  expect(drafting.sort()).toEqual(['nouns/states/change-states.ts', 'nouns/states/state-writers.ts']);
  expect(writing).toEqual(['nouns/states/state-table.ts']);
});

/** The folder of a noun that a file belongs to; `undefined` for one that belongs to none. */
function nounOf(file: string): string | undefined {
  return /^nouns\/([^/]+)\//.exec(file)?.[1];
}

/** 1: what a noun stores, reads and shows. 2: its rules. 3: what a request or a timer calls. */
function storeyOf(file: string): number {
  if (/-(routes|runner)\.ts$/.test(file)) return 3;
  if (/-(table|query|schemas)\.ts$/.test(file)) return 1;
  return 2;
}

test('a noun is known to the rules, routes and runners of others by its rules, tables and records alone', async () => {
  const crossing = (await findImports(SOURCE)).filter(({ from, to }) => {
    const [noun, other] = [nounOf(from), nounOf(to)];
    return noun !== undefined && other !== undefined && noun !== other;
  });
  expect(crossing.length).toBeGreaterThan(20);
  const wrong = crossing.filter(({ from, to }) => storeyOf(from) < 2 || storeyOf(to) > 2);
  expect(wrong.map(({ from, to }) => `${from} -> ${to}`)).toEqual([]);
});

test('inside a noun, tables know records alone', async () => {
  const imports = await findImports(SOURCE);
  const isRecord = (file: string) =>
    imports.every(({ from, to }) => from !== file || roomOf(to) === 'domain');
  const wrong = imports.filter(({ from, to }) => {
    if (!from.startsWith('nouns/') || nounOf(from) !== nounOf(to)) return false;
    return storeyOf(from) < storeyOf(to) && !isRecord(to);
  });
  expect(wrong.map(({ from, to }) => `${from} -> ${to}`)).toEqual([]);
});

test('of what stands on storage, only tables and queries have SQL, and only tables write the journal', async () => {
  const wrong: string[] = [];
  for await (const [file, text] of sourceFiles(SOURCE)) {
    if (!/^(nouns|management|app)\//.test(file)) continue;
    if (/\.query[<(]/.test(text) && !/-(table|query)\.ts$/.test(file)) wrong.push(`${file}: SQL`);
    if (text.includes('.journal.') && !file.endsWith('-table.ts')) wrong.push(`${file}: journal`);
  }
  expect(wrong).toEqual([]);
});

test('no files of the server import each other in a ring', async () => {
  expect(findRings(await findImports(SOURCE))).toEqual([]);
});
