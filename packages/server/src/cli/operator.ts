import type { Command } from 'commander';
import { type ApiAnswer, type ApiClient, apiPath } from './api-client.ts';
import { CliError, EXIT } from './cli-error.ts';
import { requireYes } from './confirmation.ts';
import { addConnectionOptions, type CommandOptions, connect } from './connection-options.ts';
import { printAnswer, printDone, printList, shortTime } from './output.ts';
import {
  addPermissionOptions,
  type PermissionOptions,
  permissionBody,
  permissionText,
} from './permission-options.ts';
import type { Shell } from './shell.ts';

/** `halyard operator list|invite|set-role|reset|remove` */
export function defineOperator(program: Command, shell: Shell): void {
  const operator = program
    .command('operator')
    .description('Invite, list, change and remove operators: the people who sign in to the dashboard.');
  addConnectionOptions(operator.command('list').description('List the people who may sign in.')).action(
    async (options: CommandOptions) => {
      const answer = await connect(shell, options).request({ path: apiPath`/operators` });
      printList(shell, options, answer, {
        member: 'operators',
        headings: ['E-MAIL', 'NAME', 'ROLE', 'SINCE', 'LAST SEEN'],
        row: (item) => [
          item.text('email'),
          item.text('name'),
          permissionText(item.text('role'), item.any('canChangeProtected')),
          shortTime(item.optionalText('createdAt')),
          shortTime(item.optionalText('lastSeenAt')),
        ],
        empty: 'Nobody can sign in yet. Invite somebody: halyard operator invite <e-mail> --role admin',
      });
    },
  );
  defineLinks(operator, shell);
  defineSetRole(operator, shell);
  addConnectionOptions(
    operator
      .command('remove <e-mail>')
      .description('Remove an operator. Their sessions and open links end; access tokens they made stay.')
      .option('--yes', 'yes, remove them'),
  ).action(async (email: string, options: CommandOptions & { readonly yes?: boolean }) => {
    requireYes(options, `Removing ${email} signs them out everywhere, and they cannot sign in again.`);
    const client = connect(shell, options);
    const path = apiPath`/operators/${await idOf(client, email)}`;
    const { text } = await client.request({ method: 'DELETE', path });
    printDone(shell, options, `${email} was removed.`, text);
  });
}

function defineLinks(operator: Command, shell: Shell): void {
  const invite = operator
    .command('invite <e-mail>')
    .description(
      'Invite somebody. Standard output gets the one-time link and nothing else (with --json the whole record): hand it over.',
    );
  addPermissionOptions(invite, {
    role: 'by default viewer',
    protected: 'administrators always may',
  }).addHelpText('after', '\nExample:\n  halyard operator invite ada@example.com --role editor --protected');
  addConnectionOptions(invite).action(async (email: string, options: CommandOptions & PermissionOptions) => {
    const body = JSON.stringify({ role: 'viewer', ...permissionBody(options), email });
    const request = { method: 'POST', path: apiPath`/invitations`, body } as const;
    const answer = await connect(shell, options).request(request);
    printLink(shell, options, answer, `${email} is invited.`);
  });
  addConnectionOptions(
    operator
      .command('reset <e-mail>')
      .description(
        'Make a link for a new password. Standard output gets the link and nothing else (with --json the whole record).',
      ),
  ).action(async (email: string, options: CommandOptions) => {
    const client = connect(shell, options);
    const path = apiPath`/operators/${await idOf(client, email)}/reset`;
    const answer = await client.request({ method: 'POST', path });
    printLink(shell, options, answer, `${email} may choose a new password; the old one works until then.`);
  });
}

function defineSetRole(operator: Command, shell: Shell): void {
  const setRole = operator
    .command('set-role <e-mail>')
    .description('Change what an operator may do. Their sessions end; they sign in again.');
  const asBefore = 'by default as before';
  addPermissionOptions(setRole, { role: asBefore, protected: asBefore }).addHelpText(
    'after',
    '\nExample:\n  halyard operator set-role ada@example.com --role editor --protected',
  );
  addConnectionOptions(setRole).action(async (email: string, options: CommandOptions & PermissionOptions) => {
    const body = JSON.stringify(permissionBody(options));
    if (body === '{}') {
      throw new CliError('Nothing to change was given: add --role, --protected or --no-protected.', {
        exitCode: EXIT.usage,
      });
    }
    const client = connect(shell, options);
    const path = apiPath`/operators/${await idOf(client, email)}`;
    const answer = await client.request({ method: 'PATCH', path, body });
    printAnswer(shell, options, answer, (fields) => {
      const role = permissionText(fields.text('role'), fields.any('canChangeProtected'));
      return `${email} now has the role ${role}.\n`;
    });
  });
}

function printLink(shell: Shell, options: CommandOptions, answer: ApiAnswer, sentence: string): void {
  const until = shortTime(answer.fields.optionalText('expiresAt'));
  shell.writeError(`${sentence} The link works once, until ${until}, and is shown only this once.\n`);
  shell.write(options.json ? `${answer.text.trim()}\n` : `${answer.fields.text('link')}\n`);
}

async function idOf(client: ApiClient, email: string): Promise<string> {
  const { fields } = await client.request({ path: apiPath`/operators` });
  const found = fields.list('operators').find((one) => one.text('email') === email.trim().toLowerCase());
  if (found !== undefined) return found.text('id');
  throw new CliError(`There is no operator ${email}: see "halyard operator list".`, {
    exitCode: EXIT.notFound,
  });
}
