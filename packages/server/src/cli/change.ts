import type { Command } from 'commander';
import { apiPath } from './api-client.ts';
import { CliError, EXIT } from './cli-error.ts';
import { addConnectionOptions, type CommandOptions, connect } from './connection-options.ts';
import type { Fields } from './fields.ts';
import { noteHeader } from './note-header.ts';
import { printAnswer, shortTime } from './output.ts';
import type { Shell } from './shell.ts';
import { formatTable } from './table.ts';

interface RevertOptions extends CommandOptions {
  readonly dryRun?: boolean;
  readonly force?: boolean;
  readonly note?: string;
}

/** `halyard change show|revert` */
export function defineChange(program: Command, shell: Shell): void {
  const change = program
    .command('change')
    .description('Show what one change did, or revert it. "halyard audit" has the numbers of the changes.');
  addConnectionOptions(
    change.command('show <seq>').description('Show everything that one change did.'),
  ).action(async (seq: string, options: CommandOptions) => {
    const answer = await connect(shell, options).request({ path: apiPath`/changes/${checked(seq)}` });
    printAnswer(shell, options, answer, describeChange);
  });
  addConnectionOptions(
    change
      .command('revert <seq>')
      .description('Put back what a change changed, as a new change. All or nothing.')
      .option('--dry-run', 'only show what would be put back')
      .option('--force', 'also where something has changed since')
      .option('--note <why>', 'why; kept in the audit log')
      .addHelpText('after', '\nExample:\n  halyard change revert 1042 --note "errors went up"'),
  ).action(async (seq: string, options: RevertOptions) => {
    const answer = await connect(shell, options).request({
      method: 'POST',
      path: apiPath`/changes/${checked(seq)}/revert`,
      query: { dryRun: options.dryRun ? 'true' : undefined },
      body: JSON.stringify({ force: options.force === true }),
      headers: noteHeader(options.note),
    });
    printAnswer(shell, options, answer, (fields) => {
      const differences = fields.list('differences');
      if (differences.length === 0) return 'Nothing is to be put back: everything is as it was before.\n';
      const made = fields.any('seq');
      const last =
        made === undefined ? 'Nothing was done yet.' : `Change ${seq} was reverted by change ${made}.`;
      return `${formatTable(['WHERE', 'NOW', 'BEFORE'], differences.map(step))}${last}\n`;
    });
  });
}

function describeChange(fields: Fields): string {
  const head = [
    `Change ${fields.number('seq')}, ${shortTime(fields.text('at'))}, by ${fields.text('actor')}`,
    ...[fields.optionalText('note')].filter((note) => note !== undefined),
  ];
  const rows = fields
    .list('entries')
    .map((entry) => [
      entry.text('action'),
      [entry.optionalText('project'), entry.optionalText('environment')].filter(Boolean).join('/'),
      entry.text('target'),
      ...[entry.any('before'), entry.any('after')].map(short),
    ]);
  return `${head.join('\n')}\n${formatTable(['WHAT', 'WHERE', 'TARGET', 'BEFORE', 'AFTER'], rows)}`;
}

function step(difference: Fields): string[] {
  const place = [difference.optionalText('key'), difference.optionalText('environment')]
    .filter((part) => part !== undefined)
    .join(' in ');
  return [place, short(difference.any('before')), short(difference.any('after'))];
}

/** Most characters of a JSON text in a table. */
const SHORT = 60;

function short(data: unknown): string {
  if (data === undefined) return '-';
  const text = JSON.stringify(data);
  return text.length <= SHORT ? text : `${text.slice(0, SHORT - 1)}…`;
}

function checked(seq: string): string {
  if (/^\d{1,15}$/.test(seq)) return seq;
  throw new CliError(`"${seq}" is not the number of a change, as "halyard audit" shows it.`, {
    exitCode: EXIT.usage,
  });
}
