import { type Command, Option } from 'commander';
import { ROLES, TOKEN_LIMITS } from '../domain/rights.ts';
import { apiPath } from './api-client.ts';
import { usageError } from './cli-error.ts';
import { describeExpiry } from './key.ts';
import { addRightsOptions, describeRights, type RightsOptions, rightsBody } from './operator.ts';
import { addConnectionOptions, type CommandOptions, connect, parseFutureTime } from './options.ts';
import { printDone, printList, printSecret, shortTime } from './output.ts';
import type { Shell } from './shell.ts';

interface CreateOptions extends CommandOptions, RightsOptions {
  readonly name: string;
  readonly only?: string;
  readonly days?: string;
  readonly expires?: string;
}

/** `halyard token create|list|revoke` */
export function defineToken(token: Command, shell: Shell): void {
  addConnectionOptions(
    addRightsOptions(
      token
        .command('create')
        .description(
          'Create an access token and print it on standard output (with --json the whole record). It is shown only once.',
        )
        .requiredOption('--name <name>', 'Name of the token, such as the person or pipeline that uses it')
        .addOption(
          new Option(
            '--only <task>',
            'Limit the token to a task: plan (read, preview imports) or states (read, set flag states)',
          ).choices([...TOKEN_LIMITS]),
        )
        .option('--days <count>', 'Days until it expires (default 90)')
        .option('--expires <when>', 'Expiry: 12h, 30d, 4w, a date, or never'),
      { role: 'default editor', protected: 'always on for admin', choices: ROLES },
    ).addHelpText(
      'after',
      `
Examples:
  halyard token create --name deploy --project shop --only states --protected --days 30
  halyard token create --name review --project shop,web --only plan
  halyard token create --name operations --role admin --expires never`,
    ),
  ).action((options: CreateOptions) => createToken(shell, options));
  addConnectionOptions(
    token.command('list').description('List the access tokens, without their secrets.'),
  ).action(async (options: CommandOptions) => {
    await printList(shell, options, connect(shell, options).pages({ path: apiPath`/tokens` }), {
      member: 'tokens',
      headings: ['ID', 'NAME', 'ROLE', 'CREATED', 'EXPIRES', 'REVOKED', 'LAST USED'],
      row: (item) => [
        item.text('id'),
        item.text('name'),
        item.any('damaged') === true ? 'damaged' : describeRights(item),
        ...['createdAt', 'expiresAt', 'revokedAt', 'lastUsedAt'].map((name) =>
          shortTime(item.optionalText(name)),
        ),
      ],
      empty: 'No access tokens except the admin token. Create one with "halyard token create --name <name>".',
    });
  });
  addConnectionOptions(
    token
      .command('revoke <id>')
      .description('Revoke an access token.')
      .addHelpText('after', '\nRun "halyard token list" to see the ids.'),
  ).action(async (id: string, options: CommandOptions) => {
    const answer = await connect(shell, options).request({ method: 'DELETE', path: apiPath`/tokens/${id}` });
    printDone(shell, options, `Revoked token ${id}.`, answer.text);
  });
}

async function createToken(shell: Shell, options: CreateOptions): Promise<void> {
  const { name, only } = options;
  const rights = rightsBody({ role: 'editor', ...options });
  const body = JSON.stringify({ name, ...rights, only, expiresAt: expiryOf(shell, options) });
  const answer = await connect(shell, options).request({ method: 'POST', path: apiPath`/tokens`, body });
  const { fields } = answer;
  printSecret(shell, options, answer, {
    member: 'token',
    sentence:
      `Token ${name} (${fields.text('id')}) has the role ${describeRights(fields)} and ${describeExpiry(fields.optionalText('expiresAt'))}.\n` +
      'Save it now. You cannot see it again.',
  });
}

/** `undefined`: as the server decides. */
function expiryOf(shell: Shell, { days, expires }: CreateOptions): string | null | undefined {
  if (days !== undefined && expires !== undefined)
    throw usageError('Add either --days or --expires, not both.');
  if (expires === 'never') return null;
  if (expires !== undefined) return parseFutureTime(expires, shell.now(), '--expires');
  if (days !== undefined && !/^[1-9]\d{0,4}$/.test(days))
    throw usageError(`--days must be a whole number of days, such as 30, not "${days}".`);
  return days === undefined ? undefined : parseFutureTime(`${days}d`, shell.now(), '--days');
}
