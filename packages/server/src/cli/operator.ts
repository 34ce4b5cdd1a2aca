import { GLOBAL_ROLES, ROLES } from '@halyard/protocol';
import { type ApiClient, apiPath } from './api-client.ts';
import { CliError, EXIT, usageError } from './cli-error.ts';
import { type CliCommand, command, connect, requireYes } from './command.ts';
import type { Fields } from './fields.ts';
import { describeHoldings } from './holdings.ts';
import { type CONNECTION, namesIn, toggle, type ValuesOf } from './options.ts';
import { printAnswer, printDone, printSecret, shortTime } from './output.ts';
import { describeRights, type NamedRights, rightsBody, rightsOptions } from './rights.ts';
import type { Shell } from './shell.ts';

/** `halyard operator list|invite|set-role|reset|show|remove` */
export const operatorCommands: readonly CliCommand[] = [
  command({
    usage: 'list',
    about: 'List the operators.',
    request: () => ({ path: apiPath`/operators` }),
    list: {
      isPaged: true,
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
      empty: () => 'No operators yet. Invite one with "halyard operator invite <email> --role admin".',
    },
  }),
  command({
    usage: 'invite <email>',
    about:
      'Invite an operator. Prints the one-time link to pass on, on standard output (with --json the whole record).',
    options: rightsOptions(ROLES, { role: 'default viewer', protected: 'always on for admin' }),
    examples: [
      'halyard operator invite ada@example.com --role editor --protected',
      'halyard operator invite bob@example.com --role admin --project shop',
    ],
    request: ({ email, ...options }) => ({
      method: 'POST',
      path: apiPath`/invitations`,
      body: { ...rightsBody({ role: 'viewer', ...options }), email },
    }),
    secret: { member: 'link', sentence: (fields, { email }) => linkSentence(`Invited ${email}.`, fields) },
  }),
  command({
    usage: 'set-role <email>',
    about:
      'Change the role of an operator for all projects, which ends their sessions, or for some with --project.',
    options: rightsOptions(GLOBAL_ROLES, { role: 'default unchanged', protected: 'default unchanged' }),
    help: '"none" removes the role. In a project, the higher of the two roles counts.',
    examples: [
      'halyard operator set-role ada@example.com --role editor --protected',
      'halyard operator set-role bob@example.com --role admin --project shop',
      'halyard operator set-role bob@example.com --role none --project web',
    ],
    run: setRole,
  }),
  command({
    usage: 'reset <email>',
    about:
      'Create a link to set a new password. Prints it on standard output (with --json the whole record).',
    run: async ({ email, ...options }, shell) => {
      const client = connect(shell, options);
      const answer = await client.request({ method: 'POST', path: `${await pathTo(client, email)}/reset` });
      const done = `Created a link for ${email}. The old password works until it is used.`;
      printSecret(shell, options, answer, { member: 'link', sentence: linkSentence(done, answer.fields) });
    },
  }),
  command({
    usage: 'show <email>',
    about: 'Show what belongs to a person: what would end if you removed them, and what would stay.',
    run: async ({ email, ...options }, shell) => {
      const client = connect(shell, options);
      const answer = await client.request({ path: `${await pathTo(client, email)}/holdings` });
      printAnswer(shell, options, answer, describeHoldings);
    },
  }),
  command({
    usage: 'remove <email>',
    about:
      'Remove an operator. First shows what ends, such as sessions, own tokens and schedules, and what stays.',
    options: { yes: toggle('Confirm') },
    run: async ({ email, yes, ...options }, shell) => {
      const client = connect(shell, options);
      const path = await pathTo(client, email);
      const { fields } = await client.request({ path: `${path}/holdings` });
      shell.writeError(describeHoldings(fields));
      requireYes(yes, `This signs ${email} out everywhere and ends what is listed above.`);
      const { text } = await client.request({ method: 'DELETE', path });
      printDone(shell, options, `Removed ${email}.`, text);
    },
  }),
];

/** `halyard invitation list|revoke` */
export const invitationCommands: readonly CliCommand[] = [
  command({
    usage: 'list',
    about: 'List the open links, newest first.',
    request: () => ({ path: apiPath`/invitations` }),
    list: {
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
      empty: () => 'No open links. Invite an operator with "halyard operator invite <email>".',
    },
  }),
  command({
    usage: 'revoke <id>',
    about: 'Revoke a link.',
    help: 'Run "halyard invitation list" to see the ids.',
    request: ({ id }) => ({ method: 'DELETE', path: apiPath`/invitations/${id}` }),
    done: ({ id }) => `Revoked link ${id}.`,
  }),
];

async function setRole(
  { email, ...options }: ValuesOf<typeof CONNECTION> & NamedRights & { readonly email: string },
  shell: Shell,
): Promise<void> {
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
  const answer = await client.request({ method: 'PATCH', path, body: change });
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

function linkSentence(done: string, fields: Fields): string {
  const until = shortTime(fields.optionalText('expiresAt'));
  return `${done} The link works once, until ${until}. Save it now. You cannot see it again.`;
}

async function pathTo(client: ApiClient, email: string): Promise<string> {
  return apiPath`/operators/${(await findOperator(client, email)).text('id')}`;
}

async function findOperator(client: ApiClient, email: string): Promise<Fields> {
  const { fields } = await client.request({ path: apiPath`/operators` });
  const found = fields.list('operators').find((one) => one.text('email') === email.trim().toLowerCase());
  if (found !== undefined) return found;
  throw new CliError(`Operator ${email} does not exist. Run "halyard operator list" to see all operators.`, {
    exitCode: EXIT.notFound,
  });
}
