import { type Command, Option } from 'commander';
import { resolveAddress } from '../config/connection.ts';
import { httpUrl } from '../config/setting-readers.ts';
import { checkedOption } from './checked-option.ts';
import { CliError } from './cli-error.ts';
import { addConnectionOptions, type CommandOptions, connect } from './connection-options.ts';
import {
  checkKey,
  checkReadiness,
  checkServer,
  checkStream,
  checkToken,
  type Finding,
} from './doctor-checks.ts';
import { wantsJson } from './output.ts';
import type { Shell } from './shell.ts';
import { formatTable, printable } from './table.ts';

interface DoctorOptions extends CommandOptions {
  readonly key?: string;
  readonly env: string;
  readonly readUrl?: string;
  readonly readiness?: boolean;
  readonly liveness?: boolean;
}

/** `halyard doctor` */
export function defineDoctor(program: Command, shell: Shell): void {
  addConnectionOptions(
    program
      .command('doctor')
      .description('Find out what is wrong between here and the server. Exit code 1 when something is.')
      .option('--key <key>', 'also try this project key and a stream; "-" reads the key from standard input')
      .option('--env <environment>', 'the environment to read with the key', 'production')
      .option(
        '--read-url <url>',
        'where flags are read, if it is another address than where they are managed',
      )
      .option('--readiness', 'ask only whether that server is ready for traffic; needs no token')
      .addOption(
        new Option(
          '--liveness',
          'ask only whether that server runs; needs no token and no database',
        ).conflicts('readiness'),
      )
      .addHelpText('after', EXAMPLES),
  ).action(async (options: DoctorOptions) => {
    const findings = await examine(shell, options);
    const failed = findings.filter(({ outcome }) => outcome === 'failed').length;
    shell.write(wantsJson(shell, options) ? asJson(findings) : asTable(findings));
    if (failed > 0) throw new CliError(`${failed} of ${findings.length} checks failed.`);
  });
}

const EXAMPLES = `
Examples:
  halyard doctor
  halyard doctor --liveness     for restarting a node, such as the health check of a container
  halyard doctor --readiness    for sending traffic to a node; fails on all nodes while the database is away
  halyard doctor --url https://flags.example.com --key - --env production < key.txt`;

async function examine(shell: Shell, options: DoctorOptions): Promise<Finding[]> {
  const address = resolveAddress(options, shell.env);
  const readUrl =
    options.readUrl === undefined ? address.readUrl : checkedOption('--read-url', options.readUrl, httpUrl);
  // Before a token is looked for: none is needed, so that one which cannot be read must not be in the way.
  if (options.readiness === true) return [await checkReadiness(readUrl)];
  if (options.liveness === true) return await checkServer(readUrl, shell.now);
  const client = connect(shell, options);
  const findings = await checkServer(client.url, shell.now);
  if (findings.some(({ outcome }) => outcome === 'failed')) return findings;
  findings.push(await checkReadiness(readUrl), await checkToken(client));
  if (options.key === undefined) return findings;
  const key = options.key === '-' ? (await shell.readInput()).trim() : options.key;
  const keyToTry = { key, environment: options.env };
  const keyFinding = await checkKey(readUrl, keyToTry);
  findings.push(keyFinding);
  if (keyFinding.outcome === 'ok') findings.push(await checkStream(readUrl, keyToTry, { now: shell.now }));
  return findings;
}

function asJson(findings: readonly Finding[]): string {
  return `${JSON.stringify({ ok: findings.every(({ outcome }) => outcome !== 'failed'), findings })}\n`;
}

function asTable(findings: readonly Finding[]): string {
  return formatTable(
    ['', 'CHECK', 'WHAT WAS FOUND'],
    findings.map(({ check, outcome, detail }) => [outcome, check, printable(detail)]),
  );
}
