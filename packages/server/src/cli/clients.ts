import type { Command } from 'commander';
import { apiPath } from './api-client.ts';
import type { Fields } from './fields.ts';
import { addConnectionOptions, type CommandOptions, connect } from './options.ts';
import { formatTable, printAnswer, shortTime } from './output.ts';
import type { Shell } from './shell.ts';

/** `halyard clients` */
export function defineClients(clients: Command, shell: Shell): void {
  addConnectionOptions(
    clients
      .description('Show open streams by environment and key, across all nodes.')
      .requiredOption('--project <project>', 'Project to show')
      .addHelpText('after', '\nExample:\n  halyard clients --project shop'),
  ).action(async (options: CommandOptions & { readonly project: string }) => {
    const answer = await connect(shell, options).request({
      path: apiPath`/projects/${options.project}/clients`,
    });
    printAnswer(shell, options, answer, (fields) =>
      formatTable(
        ['ENVIRONMENT', 'KEY', 'STREAMS', 'NODES', 'LAST SEEN'],
        fields.list('environments').flatMap(rowsOf),
      ),
    );
  });
}

/** A row for all streams of the environment, then one for each key. */
function rowsOf(environment: Fields): readonly (readonly string[])[] {
  const name = environment.text('environment');
  return [
    [name, 'all', ...totals(environment), ''],
    ...environment
      .list('keys')
      .map((key) => [
        name,
        `${key.text('name')} (...${key.text('lastFour')})`,
        ...totals(key),
        shortTime(key.optionalText('lastSeenAt')),
      ]),
  ];
}

function totals(item: Fields): readonly string[] {
  return [`${item.number('streams')}`, `${item.number('nodes')}`];
}
