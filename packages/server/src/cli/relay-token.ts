import type { Command } from 'commander';
import { apiPath } from './api-client.ts';
import type { Fields } from './fields.ts';
import { addConnectionOptions, type CommandOptions, connect, namesIn } from './options.ts';
import { printDone, printList, printSecret, shortTime } from './output.ts';
import type { Shell } from './shell.ts';

interface CreateOptions extends CommandOptions {
  readonly name: string;
  readonly project?: string;
  readonly env?: string;
}

/** `halyard relay-token create|list|revoke` */
export function defineRelayToken(token: Command, shell: Shell): void {
  addConnectionOptions(
    token
      .command('create')
      .description(
        'Create a relay token and print it on standard output (with --json the whole record). It is shown only once.',
      )
      .requiredOption('--name <name>', 'Name of the token, such as the place of the relay')
      .option('--project <projects>', 'Projects that the relay gets, separated by commas (default all)')
      .option('--env <environments>', 'Environments that the relay gets, separated by commas (default all)')
      .addHelpText('after', EXAMPLES),
  ).action((options: CreateOptions) => createToken(shell, options));
  addConnectionOptions(
    token.command('list').description('List the relay tokens, without their secrets.'),
  ).action(async (options: CommandOptions) => {
    await printList(shell, options, connect(shell, options).pages({ path: apiPath`/relay-tokens` }), {
      member: 'relayTokens',
      headings: ['ID', 'NAME', 'PROJECTS', 'ENVIRONMENTS', 'CREATED', 'REVOKED', 'LAST CONTACT'],
      row: (item) => [
        item.text('id'),
        item.text('name'),
        projectsOf(item),
        namesOf(item, 'environments'),
        ...['createdAt', 'revokedAt', 'lastUsedAt'].map((name) => shortTime(item.optionalText(name))),
      ],
      empty: 'No relay tokens. Create one with "halyard relay-token create --name <name>".',
    });
  });
  addConnectionOptions(
    token
      .command('revoke <id>')
      .description('Revoke a relay token. Its relays lose their upstream at once.')
      .addHelpText('after', '\nRun "halyard relay-token list" to see the ids.'),
  ).action(async (id: string, options: CommandOptions) => {
    const path = apiPath`/relay-tokens/${id}`;
    const answer = await connect(shell, options).request({ method: 'DELETE', path });
    printDone(shell, options, `Revoked relay token ${id}.`, answer.text);
  });
}

const EXAMPLES = `
Examples:
  halyard relay-token create --name frankfurt > relay-token
  halyard relay-token create --name shop-edge --project shop --env production > relay-token`;

async function createToken(shell: Shell, options: CreateOptions): Promise<void> {
  const { name } = options;
  const projects = options.project === undefined ? undefined : namesIn(options.project);
  const environments = options.env === undefined ? undefined : namesIn(options.env);
  const body = JSON.stringify({ name, projects, environments });
  const answer = await connect(shell, options).request({
    method: 'POST',
    path: apiPath`/relay-tokens`,
    body,
  });
  const scope = `${environments?.join(', ') ?? 'all environments'} of ${projects?.join(', ') ?? 'all projects'}`;
  printSecret(shell, options, answer, {
    member: 'token',
    sentence:
      `Relay token ${name} (${answer.fields.text('id')}) gets ${scope}.\n` +
      'Save it now. You cannot see it again.',
  });
}

/** Its projects; of those that were deleted only how many they are. */
function projectsOf(item: Fields): string {
  if (item.any('deletedProjects') === undefined) return namesOf(item, 'projects');
  return [...item.texts('projects'), `${item.number('deletedProjects')} deleted`].join(', ');
}

function namesOf(item: Fields, member: string): string {
  return item.any(member) === undefined ? 'all' : item.texts(member).join(', ');
}
