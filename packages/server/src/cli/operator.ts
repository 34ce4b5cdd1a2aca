import { type Command, Option } from 'commander';
import { GLOBAL_ROLES, ROLES } from '../domain/rights.ts';
import { type ApiAnswer, type ApiClient, apiPath } from './api-client.ts';
import { CliError, EXIT, usageError } from './cli-error.ts';
import type { Fields } from './fields.ts';
import { addConnectionOptions, type CommandOptions, connect, namesIn, requireYes } from './options.ts';
import { printAnswer, printDone, printList, printSecret, shortTime } from './output.ts';
import type { Shell } from './shell.ts';

/** Options that name the rights of an operator or access token. */
export interface RightsOptions {
  readonly role?: string;
  /** `--protected` and `--no-protected`; absent without either. */
  readonly protected?: boolean;
  /** Names of projects, separated by commas: the role is only given there. */
  readonly project?: string;
}

/** Adds `--role`, `--project`, `--protected` and `--no-protected`. `defaults` describes what holds without them. */
export function addRightsOptions(
  command: Command,
  {
    role,
    protected: isProtected,
    choices,
  }: Readonly<Record<'role' | 'protected', string>> & { readonly choices: readonly string[] },
): Command {
  return command
    .addOption(new Option('--role <role>', `Role (${role})`).choices([...choices]))
    .option('--project <projects>', 'Only in these projects, separated by commas (default all projects)')
    .option('--protected', `Allow changes in protected environments (${isProtected})`)
    .option('--no-protected', 'Deny changes in protected environments');
}

/** The members of a request body for something new. */
export function rightsBody({ role, project, protected: canChangeProtected }: RightsOptions): object {
  // JSON.stringify leaves out what is undefined.
  if (project === undefined) return { role, canChangeProtected };
  return {
    role: 'none',
    projects: namesIn(project).map((name) => ({ project: name, role, canChangeProtected })),
  };
}

/** Rights in a table: `editor`, `editor + protected`, `shop: admin`. Administrators can always change protected environments. */
export function describeRights(item: Fields): string {
  // Servers older than roles have administrator tokens only, and older ones have no roles in projects.
  const role = item.optionalText('role') ?? 'admin';
  const projects = item.any('projects') === undefined ? [] : item.list('projects');
  const roles = [
    ...(role === 'none' && projects.length > 0 ? [] : [describeRole(role, item)]),
    ...projects.map((each) => `${each.text('project')}: ${describeRole(each.text('role'), each)}`),
  ];
  const only = item.optionalText('only');
  return `${roles.join(', ')}${only === undefined ? '' : `, only ${only}`}`;
}

function describeRole(role: string, item: Fields): string {
  return role === 'editor' && item.any('canChangeProtected') === true ? 'editor + protected' : role;
}

