/** `bun run interop [program…]`: drives published providers and the examples against a real node. */
import { tryChart } from './chart/try-chart.ts';
import { CLIENTS, type OwnClient, prepareClient } from './clients.ts';
import { tryFirefox } from './firefox/try-firefox.ts';
import { LANGUAGES, type Language } from './languages.ts';
import { type PreparedProgram, prepare, run } from './programs.ts';
import { ProviderProgram } from './protocol.ts';
import { tryPublishing } from './publishing/try-publishing.ts';
import { exampleNames, openDemo, runExample } from './run-examples.ts';
import { followReadme } from './run-readmes.ts';
import { tryCli } from './try-cli.ts';
import { FLAGD_PROGRAMS, tryFlagd } from './try-flagd.ts';
import { tryFollowing } from './try-following.ts';
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
const languages = [...LANGUAGES, ...CLIENTS].map(({ folder }) => folder);
const known = [
  ...languages,
  'clients',
  'flagd',
  'cli',
  'publishing',
  'chart',
  'firefox',
  'examples',
  ...examples,
];
const chosen = process.argv.slice(2);
const unknown = chosen.filter((name) => !known.includes(name));
if (unknown.length > 0) {
  say(`Unknown program ${unknown.join(', ')}. Choose from: ${known.join(', ')}`);
  process.exit(2);
}
const isChosen = (...names: readonly string[]) =>
  chosen.length === 0 || names.some((name) => chosen.includes(name));
await using world = await openWorld();
const key = await openDemo(world.management);
for (const language of LANGUAGES) {
  const { folder: name, provider } = language;
  if (!isChosen(name)) continue;
  await attempt(name, async () => ({ provider, ...(await runLanguage(language, world)) }));
}
for (const each of FLAGD_PROGRAMS) {
  if (!isChosen('flagd')) continue;
  await attempt(`flagd: ${each.name}`, async () => {
    const outcome = await tryFlagd(each, world);
    if (typeof outcome === 'string') return skipped(outcome);
    failures.push(...outcome.failures);
    return { provider: outcome.version, runtime: outcome.runtime, result: outcome.result };
  });
}
for (const client of CLIENTS) {
  const { folder: name, provider } = client;
  if (!isChosen('clients', name)) continue;
  await attempt(name, async () => ({ provider, ...(await runClient(client, world)) }));
}
if (isChosen('cli')) {
  await attempt('cli', async () => {
    const outcome = await tryCli(world);
    if (typeof outcome === 'string') return skipped(outcome);
    return { provider: outcome.version, result: 'typed code for Go and Node' };
  });
}
if (isChosen('publishing')) {
  await attempt('publishing', async () => {
    const outcome = await tryPublishing();
    if (typeof outcome === 'string') return skipped(outcome);
    for (const step of outcome.steps) say(`  ${step}`);
    const result = `${outcome.steps.length} steps, each as the guide says`;
    return { provider: '@halyard/client/published', runtime: outcome.storage, result };
  });
}
if (isChosen('chart')) {
  await attempt('chart', async () => {
    const outcome = await tryChart();
    if (typeof outcome === 'string') return skipped(outcome);
    return { runtime: outcome.helm, result: outcome.result };
  });
}
if (isChosen('firefox')) {
  await attempt('firefox', async () => {
    const outcome = await tryFirefox();
    if (typeof outcome === 'string') return skipped(outcome);
    for (const step of outcome.steps) say(`  ${step}`);
    return { runtime: outcome.version, result: 'the dashboard works' };
  });
}
for (const name of examples) {
  if (!isChosen('examples', name)) continue;
  await attempt(name, async () => {
    const missing = await runExample(name.replace('examples/', ''), { ...world, key });
    return missing === undefined ? { result: 'as its README says' } : skipped(missing);
  });
}
say(`\n${table(rows)}`);
for (const failure of failures) say(`\n${failure}`);
process.exitCode = failures.length === 0 ? 0 : 1;

/** What a trial adds to its line of the summary. */
type Outcome = Partial<Row> & Pick<Row, 'result'>;

/** Adds a line to the summary, also when the program could not be run at all. */
async function attempt(name: string, work: () => Promise<Outcome>): Promise<void> {
  const outcome = await work().catch((error: unknown) => {
    failures.push(`${name}: ${error instanceof Error ? error.message : error}`);
    return { result: 'failed' };
  });
  rows.push({ name, provider: '', runtime: '', ...outcome });
  say(`${name}: ${outcome.result}`);
}

function skipped(why: string): Outcome {
  return { result: `skipped, ${why}` };
}

async function runLanguage(language: Language, at: World) {
  return await runProgram(language, await prepare(language), at, async (program) =>
    // Our own provider follows flags like the clients of other languages.
    language.folder === 'halyard' ? await follow(language, program) : '',
  );
}

/** As a language, and its tests, its README, and what it takes to follow a flag. */
async function runClient(client: OwnClient, at: World) {
  const prepared = await prepareClient(client);
  return await runProgram(client, prepared, at, async (program, where) => {
    const followed = await follow(client, program);
    const { ok, text } = await run(client.test, where);
    if (!ok) failures.push(`${client.folder}: its tests fail\n${text.slice(-4_000)}`);

    await followReadme(client.folder, { ...at, key });
    return `${followed}, its tests ${ok ? 'pass' : 'fail'}, the program of its README runs`;
  });
}

async function follow({ folder }: Language, program: ProviderProgram): Promise<string> {
  const { failures: missed, delaysMs } = await tryFollowing(program);
  failures.push(...missed.map((failure) => `${folder}: ${failure}`));
  const [median, slowest] = delaysMs.map((ms) => ms.toFixed(1));
  return `, changes after ${median} ms (${slowest} at most)`;
}

/** Starts a program and tries its provider, and then whatever `more` does; gives its line of the summary. */
async function runProgram(
  language: Language,
  prepared: PreparedProgram | string,
  at: World,
  more: (program: ProviderProgram, where: PreparedProgram) => Promise<string>,
) {
  if (typeof prepared === 'string') {
    say(`${language.folder}: ${prepared}`);
    return skipped(prepared);
  }

  const { program, facts } = await ProviderProgram.start(language.run, prepared);
  await using _ = program;
  const outcome = await tryProvider(program, at, language.differences);
  failures.push(...outcome.failures.map((failure) => `${language.folder}: ${failure}`));
  const all = outcome.passed + outcome.failures.length;
  const rest = await more(program, prepared);
  return {
    provider: `${language.provider} ${facts.provider}`,
    runtime: facts.runtime,
    result: `${outcome.passed} of ${all}, ${outcome.known} of them as this provider does it${rest}`,
  };
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
