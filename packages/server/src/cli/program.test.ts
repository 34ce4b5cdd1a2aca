import { describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runCaptured } from './test-shell.ts';

const COMMANDS = [
  'serve',
  'project',
  'project create',
  'project list',
  'project delete',
  'environment',
  'environment create',
  'environment list',
  'environment update',
  'environment delete',
  'key',
  'key create',
  'key list',
  'key replace',
  'key revoke',
  'flag',
  'flag set',
  'flag get',
  'flag update',
  'flag list',
  'flag archive',
  'flag restore',
  'flag delete',
  'schedule',
  'schedule create',
  'schedule list',
  'schedule cancel',
  'rollout',
  'rollout start',
  'rollout list',
  'rollout show',
  'rollout pause',
  'rollout resume',
  'rollout advance',
  'rollout stop',
  'copy',
  'change',
  'change show',
  'change revert',
  'export',
  'import',
  'convert',
  'watch',
  'token',
  'token create',
  'token list',
  'token revoke',
  'operator',
  'operator list',
  'operator invite',
  'operator reset',
  'operator set-role',
  'operator show',
  'operator remove',
  'invitation',
  'invitation list',
  'invitation revoke',
  'audit',
  'clients',
  'delivery',
  'errors',
  'openapi',
  'types',
  'doctor',
  'version',
];

/** Nothing listens on port 1. */
const NOWHERE = { HALYARD_URL: 'http://127.0.0.1:1', HALYARD_TOKEN: 'hat_anything' };

describe('help', () => {
  for (const command of COMMANDS) {
    test(`halyard ${command} --help explains it`, async () => {
      const help = await runCaptured([...command.split(' '), '--help']);
      expect(help).toMatchObject({ exitCode: 0, err: '' });
      expect(help.out).toStartWith(`Usage: halyard ${command} `);
      expect(await runCaptured(['help', ...command.split(' ')])).toEqual(help);
    });
  }

  test('halyard --help lists every command', async () => {
    const { exitCode, out } = await runCaptured(['--help']);
    expect(exitCode).toBe(0);
    for (const command of COMMANDS) expect(out).toContain(`\n  ${command.split(' ')[0]} `);
    for (const line of [['help'], ['help', 'help']])
      expect(await runCaptured(line)).toMatchObject({ exitCode: 0, out });
  });

  test('a command without commands of its own lists none', async () => {
    for (const command of ['clients', 'version', 'diff', 'export'])
      expect((await runCaptured([command, '--help'])).out).not.toContain('Commands:');
    expect((await runCaptured(['flag', '--help'])).out).toContain('help [command]');
  });

  test('halyard without a command shows the help and ends with 2', async () => {
    expect(await runCaptured([])).toMatchObject({ exitCode: 2, out: '' });
    expect((await runCaptured(['flag'])).exitCode).toBe(2);
  });
});

