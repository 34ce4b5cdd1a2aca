/** `bun run interop [program…]`: drives published providers and the examples against a real node. */
import { cpSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { CACHE, LANGUAGES, type Language, toolEnvironment } from './languages.ts';
import { ProviderProgram } from './protocol.ts';
import { exampleNames, openDemo, runExample } from './run-examples.ts';
import { tryProvider } from './try-provider.ts';
import { openWorld, type World } from './world.ts';

/** A line of the summary. */
interface Row {
  readonly name: string;
  readonly provider: string;
  readonly runtime: string;
  readonly result: string;
}

const rows: Row[] = [];
const failures: string[] = [];
const examples = exampleNames().map((name) => `examples/${name}`);
const known = [...LANGUAGES.map(({ folder }) => folder), 'examples', ...examples];
const chosen = process.argv.slice(2);
const unknown = chosen.filter((name) => !known.includes(name));
if (unknown.length > 0) {
  say(`Unknown program ${unknown.join(', ')}. Choose from: ${known.join(', ')}`);
  process.exit(2);
}
const isChosen = (...names: readonly string[]) =>
  chosen.length === 0 || names.some((name) => chosen.includes(name));
await using world = await openWorld();
for (const language of LANGUAGES) {
  const { folder: name, provider } = language;
  if (!isChosen(name)) continue;
  await attempt(name, async () => ({ name, provider, ...(await runLanguage(language, world)) }));
}
const key = await openDemo(world.management);
for (const name of examples) {
  if (!isChosen('examples', name)) continue;
  await attempt(name, async () => {
    const skipped = await runExample(name.replace('examples/', ''), { ...world, key });
    const result = skipped === undefined ? 'as its README says' : `skipped, ${skipped}`;
    return { name, provider: '', runtime: '', result };
  });
}
say(`\n${table(rows)}`);
for (const failure of failures) say(`\n${failure}`);
process.exitCode = failures.length === 0 ? 0 : 1;

/** Adds a line to the summary, also when the program could not be run at all. */
async function attempt(name: string, work: () => Promise<Row>): Promise<void> {
  const row = await work().catch((error: unknown) => {
    failures.push(`${name}: ${error instanceof Error ? error.message : error}`);
    return { name, provider: '', runtime: '', result: 'failed' };
  });
  rows.push(row);
  say(`${name}: ${row.result}`);
}

async function runLanguage(language: Language, at: World) {
  const prepared = await prepare(language);
  if (typeof prepared === 'string') {
    say(`${language.folder}: ${prepared}`);
    return { runtime: '', result: 'skipped' };
  }
  const { program, facts } = await ProviderProgram.start(language.run, prepared);
  await using _ = program;
  const outcome = await tryProvider(program, at, language.differences);
  failures.push(...outcome.failures.map((failure) => `${language.folder}: ${failure}`));
  const all = outcome.passed + outcome.failures.length;
  return {
    provider: `${language.provider} ${facts.provider}`,
    runtime: facts.runtime,
    result: `${outcome.passed} of ${all}, ${outcome.known} of them as this provider does it`,
  };
}

/** Installs and builds a program in a copy of its folder. Gives how to start it, or why it cannot be. */
async function prepare({ folder, needs, install, build }: Language) {
  const missing = needs.find((command) => Bun.which(command) === null);
  if (missing !== undefined) return `${missing} is not on this machine`;
  const source = join(import.meta.dir, folder);
  // Programs without packages of their own use those of the repository.
  if (install.length === 0) return { cwd: source, env: toolEnvironment() };
  const cwd = join(CACHE, folder);
  mkdirSync(cwd, { recursive: true });
  cpSync(source, cwd, { recursive: true });
  const env = toolEnvironment();
  for (const command of install) {
    const { ok, text } = await run(command, cwd, env);
    if (!ok) return `${command.join(' ')} failed: ${firstLine(text)}`;
  }
  for (const command of build) {
    const { ok, text } = await run(command, cwd, env);
    if (!ok) throw new Error(`${folder} does not compile:\n${text}`);
  }
  return { cwd, env };
}

async function run(command: readonly string[], cwd: string, env: Record<string, string>) {
  const child = Bun.spawn([...command], { cwd, env, stdout: 'pipe', stderr: 'pipe' });
  const [out, errors] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  return { ok: (await child.exited) === 0, text: out + errors };
}

function firstLine(text: string): string {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  return (lines.find((line) => /error|not|refused|forbidden/i.test(line)) ?? lines[0] ?? 'no output').trim();
}

function table(lines: readonly Row[]): string {
  const cells = [
    ['Program', 'Provider', 'Runtime', 'Result'],
    ...lines.map(({ name, provider, runtime, result }) => [name, provider, runtime, result]),
  ];
  const widths = [0, 1, 2].map((column) => Math.max(...cells.map((row) => row[column]?.length ?? 0)));
  return cells
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}
