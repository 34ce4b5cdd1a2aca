/**
 * `bun interop/schemathesis/run.ts [document]`: lets schemathesis (https://schemathesis.io) make requests from the OpenAPI
 * document of a real node, right and wrong ones, and compare every answer of OFREP's routes with what the document says.
 * `document` is OFREP's own, `service/openapi.yaml` of open-feature/protocol, to use in place of the node's.
 */
import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { FLAGS } from '../cases.ts';
import { CACHE, toolEnvironment } from '../languages.ts';
import { openWorld } from '../world.ts';
import { amendedDocument } from './official.ts';

const REQUIREMENTS = join(import.meta.dir, 'requirements.txt');
const HOME = join(CACHE, 'schemathesis');
const BIN = join(HOME, '.venv', 'bin');

const [document] = process.argv.slice(2);
await install();
await using world = await openWorld();
const plain = FLAGS.filter(({ state }) => state?.rolloutPct === undefined);
await world.management.change('interop', 'development', plain);
const { key: keyOfPlain } = await world.management.createKey('interop', ['development']);
/** The options that choose the document and an environment. */
let schemaAt = (_: string): readonly string[] => [`${world.url}/api/openapi.json`, '--include-tag', 'OFREP'];
if (document !== undefined) {
  const file = join(HOME, 'official.json');
  const { document: amended, reasons } = await amendedDocument(resolve(document));
  await Bun.write(file, JSON.stringify(amended));
  for (const reason of reasons) process.stdout.write(`The document is amended: ${reason}.\n`);
  schemaAt = (environment) => [file, '--url', `${world.url}/environments/${environment}`];
}

const isGood = [
  await test('flags without rollouts', keyOfPlain, schemaAt('development')),
  await test('all flags', world.keyOfOne, [
    ...schemaAt('production'),
    // A good request for a partial rollout may be refused: TARGETING_KEY_MISSING is 400.
    ...['--exclude-checks', 'positive_data_acceptance'],
  ]),
];
process.exitCode = isGood.every(Boolean) ? 0 : 1;

/** Installs schemathesis where the other programs are. */
async function install(): Promise<void> {
  mkdirSync(HOME, { recursive: true });
  await run(['python3', '-m', 'venv', join(HOME, '.venv')]);
  await run([join(BIN, 'pip'), 'install', '--quiet', '--disable-pip-version-check', '-r', REQUIREMENTS]);
}

async function run(command: readonly string[]): Promise<void> {
  const child = Bun.spawn([...command], { env: toolEnvironment(), stdout: 'inherit', stderr: 'inherit' });
  if ((await child.exited) !== 0) throw new Error(`${command.join(' ')} failed`);
}

/** Tests against one document; says what it finds. */
async function test(about: string, key: string, schema: readonly string[]): Promise<boolean> {
  process.stdout.write(`schemathesis: ${about}\n`);
  const options = [
    '--phases',
    'examples,coverage,fuzzing',
    '--max-examples',
    document === undefined ? '100' : '1000',
    '--continue-on-failure',
  ];
  const header = ['--header', `X-API-Key: ${key}`];
  const child = Bun.spawn([join(BIN, 'schemathesis'), 'run', ...schema, ...header, ...options], {
    cwd: HOME,
    env: toolEnvironment(),
    stdout: 'inherit',
    stderr: 'inherit',
  });
  return (await child.exited) === 0;
}
