import type { Command } from 'commander';
import { apiPath } from './api-client.ts';
import { addConnectionOptions, type CommandOptions, connect } from './connection-options.ts';
import { parseExpiry } from './expiry.ts';
import type { Fields } from './fields.ts';
import { printDone, printList, shortTime } from './output.ts';
import {
  addPermissionOptions,
  type PermissionOptions,
  permissionBody,
  permissionText,
} from './permission-options.ts';
import type { Shell } from './shell.ts';

interface CreateOptions extends CommandOptions, PermissionOptions {
  readonly name: string;
  readonly expires?: string;
}

/** `halyard token create|list|revoke` */
export function defineToken(program: Command, shell: Shell): void {
  const token = program
    .command('token')
    .description('Make, list and revoke access tokens, which people and pipelines manage flags with.');
  const create = token
    .command('create')
    .description(
      'Make an access token. Standard output gets the token and nothing else (with --json the whole record). It is never shown again.',
    )
    .requiredOption('--name <name>', 'what to call it: the person or pipeline that will use it')
    .option('--expires <when>', 'when it stops working: 12h, 30d, 4w, or a date; never by default');
  addPermissionOptions(create, {
    role: 'by default admin',
    protected: 'the default; administrators always may',
  }).addHelpText(
    'after',
    '\nExample:\n  halyard token create --name deploy-pipeline --role editor --expires 30d',
  );
  addConnectionOptions(create).action((options: CreateOptions) => createToken(shell, options));
  addConnectionOptions(
    token.command('list').description('List the access tokens, without the tokens themselves.'),
  ).action(async (options: CommandOptions) => {
    const answer = await connect(shell, options).request({ path: apiPath`/tokens` });
    printList(shell, options, answer, {
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
      empty: 'There is no access token besides the admin token. Make one: halyard token create --name <name>',
    });
  });
  addConnectionOptions(
    token
      .command('revoke <id>')
      .description('Revoke an access token, named by its id.')
      .addHelpText('after', '\nThe ids are in "halyard token list".'),
  ).action(async (id: string, options: CommandOptions) => {
    const answer = await connect(shell, options).request({ method: 'DELETE', path: apiPath`/tokens/${id}` });
    printDone(shell, options, `Token ${id} is revoked.`, answer.text);
  });
}

async function createToken(shell: Shell, options: CreateOptions): Promise<void> {
  const expiresAt = options.expires === undefined ? undefined : parseExpiry(options.expires, shell.now());
  const body = JSON.stringify({
    name: options.name,
    ...permissionBody(options),
    ...(expiresAt && { expiresAt }),
  });
  const answer = await connect(shell, options).request({ method: 'POST', path: apiPath`/tokens`, body });
  const { fields } = answer;
  const until = expiresAt === undefined ? 'It does not expire.' : `It expires at ${shortTime(expiresAt)}.`;
  shell.writeError(
    `Token ${options.name} (${fields.text('id')}) has the role ${roleOf(fields)}. ${until}\n` +
      'Keep it now: it is shown only this once.\n',
  );
  shell.write(options.json ? `${answer.text.trim()}\n` : `${fields.text('token')}\n`);
}

/** Servers from before there were roles have tokens of one kind only. */
function roleOf(fields: Fields): string {
  return permissionText(fields.optionalText('role') ?? 'admin', fields.any('canChangeProtected'));
}
