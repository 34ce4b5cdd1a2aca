import { type Command, Option } from 'commander';
import { ROLES } from '../domain/people.ts';
import { type ApiAnswer, type ApiClient, apiPath } from './api-client.ts';
import { CliError, EXIT, usageError } from './cli-error.ts';
import { addConnectionOptions, type CommandOptions, connect, requireYes } from './options.ts';
import { printAnswer, printDone, printList, printSecret, shortTime } from './output.ts';
import type { Shell } from './shell.ts';

/** Options that name the permissions of an operator or access token. */
export interface PermissionOptions {
  readonly role?: string;
  /** `--protected` and `--no-protected`; absent without either. */
  readonly protected?: boolean;
}

/** Adds `--role`, `--protected` and `--no-protected`. `defaults` describes what holds without them. */
export function addPermissionOptions(
  command: Command,
  defaults: { readonly role: string; readonly protected: string },
): Command {
  return command
    .addOption(
      new Option('--role <role>', `Role: viewer, editor or admin (${defaults.role})`).choices([...ROLES]),
    )
    .option('--protected', `Allow changes in protected environments (${defaults.protected})`)
    .option('--no-protected', 'Deny changes in protected environments');
}

/** The members of a request body that the options stand for. */
export function permissionBody(options: PermissionOptions): object {
  // JSON.stringify leaves out what is undefined.
  return { role: options.role, canChangeProtected: options.protected };
}

/** Permissions in a table: `editor`, `editor + protected`. Administrators can always change protected environments. */
export function describePermission(role: string, canChangeProtected: unknown): string {
  return role === 'editor' && canChangeProtected === true ? 'editor + protected' : role;
}

/** `halyard operator list|invite|set-role|reset|remove` */
export function defineOperator(operator: Command, shell: Shell): void {
  operator.description('Invite, list, change and remove operators: the people who sign in to the dashboard.');
  addConnectionOptions(operator.command('list').description('List the operators.')).action(
    (options: CommandOptions) => listOperators(shell, options),
  );
  addConnectionOptions(
    addPermissionOptions(
      operator
        .command('invite <email>')
        .description(
          'Invite an operator. Prints the one-time link to pass on, on standard output (with --json the whole record).',
        ),
      { role: 'default viewer', protected: 'always on for admin' },
    ).addHelpText('after', '\nExample:\n  halyard operator invite ada@example.com --role editor --protected'),
  ).action(async (email: string, options: CommandOptions & PermissionOptions) => {
    const body = JSON.stringify({ ...permissionBody(options), role: options.role ?? 'viewer', email });
    const request = { method: 'POST', path: apiPath`/invitations`, body } as const;
    const answer = await connect(shell, options).request(request);
    printLink(shell, options, answer, `Invited ${email}.`);
  });
  addConnectionOptions(
    addPermissionOptions(
      operator
        .command('set-role <email>')
        .description('Change the permissions of an operator. Their sessions end and they sign in again.'),
      { role: 'default unchanged', protected: 'default unchanged' },
    ).addHelpText(
      'after',
      '\nExample:\n  halyard operator set-role ada@example.com --role editor --protected',
    ),
  ).action((email: string, options: CommandOptions & PermissionOptions) => setRole(shell, email, options));
  addConnectionOptions(
    operator
      .command('reset <email>')
      .description(
        'Create a link to set a new password. Prints it on standard output (with --json the whole record).',
      ),
  ).action(async (email: string, options: CommandOptions) => {
    const client = connect(shell, options);
    const path = apiPath`/operators/${await idOf(client, email)}/reset`;
    const answer = await client.request({ method: 'POST', path });
    printLink(
      shell,
      options,
      answer,
      `Created a link for ${email}. The old password works until it is used.`,
    );
  });
  addConnectionOptions(
    operator
      .command('remove <email>')
      .description('Remove an operator. Ends their sessions and open links; access tokens they created stay.')
      .option('--yes', 'Confirm'),
  ).action(async (email: string, options: CommandOptions & { readonly yes?: boolean }) => {
    requireYes(options, `This signs ${email} out everywhere and ends their access to the dashboard.`);
    const client = connect(shell, options);
    const path = apiPath`/operators/${await idOf(client, email)}`;
    const { text } = await client.request({ method: 'DELETE', path });
    printDone(shell, options, `Removed ${email}.`, text);
  });
}