/** `halyard operator list|invite|set-role|reset|remove` */
export function defineOperator(operator: Command, shell: Shell): void {
  operator.description('Invite, list, change and remove operators: the people who sign in to the dashboard.');
  addConnectionOptions(operator.command('list').description('List the operators.')).action(
    (options: CommandOptions) => listOperators(shell, options),
  );
  addConnectionOptions(
    addRightsOptions(
      operator
        .command('invite <email>')
        .description(
          'Invite an operator. Prints the one-time link to pass on, on standard output (with --json the whole record).',
        ),
      { role: 'default viewer', protected: 'always on for admin', choices: ROLES },
    ).addHelpText(
      'after',
      `
Examples:
  halyard operator invite ada@example.com --role editor --protected
  halyard operator invite bob@example.com --role admin --project shop`,
    ),
  ).action(async (email: string, options: CommandOptions & RightsOptions) => {
    const body = JSON.stringify({ ...rightsBody({ role: 'viewer', ...options }), email });
    const request = { method: 'POST', path: apiPath`/invitations`, body } as const;
    const answer = await connect(shell, options).request(request);
    printLink(shell, options, answer, `Invited ${email}.`);
  });
  addConnectionOptions(
    addRightsOptions(
      operator
        .command('set-role <email>')
        .description(
          'Change the role of an operator for all projects, which ends their sessions, or for some with --project.',
        ),
      { role: 'default unchanged', protected: 'default unchanged', choices: GLOBAL_ROLES },
    ).addHelpText(
      'after',
      `
"none" removes the role. In a project, the higher of the two roles counts.

Examples:
  halyard operator set-role ada@example.com --role editor --protected
  halyard operator set-role bob@example.com --role admin --project shop
  halyard operator set-role bob@example.com --role none --project web`,
    ),
  ).action((email: string, options: CommandOptions & RightsOptions) => setRole(shell, email, options));
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
    headings: ['EMAIL', 'NAME', 'ROLE', 'SIGN-IN', 'SINCE', 'LAST SEEN'],
    row: (item) => [
      item.text('email'),
      item.text('name'),
      describeRights(item),
      item.optionalText('signIn') ?? '-',
      shortTime(item.optionalText('createdAt')),
      shortTime(item.optionalText('lastSeenAt')),
    ],
    empty: 'No operators yet. Invite one with "halyard operator invite <email> --role admin".',
  });
}

async function setRole(shell: Shell, email: string, options: CommandOptions & RightsOptions): Promise<void> {
  const { role, project, protected: canChangeProtected } = options;
  if (role === undefined && canChangeProtected === undefined)
    throw usageError('Nothing to change. Add --role, --protected or --no-protected.');
  const client = connect(shell, options);
  const operator = await findOperator(client, email);
  const change =
    project === undefined
      ? { role, canChangeProtected }
      : { projects: projectRoles(operator, namesIn(project), { role, canChangeProtected }) };
  const path = apiPath`/operators/${operator.text('id')}`;
  const answer = await client.request({ method: 'PATCH', path, body: JSON.stringify(change) });
  printAnswer(shell, options, answer, (fields) => {
    const rights = describeRights(fields);
    return `${email} now has the role${rights.includes(',') ? 's' : ''} ${rights}.\n`;
  });
}

/** All roles of an operator in single projects, after a change to those in `names`. */
function projectRoles(
  operator: Fields,
  names: readonly string[],
  change: { readonly role: string | undefined; readonly canChangeProtected: boolean | undefined },
): readonly object[] {
  const known = operator.any('projects') === undefined ? [] : operator.list('projects');
  const roles = new Map(
    known.map((each) => [
      each.text('project'),
      { role: each.text('role'), canChangeProtected: each.boolean('canChangeProtected') },
    ]),
  );
  for (const name of names) {
    const before = roles.get(name);
    const role = change.role ?? before?.role;
    if (role === undefined) throw usageError(`The operator has no role in ${name}. Add --role.`);
    const canChangeProtected = change.canChangeProtected ?? before?.canChangeProtected ?? false;
    if (role === 'none') roles.delete(name);
    else roles.set(name, { role, canChangeProtected });
  }
  return [...roles].map(([project, each]) => ({ project, ...each }));
}

function printLink(shell: Shell, options: CommandOptions, answer: ApiAnswer, done: string): void {
  const until = shortTime(answer.fields.optionalText('expiresAt'));
  const sentence = `${done} The link works once, until ${until}. Save it now. You cannot see it again.`;
  printSecret(shell, options, answer, { member: 'link', sentence });
}

async function findOperator(client: ApiClient, email: string): Promise<Fields> {
  const { fields } = await client.request({ path: apiPath`/operators` });
  const found = fields.list('operators').find((one) => one.text('email') === email.trim().toLowerCase());
  if (found !== undefined) return found;
  throw new CliError(`Operator ${email} does not exist. Run "halyard operator list" to see all operators.`, {
    exitCode: EXIT.notFound,
  });
}

async function idOf(client: ApiClient, email: string): Promise<string> {
  return (await findOperator(client, email)).text('id');
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
          describeRights(item),
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
