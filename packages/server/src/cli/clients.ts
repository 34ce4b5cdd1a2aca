import { apiPath } from './api-client.ts';
import { command } from './command.ts';
import type { Fields } from './fields.ts';
import { required } from './options.ts';
import { formatTable, shortTime } from './output.ts';

/** `halyard clients` */
export const clientsCommand = command({
  usage: 'clients',
  about: 'Show open streams by environment and key, across all nodes.',
  options: { project: required('<project>', 'Project to show') },
  examples: ['halyard clients --project shop'],
  request: ({ project }) => ({ path: apiPath`/projects/${project}/clients` }),
  answer: (fields) =>
    formatTable(
      ['ENVIRONMENT', 'KEY', 'STREAMS', 'NODES', 'LAST SEEN'],
      fields.list('environments').flatMap(rowsOf),
    ),
});

/** A row for all streams of the environment, then one for each key. */
function rowsOf(environment: Fields): readonly (readonly string[])[] {
  const name = environment.text('environment');
  const rowsOfKeys = environment
    .list('keys')
    .map((key) => [
      name,
      `${key.text('name')} (...${key.text('lastFour')})`,
      ...totals(key),
      shortTime(key.optionalText('lastSeenAt')),
    ]);
  return [[name, 'all', ...totals(environment), ''], ...rowsOfKeys];
}

function totals(item: Fields): readonly string[] {
  return [`${item.number('streams')}`, `${item.number('nodes')}`];
}
