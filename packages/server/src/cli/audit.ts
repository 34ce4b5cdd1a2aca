import type { Command } from 'commander';
import { apiPath } from './api-client.ts';
import { addConnectionOptions, type CommandOptions, connect } from './connection-options.ts';
import { printList, shortTime } from './output.ts';
import type { Shell } from './shell.ts';

interface AuditOptions extends CommandOptions {
  readonly project?: string;
  readonly env?: string;
  readonly target?: string;
  readonly before?: string;
  readonly limit: string;
}

/** `halyard audit` */
export function defineAudit(program: Command, shell: Shell): void {
  addConnectionOptions(
    program
      .command('audit')
      .description('Show who changed what, newest first.')
      .option('--project <project>', 'only of this project')
      .option('--env <environment>', 'only in this environment; needs --project')
      .option('--target <name>', 'only of this flag, key id or name')
      .option('--before <seq>', 'only older than this entry; for the next page')
      .option('--limit <n>', 'at most this many', '20')
      .addHelpText(
        'after',
        '\nExample:\n  halyard audit --project shop --env production --target new-checkout',
      ),
  ).action(async (options: AuditOptions) => {
    const { project, env: environment, target, before, limit } = options;
    const query = { project, environment, target, before, limit };
    const answer = await connect(shell, options).request({ path: apiPath`/audit`, query });
    printList(shell, options, answer, {
      member: 'entries',
      headings: ['SEQ', 'WHEN', 'WHO', 'WHAT', 'WHERE', 'TARGET', 'NOTE'],
      row: (item) => [
        `${item.number('seq')}`,
        shortTime(item.optionalText('at')),
        item.text('actor'),
        item.text('action'),
        [item.optionalText('project'), item.optionalText('environment')].filter(Boolean).join('/'),
        item.text('target'),
        item.optionalText('note') ?? '',
      ],
      empty: 'Nothing of that kind was changed yet.',
    });
  });
}