describe('an invalid command line ends with 2 and reports', () => {
  const cases: readonly [line: string, message: string][] = [
    ['serv', "unknown command 'serv'\n(Did you mean serve?)"],
    ['help serv', "unknown command 'serv'\n(Did you mean serve?)"],
    ['help flag sett', "unknown command 'sett'\n(Did you mean set?)"],
    ['change list', 'Changes are listed by "halyard audit".'],
    ['flag create x', 'A flag is created by "halyard flag set".'],
    ['audit --format ndjson --limit 5', '--format ndjson prints all entries. Remove --limit.'],
    ['flag sett', "unknown command 'sett'\n(Did you mean set?)"],
    ['flag get --project p --env e', "missing required argument 'key'"],
    ['flag get x --env production', "required option '--project <project>' not specified"],
    ['serve --prot 1', "unknown option '--prot'\n(Did you mean --port?)"],
    ['serve --port 99999', '--port must be a whole number from 0 to 65535, not "99999".'],
    [
      'project delete shop',
      'This permanently deletes project shop with its environments, flags and keys. Add --yes',
    ],
    ['environment delete shop preview', 'Add --yes to confirm.'],
    ['flag set x --project p --env e', 'Nothing to change. Add --on, --off, --value or --rollout.'],
    ['flag set x --project p --env e --on --off', '--on and --off cannot be used together.'],
    [
      'flag set x --project p --env e --value blue',
      `--value must be JSON. Quote a string for the shell as well: --value '"blue"'`,
    ],
    ['flag set x --project p --env e --rollout 101', '--rollout must be a percentage from 0 to 100'],
    ['flag set x --project p --env e --rollout 0.0001', 'at most three decimals, not "0.0001".'],
    ['flag set x --project p --env e --on --expect x', '--expect must be a revision'],
    ['key create --project p --env e --name n --expires soon', '--expires must be a time from now'],
    ['key create --project p --env e --name n --expires 2001-01-01', 'is not in the future'],
    ['key create --project p --env e --name n --expires 2127-02-30', '--expires must be a time from now'],
    ['schedule create x --project p --env e --on --at 2127-04-31T09:00:00Z', '--at must be a time from now'],
    ['rollout start x --project p --env e --plan 5,soon,25', '(see "soon").'],
    ['rollout start x --project p --env e --plan 5,1h,2h,25', '(see "2h").'],
    ['rollout start x --project p --env e --plan 5,1h', '(see its end).'],
    ['import /nonexistent/flags.yaml', 'Cannot read /nonexistent/flags.yaml.'],
    ['export --project p --format xml', 'Allowed choices are yaml, json'],
    ['project list --url flags.example.com', '--url must be an http:// or https:// address'],
    ['doctor --read-url flags.example.com', '--read-url must be an http:// or https:// address'],
    ['audit --limit 0', '--limit must be a whole number from 1 to 1000, not "0".'],
    ['audit --limit all', '--limit must be a whole number from 1 to 1000, not "all".'],
    ['audit --before ', '--before must be a whole number from 1 to 999999999999999, not "".'],
    ['flag get x --project p --env ..', '".." is not a valid name.'],
    ['flag list --project .', '"." is not a valid name.'],
  ];
  for (const [line, message] of cases) {
    test(`${line}`, async () => {
      const run = await runCaptured(line.split(' '), { env: NOWHERE });
      expect(run.err).toContain(message);
      expect(run).toMatchObject({ exitCode: 2, out: '' });
    });
  }
});

test('import rejects a document that is not UTF-8', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'halyard-import-'));
  const file = join(folder, 'flags.yaml');
  writeFileSync(file, Buffer.from('halyard: 1\nproject: caf\u00e9\n', 'latin1'));
  const run = await runCaptured(['import', file], { env: NOWHERE });
  rmSync(folder, { recursive: true });
  expect(run).toEqual({ exitCode: 2, out: '', err: `error: ${file} is not UTF-8 text. Save it as UTF-8.\n` });
});

test('reports an empty name, as from an unset variable', async () => {
  const run = await runCaptured(['project', 'delete', '', '--yes'], { env: NOWHERE });
  expect(run).toMatchObject({ exitCode: 2, out: '' });
  expect(run.err).toContain('A name is empty. Is the variable it comes from set?');
});

test('without a server, explains how to start one', async () => {
  expect(await runCaptured(['project', 'list'], { env: NOWHERE })).toEqual({
    exitCode: 1,
    out: '',
    err: 'error: No server is running at http://127.0.0.1:1. Start one with "halyard serve", or set --url, HALYARD_URL or, without them, HALYARD_PORT.\n',
  });
});

