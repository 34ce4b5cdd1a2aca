import type { Command } from 'commander';
import { apiPath } from './api-client.ts';
import type { Fields } from './fields.ts';
import { describeExpiry } from './key.ts';
import {
  addPermissionOptions,
  describePermission,
  type PermissionOptions,
  permissionBody,
} from './operator.ts';
import { addConnectionOptions, type CommandOptions, connect, parseFutureTime } from './options.ts';
import { printDone, printList, printSecret, shortTime } from './output.ts';
import type { Shell } from './shell.ts';

interface CreateOptions extends CommandOptions, PermissionOptions {
  readonly name: string;
  readonly expires?: string;
}

/** `halyard token create|list|revoke` */
export function defineToken(token: Command, shell: Shell): void {
  addConnectionOptions(
    addPermissionOptions(
      token
        .command('create')
        .description(
          'Create an access token and print it on standard output (with --json the whole record). It is shown only once.',
        )
        .requiredOption('--name <name>', 'Name of the token, such as the person or pipeline that uses it')
        .option('--expires <when>', 'Expiry: 12h, 30d, 4w, or a date (default never)'),
      { role: 'default admin', protected: 'default; always on for admin' },
    ).addHelpText(
      'after',
      '\nExample:\n  halyard token create --name deploy-pipeline --role editor --expires 30d',
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
        item.any('damaged') === true ? 'damaged' : roleOf(item),
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
  const { name, expires } = options;
  const expiresAt = expires === undefined ? undefined : parseFutureTime(expires, shell.now(), '--expires');
  const body = JSON.stringify({ name, ...permissionBody(options), expiresAt });
  const answer = await connect(shell, options).request({ method: 'POST', path: apiPath`/tokens`, body });
  const { fields } = answer;
  printSecret(shell, options, answer, {
    member: 'token',
    sentence:
      `Token ${name} (${fields.text('id')}) has the role ${roleOf(fields)} and ${describeExpiry(expiresAt)}.\n` +
      'Save it now. You cannot see it again.',
  });
}

/** Servers older than roles have administrator tokens only. */
function roleOf(fields: Fields): string {
  return describePermission(fields.optionalText('role') ?? 'admin', fields.any('canChangeProtected'));
}
