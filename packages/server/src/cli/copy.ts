import type { Command } from 'commander';
import { apiPath } from './api-client.ts';
import { describeState } from './flag-state.ts';
import { addConnectionOptions, type CommandOptions, connect, NOTE_HELP, noteHeader } from './options.ts';
import { formatTable, printAnswer } from './output.ts';
import type { Shell } from './shell.ts';

interface CopyOptions extends CommandOptions {
  readonly project: string;
  readonly from: string;
  readonly to: string;
  readonly delete?: boolean;
  readonly dryRun?: boolean;
  readonly note?: string;
}

/** `halyard copy` */
export function defineCopy(copy: Command, shell: Shell): void {
  addConnectionOptions(
    copy
      .argument('[keys...]')
      .description(
        'Copy flag states from one environment to another, as one change. Copies all flags by default.',
      )
      .requiredOption('--project <project>', 'Project of the flags')
      .requiredOption('--from <environment>', 'Environment to copy from')
      .requiredOption('--to <environment>', 'Environment to copy to')
      .option('--delete', 'Delete flags from the target that the source does not have')
      .option('--dry-run', 'Show the differences without copying')
      .option('--note <text>', NOTE_HELP)
      .addHelpText(
        'after',
        '\nExamples:\n  halyard copy --project shop --from staging --to production --dry-run\n' +
          '  halyard copy new-checkout --project shop --from staging --to production --note "tested"',
      ),
  ).action(async (keys: string[], options: CopyOptions) => {
    const { project, from, to } = options;
    const client = connect(shell, options);
    // The server treats an unknown key as one without anything to copy; on a command line it is a typo.
    for (const key of keys) await client.request({ path: apiPath`/projects/${project}/flags/${key}` });
    const answer = await client.request({
      method: 'POST',
      path: apiPath`/projects/${project}/environments/${to}/copy`,
      query: { dryRun: options.dryRun ? 'true' : undefined },
      body: JSON.stringify({
        from,
        deletes: options.delete === true,
        keys: keys.length === 0 ? undefined : keys,
      }),
      headers: noteHeader(options.note),
    });
    printAnswer(shell, options, answer, (fields) => {
      const differences = fields.list('differences');
      if (differences.length === 0) return alreadySame(keys, options);
      const rows = differences.map((one) => [
        one.text('key'),
        describeState(one.any('before')),
        describeState(one.any('after')),
      ]);
      const last = options.dryRun
        ? 'Dry run: nothing was copied.'
        : `Copied from ${from} to ${to} of ${project} (revision ${fields.number('revision')}).`;
      return `${formatTable(['FLAG', `${to.toUpperCase()} NOW`, 'AFTER'], rows)}${last}\n`;
    });
  });
}

function alreadySame(keys: readonly string[], { from, to, delete: deletes }: CopyOptions): string {
  const list = new Intl.ListFormat('en').format(keys);
  if (keys.length > 0)
    return `${list} ${keys.length === 1 ? 'is' : 'are'} already the same in ${from} and ${to}.\n`;
  // Without --delete the target may have flags that the source does not have.
  return deletes
    ? `${from} and ${to} are already the same.\n`
    : `${to} already has everything that ${from} has.\n`;
}