test('hints name the program as it was called', async () => {
  const invocation = 'npx --yes bun@1.4.5 run halyard';
  const { err } = await runCaptured(['project', 'list'], { env: NOWHERE, invocation });
  expect(err).toContain(`Start one with "${invocation} serve"`);
  const { out } = await runCaptured(['key', 'revoke', '--help'], { invocation });
  expect(out).toContain(`Run "${invocation} key list"`);
  const { out: table } = await runCaptured(['doctor'], { env: NOWHERE, invocation, isTerminal: true });
  expect(table).toContain(`Start one with "${invocation} serve"`);
});

test('without a token, sends nothing and explains where to set one', async () => {
  const run = await runCaptured(['project', 'list', '--url', 'https://flags.example.com']);
  expect(run).toMatchObject({ exitCode: 4, out: '' });
  expect(run.err).toContain('Set HALYARD_TOKEN');
});

test.each(['openapi', 'doctor --readiness', 'doctor --liveness'])(
  '%s does not read a token',
  async (line) => {
    const env = { HALYARD_URL: 'http://127.0.0.1:1', HALYARD_TOKEN_FILE: '/nonexistent' };
    const { exitCode, out, err } = await runCaptured(line.split(' '), { env });
    expect(exitCode).toBe(1);
    expect(out + err).not.toContain('HALYARD_TOKEN_FILE');
  },
);

test('reports a data folder without a token', async () => {
  const run = await runCaptured(['project', 'list', '--data', '/nonexistent']);
  expect(run).toMatchObject({ exitCode: 4, out: '' });
  expect(run.err).toStartWith('error: No access token found in /nonexistent/admin-token. Set HALYARD_TOKEN');
});

test('version prints the version', async () => {
  const { out } = await runCaptured(['--version']);
  expect(out).toMatch(/^\d+\.\d+\.\d+\n$/);
  const seen = await runCaptured(['version'], { isTerminal: true });
  expect(seen.out).toStartWith(`halyard ${out.trim()} (from source, Bun `);
  for (const argv of [['version', '--json'], ['version']]) {
    const facts = JSON.parse((await runCaptured(argv, { isTerminal: argv.length > 1 })).out);
    expect(facts).toMatchObject({ version: out.trim(), bun: Bun.version, platform: process.platform });
  }
});

describe('errors', () => {
  test('lists the codes as a table or JSON', async () => {
    const forPeople = await runCaptured(['errors'], { isTerminal: true });
    expect(forPeople.out).toMatch(/^CODE +STATUS +MEANING\ninvalid_api_key +401 +\w/);
    const forPrograms = JSON.parse((await runCaptured(['errors'])).out);
    expect(forPrograms.errors[0]).toMatchObject({ error: 'invalid_api_key', status: 401 });
  });

  test('explains one code', async () => {
    expect((await runCaptured(['errors', 'flag_not_found'], { isTerminal: true })).out).toStartWith(
      '# `flag_not_found`',
    );
    expect(JSON.parse((await runCaptured(['errors', 'flag_not_found'])).out)).toMatchObject({ status: 404 });
  });

  test('suggests a code for an unknown one', async () => {
    expect(await runCaptured(['errors', 'flag_notfound'])).toEqual({
      exitCode: 3,
      out: '',
      err: 'error: Unknown error code "flag_notfound". Did you mean flag_not_found?\n',
    });
  });
});

test('serve warns about unknown variables, and prints its settings without secrets', async () => {
  const env = { HALYARD_PROT: '1', HALYARD_DATABASE_URL: 'postgres://u:hunter2@db/x' };
  const run = await runCaptured(['serve', '--print-config', '--port', '0'], { env });
  expect(run.err).toContain('warning: Unknown setting HALYARD_PROT (ignored). Did you mean HALYARD_PORT?');
  expect(JSON.parse(run.out)).toMatchObject({
    port: { value: 0, origin: '--port' },
    databaseUrl: { value: '[redacted]', origin: 'HALYARD_DATABASE_URL' },
  });
  expect((await runCaptured(['serve', '--print-config'], { env, isTerminal: true })).out).not.toContain(
    'hunter2',
  );
});
