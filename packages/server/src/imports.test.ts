import { expect, test } from 'bun:test';
import { relative } from 'node:path';

const SOURCE = import.meta.dir;

/** Which rooms a room may import from, itself aside. `nodes` composes them all and may import every one. */
const ARROWS: Readonly<Record<string, readonly string[]>> = {
  domain: [],
  storage: ['domain'],
  // The two planes know nothing of each other.
  evaluation: ['http', 'domain'],
  management: ['http', 'domain'],
  http: ['domain'],
  workers: ['domain'],
  observability: ['evaluation', 'domain'],
  config: ['domain'],
  cli: ['config', 'observability', 'domain'],
  main: ['cli', 'config'],
};

/** Files that may be imported from everywhere: they hold facts and import no room. */
const FACTS = new Set(['version.ts', 'http/docs/pages.ts', 'domain/postgres-url.ts']);

interface Import {
  readonly from: string;
  readonly to: string;
}

/** The source files of the server, tests and their fixtures (`test-*.ts`) aside, as paths below `src`, with their texts. */
async function* sourceFiles(): AsyncGenerator<readonly [file: string, text: string]> {
  for await (const file of new Bun.Glob('**/*.ts').scan(SOURCE)) {
    if (/(\.test|\.d)\.ts$|(^|\/)test-[^/]*\.ts$/.test(file)) continue;
    yield [file, await Bun.file(`${SOURCE}/${file}`).text()];
  }
}

/** Every relative import between the source files. */
async function findImports(): Promise<Import[]> {
  const found: Import[] = [];
  for await (const [file, text] of sourceFiles()) {
    for (const [, target = ''] of text.matchAll(/(?:from|import\()\s*'(\.[^']+)'/g)) {
      found.push({
        from: file,
        to: relative(SOURCE, Bun.fileURLToPath(new URL(target, `file://${SOURCE}/${file}`))),
      });
    }
  }
  return found;
}

function roomOf(file: string): string {
  return file.replace(/(\/.*|\.ts)$/, '');
}

function isAllowed({ from, to }: Import): boolean {
  const [room, target] = [roomOf(from), roomOf(to)];
  if (room === 'nodes' || room === target || FACTS.has(to) || to.startsWith('../')) return true;
  // These work on the database of an installation without a node.
  if (target === 'storage') return from === 'cli/backup.ts' || (ARROWS[room]?.includes(target) ?? false);
  // These commands become nodes, and a thread of a node begins in main.
  if (target === 'nodes') return /^(main\.|cli\/(serve|relay\.))/.test(from);
  return ARROWS[room]?.includes(target) ?? false;
}

test('imports between the rooms of the server point one way', async () => {
  const imports = await findImports();
  expect(imports.length).toBeGreaterThan(50);
  expect(imports.filter((each) => !isAllowed(each)).map(({ from, to }) => `${from} -> ${to}`)).toEqual([]);
});

test('every room has a rule', async () => {
  const rooms = new Set((await findImports()).map(({ from }) => roomOf(from)));
  // One wires everything, the other is a fact.
  for (const room of ['nodes', 'version']) rooms.delete(room);
  expect([...rooms].filter((room) => ARROWS[room] === undefined)).toEqual([]);
});

test('rules change states through `changeStates` alone, which interrupts schedules and plans', async () => {
  const callers: string[] = [];
  for await (const [file, text] of sourceFiles()) if (text.includes('.storeStates(')) callers.push(file);
  expect(callers).toEqual(['management/flags/change-states.ts']);
});
