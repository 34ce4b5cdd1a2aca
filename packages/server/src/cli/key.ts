import type { Command } from 'commander';
import { apiPath } from './api-client.ts';
import { addConnectionOptions, type CommandOptions, connect, namesIn, parseFutureTime } from './options.ts';
import { printAnswer, printList, printSecret, shortTime } from './output.ts';
import type { Shell } from './shell.ts';

interface CreateOptions extends CommandOptions {
  readonly project: string;
  readonly env: string;
  readonly name: string;
  readonly expires?: string;
}

/** `halyard key create|list|revoke` */
export function defineKey(key: Command, shell: Shell): void {
  addConnectionOptions(
    key
      .command('create')
      .description(
        'Create a project key and print it on standard output (with --json the whole record). It is shown only once.',
      )
      .requiredOption('--project <project>', 'Project to read')
      .requiredOption('--env <environments>', 'Environments the key can read, separated by commas')
      .requiredOption('--name <name>', 'Name of the key, such as the application that uses it')
      .option('--expires <when>', 'Expiry: 12h, 30d, 4w, or a date (default never)')
      .addHelpText('after', EXAMPLES),
  ).action((options: CreateOptions) => createKey(shell, options));
  addConnectionOptions(
    key
      .command('list')
      .description('List the keys of a project, without their secrets.')
      .requiredOption('--project <project>', 'Project to list'),
  ).action(async (options: CommandOptions & { readonly project: string }) => {
    const { project } = options;
    await printList(
      shell,
      options,
      connect(shell, options).pages({ path: apiPath`/projects/${project}/keys` }),
      {
        member: 'keys',
        headings: ['ID', 'NAME', 'KEY', 'ENVIRONMENTS', 'STATUS', 'CREATED', 'EXPIRES', 'LAST USED'],
        row: (item) => [
          item.text('id'),
          item.text('name'),
          `...${item.text('lastFour')}`,
          item.texts('environments').join(', '),
          item.any('damaged') === true ? 'damaged' : item.text('status'),
          ...['createdAt', 'expiresAt', 'lastUsedAt'].map((name) => shortTime(item.optionalText(name))),
        ],
        empty: `No keys in ${project}. Create one with "halyard key create --project ${project} ...".`,
      },
    );
  });
  addConnectionOptions(
    key
      .command('revoke <id>')
      .description('Revoke a key. Its requests fail with 401 and its streams close at once.')
      .addHelpText('after', '\nRun "halyard key list" to see the ids.'),
  ).action(async (id: string, options: CommandOptions) => {
    const answer = await connect(shell, options).request({ method: 'DELETE', path: apiPath`/keys/${id}` });
    printAnswer(shell, options, answer, (fields) => `Revoked key ${fields.text('name')} (${id}).\n`);
  });
}

const EXAMPLES = `
Examples:
  halyard key create --project shop --env production --name checkout-service
  halyard key create --project shop --env development,staging --name ci --expires 30d > key.txt`;

async function createKey(shell: Shell, options: CreateOptions): Promise<void> {
  const { name, project, expires } = options;
  const environments = namesIn(options.env);
  const expiresAt = expires === undefined ? undefined : parseFutureTime(expires, shell.now(), '--expires');
  const path = apiPath`/projects/${project}/keys`;
  const body = JSON.stringify({ name, environments, expiresAt });
  const answer = await connect(shell, options).request({ method: 'POST', path, body });
  const reach = `reads ${environments.join(', ')} of ${project}`;
  printSecret(shell, options, answer, {
    member: 'key',
    sentence:
      `Key ${name} (${answer.fields.text('id')}) ${reach} and ${describeExpiry(expiresAt)}.\n` +
      'Save it now. You cannot see it again.',
  });
}

/** `never expires`, or `expires at …`. */
export function describeExpiry(expiresAt: string | undefined): string {
  return expiresAt === undefined ? 'never expires' : `expires at ${shortTime(expiresAt)}`;
}
