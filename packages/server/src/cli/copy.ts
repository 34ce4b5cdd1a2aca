import type { Command } from 'commander';
import { apiPath } from './api-client.ts';
import { addConnectionOptions, type CommandOptions, connect } from './connection-options.ts';
import { noteHeader } from './note-header.ts';
import { printAnswer } from './output.ts';
import type { Shell } from './shell.ts';
import { describeState } from './state-text.ts';
import { formatTable } from './table.ts';

interface CopyOptions extends CommandOptions {
  readonly project: string;
  readonly from: string;
  readonly to: string;
  readonly delete?: boolean;
  readonly dryRun?: boolean;
  readonly note?: string;
}

/** `halyard copy` */
export function defineCopy(program: Command, shell: Shell): void {
  addConnectionOptions(
    program
      .command('copy [keys...]')
      .description('Copy the states of flags from one environment to another, as one change.')
      .requiredOption('--project <project>', 'the project')
      .requiredOption('--from <environment>', 'the environment to copy from')
      .requiredOption('--to <environment>', 'the environment to copy to')
      .option('--delete', 'also delete from there what the other environment does not have')
      .option('--dry-run', 'only show what is different')
      .option('--note <why>', 'why; kept in the audit log')
      .addHelpText(
        'after',
        '\nExamples:\n  halyard copy --project shop --from staging --to production --dry-run\n' +
          '  halyard copy new-checkout --project shop --from staging --to production --note "tested"',
      ),
  ).action(async (keys: string[], options: CopyOptions) => {
    const { project, from, to } = options;
    const body = { from, deletes: options.delete === true, ...(keys.length === 0 ? {} : { keys }) };
    const client = connect(shell, options);
    // To the server a key that nothing has is one with nothing to copy; here it is a slip of whoever typed it.
    for (const key of keys) await client.request({ path: apiPath`/projects/${project}/flags/${key}` });
    const answer = await client.request({
      method: 'POST',
      path: apiPath`/projects/${project}/environments/${to}/copy`,
      query: { dryRun: options.dryRun ? 'true' : undefined },
      body: JSON.stringify(body),
      headers: noteHeader(options.note),
    });
    printAnswer(shell, options, answer, (fields) => {
      const differences = fields.list('differences');
      if (differences.length === 0) {
        const what = keys.length === 0 ? 'everything' : `of ${keys.join(', ')} all`;
        return `${to} has ${what} that ${from} has.\n`;
      }
      const rows = differences.map((one) => [
        one.text('key'),
        describeState(one.any('before')),
        describeState(one.any('after')),
      ]);
      const last = options.dryRun
        ? 'Nothing was copied yet.'
        : `Copied from ${from} to ${to} of ${project} (revision ${fields.number('revision')}).`;
      return `${formatTable(['FLAG', `${to.toUpperCase()} NOW`, 'THEN'], rows)}${last}\n`;
    });
  });
}
