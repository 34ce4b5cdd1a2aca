import type { Command } from 'commander';
import { apiPath } from './api-client.ts';
import { addConnectionOptions, type CommandOptions, connect } from './connection-options.ts';
import { parseExpiry } from './expiry.ts';
import { printAnswer, printList, shortTime } from './output.ts';
import type { Shell } from './shell.ts';

interface CreateOptions extends CommandOptions {
  readonly project: string;
  readonly env: string;
  readonly name: string;
  readonly expires?: string;
}

/** `halyard key create|list|revoke` */
export function defineKey(program: Command, shell: Shell): void {
  const key = program
    .command('key')
    .description('Make, list and revoke project keys, which applications read flags with.');
  addConnectionOptions(
    key
      .command('create')
      .description(
        'Make a project key. Standard output gets the key and nothing else (with --json the whole record). It is never shown again.',
      )
      .requiredOption('--project <project>', 'the project')
      .requiredOption('--env <environments>', 'the environments it opens, separated by commas')
      .requiredOption('--name <name>', 'what to call it: the application that will use it')
      .option('--expires <when>', 'when it stops working: 12h, 30d, 4w, or a date; never by default')
      .addHelpText('after', KEY_CREATE_EXAMPLES),
  ).action((options: CreateOptions) => createKey(shell, options));
  addConnectionOptions(
    key
      .command('list')
      .description('List the keys of a project, without the keys themselves.')
      .requiredOption('--project <project>', 'the project'),
  ).action(async (options: CommandOptions & { readonly project: string }) => {
    const answer = await connect(shell, options).request({
      path: apiPath`/projects/${options.project}/keys`,
    });
    printList(shell, options, answer, {
      member: 'keys',
      headings: ['ID', 'NAME', 'KEY', 'ENVIRONMENTS', 'STATUS', 'CREATED', 'EXPIRES', 'LAST USED'],
      row: (item) => [
        item.text('id'),
        item.text('name'),
        `...${item.text('lastFour')}`,
        item.texts('environments').join(', '),
        item.any('damaged') === true ? 'damaged' : item.text('status'),
        shortTime(item.optionalText('createdAt')),
        shortTime(item.optionalText('expiresAt')),
        shortTime(item.optionalText('lastUsedAt')),
      ],
      empty: `Project ${options.project} has no key. Make one: halyard key create --project ${options.project} …`,
    });
  });
  addConnectionOptions(
    key
      .command('revoke <id>')
      .description('Revoke a key, named by its id. Requests with it get 401 and its streams end, at once.')
      .addHelpText('after', '\nThe ids are in "halyard key list".'),
  ).action(async (id: string, options: CommandOptions) => {
    const answer = await connect(shell, options).request({ method: 'DELETE', path: apiPath`/keys/${id}` });
    printAnswer(shell, options, answer, (fields) => `Key ${fields.text('name')} (${id}) is revoked.\n`);
  });
}

const KEY_CREATE_EXAMPLES = `
Examples:
  halyard key create --project shop --env production --name checkout-service
  halyard key create --project shop --env development,staging --name ci --expires 30d > key.txt`;

async function createKey(shell: Shell, options: CreateOptions): Promise<void> {
  const environments = options.env.split(',').map((name) => name.trim());
  const expiresAt = options.expires === undefined ? undefined : parseExpiry(options.expires, shell.now());
  const answer = await connect(shell, options).request({
    method: 'POST',
    path: apiPath`/projects/${options.project}/keys`,
    body: JSON.stringify({ name: options.name, environments, ...(expiresAt && { expiresAt }) }),
  });
  const { fields } = answer;
  const until = expiresAt === undefined ? 'It does not expire.' : `It expires at ${shortTime(expiresAt)}.`;
  shell.writeError(
    `Key ${options.name} (${fields.text('id')}) opens ${environments.join(', ')} of ${options.project}. ${until}\n` +
      'Keep it now: it is shown only this once.\n',
  );
  shell.write(options.json ? `${answer.text.trim()}\n` : `${fields.text('key')}\n`);
}