async function listOperators(shell: Shell, options: CommandOptions): Promise<void> {
  await printList(shell, options, connect(shell, options).pages({ path: apiPath`/operators` }), {
    member: 'operators',
    headings: ['EMAIL', 'NAME', 'ROLE', 'SINCE', 'LAST SEEN'],
    row: (item) => [
      item.text('email'),
      item.text('name'),
      describePermission(item.text('role'), item.any('canChangeProtected')),
      shortTime(item.optionalText('createdAt')),
      shortTime(item.optionalText('lastSeenAt')),
    ],
    empty: 'No operators yet. Invite one with "halyard operator invite <email> --role admin".',
  });
}

async function setRole(
  shell: Shell,
  email: string,
  options: CommandOptions & PermissionOptions,
): Promise<void> {
  const body = JSON.stringify(permissionBody(options));
  if (body === '{}') throw usageError('Nothing to change. Add --role, --protected or --no-protected.');
  const client = connect(shell, options);
  const path = apiPath`/operators/${await idOf(client, email)}`;
  const answer = await client.request({ method: 'PATCH', path, body });
  printAnswer(shell, options, answer, (fields) => {
    const role = describePermission(fields.text('role'), fields.any('canChangeProtected'));
    return `${email} now has the role ${role}.\n`;
  });
}

function printLink(shell: Shell, options: CommandOptions, answer: ApiAnswer, done: string): void {
  const until = shortTime(answer.fields.optionalText('expiresAt'));
  const sentence = `${done} The link works once, until ${until}. Save it now. You cannot see it again.`;
  printSecret(shell, options, answer, { member: 'link', sentence });
}

async function idOf(client: ApiClient, email: string): Promise<string> {
  const { fields } = await client.request({ path: apiPath`/operators` });
  const found = fields.list('operators').find((one) => one.text('email') === email.trim().toLowerCase());
  if (found !== undefined) return found.text('id');
  throw new CliError(`Operator ${email} does not exist. Run "halyard operator list" to see all operators.`, {
    exitCode: EXIT.notFound,
  });
}

/** `halyard invitation list|revoke` */
export function defineInvitation(invitation: Command, shell: Shell): void {
  invitation.description('List and revoke open one-time links: invitations and links to set a password.');
  addConnectionOptions(invitation.command('list').description('List the open links, newest first.')).action(
    async (options: CommandOptions) => {
      const answer = await connect(shell, options).request({ path: apiPath`/invitations` });
      await printList(shell, options, [answer], {
        member: 'invitations',
        headings: ['ID', 'KIND', 'EMAIL', 'ROLE', 'BY', 'EXPIRES'],
        row: (item) => [
          item.text('id'),
          item.text('kind'),
          item.optionalText('email') ?? '-',
          describePermission(item.optionalText('role') ?? '-', item.any('canChangeProtected')),
          item.optionalText('createdBy') ?? '-',
          shortTime(item.optionalText('expiresAt')),
        ],
        empty: 'No open links. Invite an operator with "halyard operator invite <email>".',
      });
    },
  );
  addConnectionOptions(
    invitation
      .command('revoke <id>')
      .description('Revoke a link.')
      .addHelpText('after', '\nRun "halyard invitation list" to see the ids.'),
  ).action(async (id: string, options: CommandOptions) => {
    const { text } = await connect(shell, options).request({
      method: 'DELETE',
      path: apiPath`/invitations/${id}`,
    });
    printDone(shell, options, `Revoked link ${id}.`, text);
  });
}
