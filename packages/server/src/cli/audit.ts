import type { Command } from 'commander';
import { wholeNumber } from '../config/setting-readers.ts';
import { apiPath } from './api-client.ts';
import { checkedOption } from './checked-option.ts';
import { addConnectionOptions, type CommandOptions, connect } from './connection-options.ts';
import { parsePastTime } from './expiry.ts';
import { printList, shortTime } from './output.ts';
import type { Shell } from './shell.ts';

interface AuditOptions extends CommandOptions {
  readonly project?: string;
  readonly env?: string;
  readonly target?: string;
  readonly actor?: string;
  readonly action?: string;
  readonly since?: string;
  readonly until?: string;
  readonly before?: string;
  readonly limit: string;
}

/** Most entries that the server gives at a time. */
const MOST_ENTRIES = 1000;
/** The largest number of an entry that keeps its digits. */
const MOST_SEQ = 999_999_999_999_999;

/** `halyard audit` */
export function defineAudit(program: Command, shell: Shell): void {
  addConnectionOptions(
    program
      .command('audit')
      .description('Show who changed what, newest first.')
      .option('--project <project>', 'only of this project')
      .option('--env <environment>', 'only in this environment; needs --project')
      .option('--target <name>', 'only of this flag, key id or name')
      .option('--actor <name>', 'only by this one, such as operator:ada@example.com')
      .option(
        '--action <action>',
        'only this action, such as flag.archived, or all of one noun, such as flag',
      )
      .option('--since <when>', 'not before 90m, 12h, 30d or 4w ago, or 2027-01-31T09:00:00Z')
      .option('--until <when>', 'before that time; written as for --since')
      .option('--before <seq>', 'only older than this entry; for the next page')
      .option('--limit <n>', 'at most this many', '20')
      .addHelpText(
        'after',
        '\nExamples:\n  halyard audit --project shop --env production --target new-checkout\n' +
          '  halyard audit --since 24h --action operator',
      ),
  ).action(async (options: AuditOptions) => {
    const { project, env: environment, target, actor, action, before, limit } = options;
    // An empty text, as of a variable that is not set, would be the number 0 to the server.
    if (before !== undefined) checkedOption('--before', before, wholeNumber(1, MOST_SEQ, '<seq>'));
    checkedOption('--limit', limit, wholeNumber(1, MOST_ENTRIES, '<n>'));
    const [since, until] = (['since', 'until'] as const).map((name) => {
      const text = options[name];
      return text === undefined ? undefined : parsePastTime(text, shell.now(), `--${name}`);
    });
    const query = { project, environment, target, actor, action, since, until, before, limit };
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
